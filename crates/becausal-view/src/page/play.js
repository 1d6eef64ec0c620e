// A new episode, by hand or by the policy.
const Play = (() => {
  'use strict';
  const { byId } = Page;
  const { element, shown } = Controls;
  // Which arrow an action goes with, by its name.
  const ARROWS = [
    ['ArrowLeft', '←', /left/i], ['ArrowRight', '→', /right/i],
    ['ArrowUp', '↑', /^(main|up|forward|north)/i], ['ArrowDown', '↓', /^(none|noop|off|stay|down|suck|south)/i],
  ];
  let about;
  let hand;
  let tell;
  let keys = new Map();
  let sliders = new Map();
  let last;
  let accepted;

  function actions() {
    const place = byId('play-actions');
    const slots = about.variables.filter(({ role }) => role === 'action');
    const isOne = slots.length === 1 && ['categorical', 'boolean'].includes(slots[0].kind);
    keys = new Map();
    sliders = new Map();
    if (isOne) {
      const labels = slots[0].kind === 'boolean' ? ['false', 'true'] : slots[0].labels;
      place.replaceChildren(...labels.map((label, at) => {
        const arrow = ARROWS.find(([key, , pattern]) => pattern.test(label) && !keys.has(key));
        if (arrow) keys.set(arrow[0], label);
        if (at < 9) keys.set(String(at + 1), label);
        const hint = [at < 9 ? String(at + 1) : '', arrow?.[1] ?? ''].filter(Boolean);
        return element('button', { type: 'button', 'data-do': label }, label, ...hint.map((key) => element('kbd', { 'aria-hidden': 'true' }, key)));
      }));
    } else {
      const rows = slots.map((slot) => {
        const middle = slot.kind === 'categorical' || slot.kind === 'boolean' ? 0 : Math.min(Math.max(0, slot.low ?? slot.minimum), slot.high ?? slot.maximum);
        sliders.set(slot.name, Controls.valueText(slot, middle));
        return Controls.row(slot, middle, undefined, (text) => sliders.set(slot.name, text ?? Controls.valueText(slot, middle)));
      });
      place.replaceChildren(...rows, element('button', { type: 'button', 'data-do': '' }, 'Take this action ', element('kbd', { 'aria-hidden': 'true' }, 'Enter')));
      keys.set('Enter', '');
    }
    if (about.has_policy) {
      place.append(element('button', { type: 'button', id: 'play-suggested' }, 'As the policy would', element('kbd', { 'aria-hidden': 'true' }, 'P')));
    }
  }

  const chosen = (label) => label || [...sliders].map(([name, value]) => (sliders.size > 1 ? `${name}=${value}` : value)).join(',');

  // One request at a time; keys that come faster are added to the next one.
  const ask = Server.newest('page/play', (value, body) => {
    last = value;
    accepted = { seed: body.seed, actions: body.actions.slice(0, value.steps) };
    // An episode that ended takes no further actions.
    if (value.over && hand.seed === body.seed) hand.actions = hand.actions.slice(0, value.steps);
    show(value);
  }, (error, body) => {
    // Back to what was last accepted.
    if (hand.seed === body.seed) hand.actions = accepted?.seed === hand.seed ? [...accepted.actions] : [];
    tell.trouble(error);
  });

  function show(value) {
    const scene = byId('play-scene');
    scene.hidden = !value.scene;
    scene.innerHTML = value.scene ?? '';
    scene.setAttribute('role', 'img');
    scene.setAttribute('aria-label', `The environment after ${value.steps} steps`);
    const rows = Object.entries(value.values).map(([name, text]) => {
      const number = Number(text);
      return element('li', {}, `${name} ${text !== '' && Number.isFinite(number) ? shown(number) : text}`);
    });
    byId('play-values').replaceChildren(element('ul', { class: 'chips', 'aria-label': 'The state' }, ...rows));
    const steps = `${value.steps} ${value.steps === 1 ? 'step' : 'steps'}`;
    const paid = value.reward === null ? '' : `, last reward ${shown(value.reward)}, in all ${shown(value.total)}`;
    const would = value.suggestion ? ` The policy would choose ${value.suggestion}.` : '';
    byId('play-state').textContent = `${steps}${paid}.${value.over ? ' The episode is over.' : would}`;
    for (const button of byId('play-actions').querySelectorAll('button')) button.disabled = value.over;
    byId('play-undo').disabled = value.steps === 0;
    byId('play-ask').disabled = value.steps === 0;
    tell.played(hand);
  }

  function step(label) {
    if (!hand || last?.over) return;
    hand.actions.push(label);
    ask({ seed: hand.seed, actions: [...hand.actions] });
  }

  function begin(seed, done = []) {
    hand = { seed, actions: [...done] };
    last = undefined;
    byId('play-seed').value = seed;
    ask({ seed, actions: [...hand.actions] });
  }

  const seed = () => Math.max(0, Math.floor(Number(byId('play-seed').value)) || 0);

  function start(run, heard) {
    about = run;
    tell = heard;
    if (!about.has_environment) {
      byId('play-hint').textContent = 'There is no environment behind this run: it was learned from a log. Nobody can play a new episode; ask about the recorded ones.';
      for (const part of byId('play').querySelectorAll('.where, .desk')) part.hidden = true;
      return;
    }
    byId('play-hint').textContent = 'Step by step with the buttons or the keys; then ask about any step. The same seed begins the same episode.';
    byId('play-policy').hidden = !about.has_policy;
    actions();
    byId('play-new').addEventListener('click', () => begin(seed()));
    byId('play-policy').addEventListener('click', () => tell.go({ seed: seed() }, 0));
    byId('play-undo').addEventListener('click', () => {
      hand.actions.pop();
      last = undefined;
      ask({ seed: hand.seed, actions: [...hand.actions] });
    });
    byId('play-ask').addEventListener('click', () => tell.go({ seed: hand.seed, actions: [...hand.actions] }, hand.actions.length - 1));
    byId('play-actions').addEventListener('click', (event) => {
      const button = event.target.closest('button');
      if (button?.dataset.do !== undefined) step(chosen(button.dataset.do));
      else if (button?.id === 'play-suggested' && last?.suggestion) step(last.suggestion);
    });
    document.addEventListener('keydown', (event) => {
      if (byId('play').hidden || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.target.closest('input, select, textarea, a, summary')) return;
      if (event.key === 'Enter' && event.target.closest('button')) return;
      if (event.key.toLowerCase() === 'p' && last?.suggestion) step(last.suggestion);
      else if (keys.has(event.key)) step(chosen(keys.get(event.key)));
      else return;
      event.preventDefault();
    });
  }

  // The view is shown: an episode begins where none has.
  function enter(given) {
    if (!about?.has_environment) return;
    if (given?.seed !== undefined && JSON.stringify(given) !== JSON.stringify(hand)) begin(given.seed, given.actions);
    else if (!hand) begin(seed());
    else tell.played(hand);
  }

  return { enter, start };
})();
