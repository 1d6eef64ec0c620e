// The controls of a value: a slider and a field for a number, a list for a label.
const Controls = (() => {
  'use strict';

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === 'class') made.className = value;
      else if (value === true) made.setAttribute(key, '');
      else if (value !== undefined && value !== false) made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  };

  // A number with three or four significant digits, as people read it.
  function shown(value) {
    if (!Number.isFinite(value)) return String(value);
    if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value).replace('-', '−');
    const size = Math.abs(value);
    const text = size < 1e-4 || size >= 1e9 ? value.toExponential(2) : String(Number(value.toPrecision(3)));
    return text.replace('-', '−');
  }

  // A value of a slot in words.
  function valueWords(slot, value) {
    if (value === null || value === undefined) return '–';
    if (slot.kind === 'categorical') return slot.labels[value] ?? String(value);
    if (slot.kind === 'boolean') return value ? 'yes' : 'no';
    return shown(value) + (slot.unit ? ` ${slot.unit}` : '');
  }

  // As a question writes it.
  function valueText(slot, value) {
    if (slot.kind === 'categorical') return slot.labels[value];
    if (slot.kind === 'boolean') return value ? 'true' : 'false';
    return String(value);
  }

  function valueNumber(slot, text) {
    if (slot.kind === 'categorical') return slot.labels.indexOf(text);
    if (slot.kind === 'boolean') return text === 'true' || text === '1' ? 1 : 0;
    return Number(text);
  }

  const isOutside = (slot, value) => slot.role === 'state' && (value < slot.minimum || value > slot.maximum);

  // How many rows were made: every one has an id of its own.
  let rows = 0;

  // A row for a slot. `recorded` is the value that was; `changed` the text of another one, if any; `told` hears of a
  // new text, or of undefined for the recorded value.
  function row(slot, recorded, changed, told) {
    rows += 1;
    const id = `control-${rows}`;
    const now = changed === undefined ? recorded : valueNumber(slot, changed);
    const state = element('span', { class: 'was' });
    const back = element('button', { type: 'button', class: 'back', title: 'As it was', 'aria-label': `${slot.title} as it was` }, '×');
    const made = element('div', { class: 'control' });
    const mark = (value, isChanged) => {
      const outside = isOutside(slot, value);
      made.classList.toggle('changed', isChanged);
      made.classList.toggle('outside', outside);
      back.hidden = !isChanged;
      state.textContent = (isChanged ? `was ${valueWords(slot, recorded)}` : 'as it was') + (outside ? ' · outside the data' : '');
    };
    const label = element('label', { for: id }, slot.title, slot.unit ? element('small', {}, ` ${slot.unit}`) : '');
    const fields = element('div', { class: 'fields' });
    let set;
    if (slot.kind === 'categorical' || slot.kind === 'boolean') {
      const choices = slot.kind === 'boolean' ? ['false', 'true'] : slot.labels;
      const list = element('select', { id }, ...choices.map((text) => element('option', { value: text }, slot.kind === 'boolean' ? (text === 'true' ? 'yes' : 'no') : text)));
      set = (value) => { list.value = valueText(slot, value); };
      list.addEventListener('change', () => change(valueNumber(slot, list.value)));
      fields.append(list);
    } else {
      const low = slot.role === 'action' ? slot.low ?? slot.minimum : slot.minimum;
      const high = slot.role === 'action' ? slot.high ?? slot.maximum : slot.maximum;
      const step = slot.kind === 'integer' ? 1 : Number(((high - low) / 200 || 0.01).toPrecision(1));
      const slider = element('input', { type: 'range', min: low, max: high, step: slot.kind === 'integer' ? 1 : 'any', 'aria-label': `${slot.title}, slider` });
      const field = element('input', { id, type: 'number', step: slot.kind === 'integer' ? 1 : 'any', min: slot.low ?? undefined, max: slot.high ?? undefined, inputmode: 'decimal' });
      set = (value) => {
        slider.value = value;
        field.value = Number(value.toPrecision(4));
      };
      const stepped = (value) => (slot.kind === 'integer' ? Math.round(value) : Number((Math.round(value / step) * step).toPrecision(8)));
      slider.addEventListener('input', () => {
        const value = Math.min(Math.max(stepped(Number(slider.value)), low), high);
        field.value = value;
        change(value, true);
      });
      field.addEventListener('change', () => {
        if (field.value === '' || !Number.isFinite(Number(field.value))) set(recorded);
        const value = field.value === '' ? recorded : Number(field.value);
        slider.value = value;
        change(slot.kind === 'integer' ? Math.round(value) : value);
      });
      fields.append(slider, field);
    }
    function change(value) {
      const isChanged = value !== recorded;
      mark(value, isChanged);
      told(isChanged ? valueText(slot, value) : undefined);
    }
    back.addEventListener('click', () => {
      set(recorded);
      change(recorded);
    });
    made.append(element('div', { class: 'control-head' }, label, state, back), fields);
    set(now);
    mark(now, changed !== undefined && now !== recorded);
    return made;
  }

  return { element, isOutside, row, shown, valueNumber, valueText, valueWords };
})();
