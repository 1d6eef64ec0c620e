// Courses beside each other: a small chart for every variable, and the environment's drawings.
const Worlds = (() => {
  'use strict';
  const { element, shown, valueWords } = Controls;
  const SIZE = { width: 300, height: 96, left: 6, right: 6, top: 8, bottom: 8 };

  const svg = (name, attributes = {}, ...children) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  // The lines of a slot: its values in every course that there is.
  function lines(slot, courses, real) {
    const of = (course) => (slot.name === null ? course?.reward : course?.columns[slot.name]) ?? [];
    return [
      { name: 'factual', values: of(courses.factual), band: courses.factual_band?.[slot.name] },
      { name: 'other', values: of(courses.other), band: courses.other_band?.[slot.name] },
      { name: 'real', values: of(real) },
    ].filter((line) => line.values.length > 0);
  }

  const isLabel = (slot) => slot.kind === 'categorical' || slot.kind === 'boolean';

  // Whether two courses are the same, up to what cannot be seen.
  function differs(slot, courses, real) {
    const [first, ...others] = lines(slot, courses, real);
    const least = isLabel(slot) ? 0 : 0.01 * (slot.deviation ?? 0) + 1e-9;
    return others.some((line) => line.values.some((value, at) => Math.abs(value - first.values[at]) > least)
      || line.values.length !== first.values.length);
  }

  // A value that belongs to a whole step holds until the next one.
  function path(values, x, y, isStepped) {
    let text = '';
    values.forEach((value, at) => {
      if (value === null) return;
      const [across, down] = [x(at).toFixed(1), y(value).toFixed(1)];
      if (!text) text = `M${across} ${down}`;
      else text += isStepped ? `H${across}V${down}` : `L${across} ${down}`;
    });
    return isStepped && text ? `${text}H${x(values.length).toFixed(1)}` : text;
  }

  function chart(slot, courses, real, time) {
    const all = lines(slot, courses, real);
    const length = Math.max(2, courses.factual.steps + 1, (courses.other?.steps ?? 0) + 1, (real?.steps ?? 0) + 1);
    const numbers = all.flatMap((line) => [...line.values, ...(line.band?.low ?? []), ...(line.band?.high ?? [])]).filter(Number.isFinite);
    let [low, high] = isLabel(slot)
      ? [0, Math.max(1, (slot.labels?.length || 2) - 1)]
      : [Math.min(...numbers), Math.max(...numbers)];
    if (high - low < 1e-12) [low, high] = [low - 0.5, high + 0.5];
    const x = (at) => SIZE.left + (at / (length - 1)) * (SIZE.width - SIZE.left - SIZE.right);
    const y = (value) => SIZE.height - SIZE.bottom - ((value - low) / (high - low)) * (SIZE.height - SIZE.top - SIZE.bottom);
    const isStepped = slot.role !== 'state';
    const words = all.map((line) => `${line.name === 'factual' ? 'recorded' : line.name}: ${valueWords(slot, line.values.at(-1))}`).join(', ');
    const drawing = svg('svg', { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, role: 'img', 'aria-label': `${slot.title} at the end: ${words}`, preserveAspectRatio: 'none' });
    if (low < 0 && high > 0) drawing.append(svg('path', { class: 'zero', d: `M${SIZE.left} ${y(0)}H${SIZE.width - SIZE.right}` }));
    const recorded = courses.factual.recorded;
    if (recorded < courses.factual.steps) {
      drawing.append(svg('rect', { class: 'predicted', x: x(recorded), y: 0, width: Math.max(0, SIZE.width - SIZE.right - x(recorded)), height: SIZE.height }));
    }
    for (const line of all.filter(({ band }) => band)) {
      const { low: bottom, high: top } = line.band;
      const there = path(top, x, y, false);
      const back = bottom.map((value, at) => `L${x(at).toFixed(1)} ${y(value).toFixed(1)}`).reverse().join('');
      if (there) drawing.append(svg('path', { class: `band ${line.name}`, d: `${there}${back}Z` }));
    }
    for (const line of all) drawing.append(svg('path', { class: `line ${line.name}`, d: path(line.values, x, y, isStepped) }));
    const cursor = svg('path', { class: 'cursor', d: `M${x(time)} 0V${SIZE.height}` });
    drawing.append(cursor);
    const values = element('p', { class: 'values' });
    const tell = (now) => {
      cursor.setAttribute('d', `M${x(now)} 0V${SIZE.height}`);
      values.replaceChildren(...all.map((line) => element('span', { class: `key ${line.name}` }, valueWords({ ...slot, unit: null }, line.values[Math.min(now, line.values.length - 1)]))));
    };
    tell(time);
    const made = element('div', { class: 'chart' },
      element('div', { class: 'chart-head' }, element('h4', {}, slot.title), values),
      drawing,
      element('p', { class: 'range' }, isLabel(slot) ? '' : `${shown(low)} to ${shown(high)}${slot.unit ? ` ${slot.unit}` : ''}`));
    made.tell = tell;
    return made;
  }

  // Charts of all slots: those that differ first, the others folded.
  function charts(place, slots, courses, real, time, isOpen) {
    const all = [...slots, { name: null, title: 'reward of the step', role: 'reward', kind: 'continuous', deviation: 0 }];
    const there = all.filter((slot) => lines(slot, courses, real).length > 0);
    const alone = !courses.other;
    const first = alone ? there.slice(0, 12) : there.filter((slot) => differs(slot, courses, real));
    const rest = there.filter((slot) => !first.includes(slot));
    const draw = (list) => element('div', { class: 'small-charts' }, ...list.map((slot) => chart(slot, courses, real, time)));
    const parts = [];
    if (first.length > 24) {
      parts.push(draw(first.slice(0, 24)), element('details', {}, element('summary', {}, `${first.length - 24} more that differ`), draw(first.slice(24))));
    } else if (first.length > 0) parts.push(draw(first));
    if (!alone && first.length === 0) parts.push(element('p', {}, 'Nothing differs between the two courses.'));
    if (rest.length > 0) {
      const words = alone ? `${rest.length} more` : `${rest.length} that ${rest.length === 1 ? 'does' : 'do'} not differ`;
      const folded = element('details', { class: 'same' }, element('summary', {}, words));
      const fill = () => {
        if (folded.open && folded.children.length === 1) folded.append(draw(rest));
      };
      folded.addEventListener('toggle', fill);
      if (isOpen) {
        folded.open = true;
        fill();
      }
      parts.push(folded);
    }
    place.replaceChildren(...parts);
  }

  const tell = (place, time) => {
    for (const made of place.querySelectorAll('.chart')) made.tell?.(time);
  };

  return { charts, svg, tell };
})();
