// What is seen, as the words of the address: every view can be sent to somebody who runs the same program.
const Address = (() => {
  'use strict';

  // `main main main none` as `main*3 none`.
  function packed(actions) {
    const runs = [];
    for (const action of actions) {
      const last = runs.at(-1);
      if (last && last.action === action) last.count += 1;
      else runs.push({ action, count: 1 });
    }
    const encoded = (action) => encodeURIComponent(action).replaceAll('*', '%2A');
    return runs.map(({ action, count }) => encoded(action) + (count > 1 ? `*${count}` : '')).join(' ');
  }

  // The most actions by hand that the server takes.
  const LONGEST = 5000;

  function unpacked(text) {
    const actions = [];
    for (const part of text.split(' ').filter(Boolean)) {
      const [action, count] = part.split('*');
      const times = Math.min(Number(count ?? 1) || 0, LONGEST - actions.length);
      for (let at = 0; at < times; at += 1) actions.push(decoded(action));
    }
    return actions;
  }

  // An address may have been cut anywhere; what cannot be decoded is refused by the server, in words.
  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  const whole = (text) => (/^\d{1,15}$/.test(text ?? '') ? Number(text) : undefined);
  const real = (text) => (text !== null && text !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined);

  function read() {
    const words = Page.words();
    const [episode, seed] = [whole(words.get('episode')), whole(words.get('seed'))];
    let place;
    if (episode !== undefined) place = { episode };
    else if (seed !== undefined && words.has('hand')) place = { seed, actions: unpacked(words.get('hand')) };
    else if (seed !== undefined) place = { seed };
    return {
      view: words.get('view') ?? (place ? 'ask' : undefined),
      place,
      step: whole(words.get('step')),
      not: words.get('not') ?? '',
      changes: new Map((words.get('if') ?? '').split(',').filter(Boolean).map((part) => {
        const at = part.indexOf('=');
        return [part.slice(0, at), part.slice(at + 1)];
      })),
      horizon: whole(words.get('horizon')),
      tau: real(words.get('tau')),
      rewards: words.getAll('reward'),
      pair: words.get('pair') ?? '',
      variable: words.get('variable') ?? '',
    };
  }

  function words(state) {
    const parameters = new URLSearchParams({ view: state.view });
    const put = (name, value) => {
      if (value !== undefined && value !== '') parameters.set(name, value);
    };
    if (state.view === 'ask' && state.place) {
      put('episode', state.place.episode);
      put('seed', state.place.seed);
      if (state.place.actions) parameters.set('hand', packed(state.place.actions));
      put('step', state.step);
      put('not', state.not);
      put('if', [...state.changes].map(([name, value]) => `${name}=${value}`).join(','));
      put('horizon', state.horizon);
      put('tau', state.tau);
      for (const reward of state.rewards) parameters.append('reward', reward);
    }
    if (state.view === 'play' && state.hand) {
      put('seed', state.hand.seed);
      parameters.set('hand', packed(state.hand.actions));
    }
    if (state.view === 'causes') {
      put('pair', state.pair);
      put('variable', state.variable);
    }
    return parameters;
  }

  return { read, words };
})();
