// The viewer: puts its parts together.
(async () => {
  'use strict';
  const { byId, arrow, calm, keep, markQuestion, markStep } = Page;
  const { element, shown } = Controls;
  // Steps in the strip at a time: as many as are easily looked over.
  const STRIP = 40;
  const VIEWS = ['ask', 'play', 'causes', 'decisions', 'about'];
  const USUAL = { horizon: 5, tau: 0.1 };

  const trouble = (error) => {
    const place = byId('trouble');
    place.textContent = error ? (error.message ?? String(error)) : '';
    place.hidden = !error;
  };

  let run;
  try {
    run = await Server.get('api/run');
  } catch (error) {
    trouble(error);
    return;
  }
  byId('name').textContent = run.name;
  document.title = `Why did it do that? ${run.name}`;
  byId('version').textContent = run.version;
  const slots = new Map(run.variables.map((slot) => [slot.name, slot]));
  const stateSlots = run.variables.filter(({ role }) => role === 'state');
  const actionSlots = run.variables.filter(({ role }) => role === 'action');
  // Where every combination is a button there is no need for sliders.
  const hasSliders = actionSlots.some(({ kind }) => kind === 'continuous' || kind === 'integer') || run.actions.length === 0;

  let state = { view: 'ask', place: undefined, step: 0, not: '', changes: new Map(), rewards: [], pair: '', variable: '' };
  let episode;
  let strip = { key: '', from: -1 };
  let moment;
  let answer;
  let asked;
  let real;
  let scenes;
  let time = 0;
  let timer;
  let lists;

  // ---- the address ---------------------------------------------------------------------------

  const remember = () => keep(Address.words(state));

  function show(view) {
    state.view = view;
    for (const name of VIEWS) byId(name).hidden = name !== view;
    for (const tab of byId('tabs').querySelectorAll('a')) {
      if (tab.dataset.view === view) tab.setAttribute('aria-current', 'page');
      else tab.removeAttribute('aria-current');
    }
    if (view !== 'ask') stop();
  }

  async function enter() {
    const given = Address.read();
    const view = VIEWS.includes(given.view) ? given.view : 'ask';
    trouble();
    show(view);
    if (view === 'ask') {
      if (given.place) {
        state = { ...state, ...given, view, step: given.step ?? 0 };
        options();
        await go();
      } else if (state.place) remember();
      else await open();
    } else if (view === 'play') {
      Play.enter(given.place);
    } else if (view === 'decisions') {
      await decisions();
    } else if (view === 'causes') {
      await loadGraph();
      state.pair = given.pair;
      state.variable = given.variable;
      CausalMap.enter(given);
    } else {
      await loadAbout();
    }
  }

  // Without an address: an episode that the policy plays, or the first recorded one.
  async function open() {
    if (run.has_policy && run.has_environment) {
      state.place = { seed: 0 };
      // An environment from outside may not be able to begin anew.
      if (await go() || run.episodes === 0) return;
    }
    state.place = { episode: 0 };
    await go();
  }

  // ---- which episode, which step -------------------------------------------------------------

  const placeKey = () => JSON.stringify(state.place);

  // Says whether the strip is still the one that is wanted: another may have been chosen while it was on its way.
  async function loadStrip() {
    const [key, from] = [placeKey(), Math.floor(state.step / STRIP) * STRIP];
    if (strip.key !== key || strip.from !== from) {
      const loaded = await Server.post('page/episode', { place: state.place, from, count: STRIP });
      if (placeKey() !== key || Math.floor(state.step / STRIP) * STRIP !== from) return false;
      episode = loaded;
      strip = { key, from };
      byId('strip').innerHTML = episode.html;
      overview();
    }
    markStep(byId('timeline'), String(state.step));
    byId('scrub').max = Math.max(0, episode.steps - 1);
    byId('scrub').value = state.step;
    byId('step-shown').textContent = `${state.step} of ${episode.steps}`;
    byId('length').textContent = `${episode.steps} ${episode.steps === 1 ? 'step' : 'steps'}${episode.terminated ? '' : ', cut short'}`;
    const cursor = byId('overview').querySelector('.cursor');
    if (cursor) cursor.setAttribute('x', String(state.step));
    return true;
  }

  // The reward of every step of the episode, as thin bars.
  function overview() {
    const { rewards } = episode;
    const high = Math.max(0, ...rewards);
    const low = Math.min(0, ...rewards);
    // One large reward at the end shall not make all others vanish: heights are square roots.
    const height = (value) => Math.sqrt(Math.abs(value) / Math.max(high, -low, 1e-12)) * 50;
    const zero = high > 0 && low < 0 ? 50 : high > 0 ? 100 : 0;
    const scale = high > 0 && low < 0 ? 1 : 2;
    const part = (isUp) => rewards.map((value, at) => {
      if (value === 0 || value > 0 !== isUp) return '';
      const size = scale * height(value);
      return `M${at} ${zero}h1v${isUp ? -size : size}h-1z`;
    }).join('');
    const drawing = Worlds.svg('svg', { viewBox: `0 0 ${Math.max(1, rewards.length)} 100`, preserveAspectRatio: 'none' },
      Worlds.svg('rect', { class: 'window', x: strip.from, y: 0, width: STRIP, height: 100 }),
      Worlds.svg('path', { class: 'gain', d: part(true) }), Worlds.svg('path', { class: 'loss', d: part(false) }),
      Worlds.svg('rect', { class: 'cursor', x: state.step, y: 0, width: Math.max(1, rewards.length / 300), height: 100 }));
    byId('overview').replaceChildren(drawing);
  }

  function sources() {
    const choices = [];
    if (run.episodes > 0) choices.push(['recorded', 'recorded']);
    if (run.has_policy && run.has_environment) choices.push(['policy', 'new, by the policy']);
    if (run.has_environment) choices.push(['hand', 'new, by hand']);
    byId('source').replaceChildren(...choices.map(([value, words]) => element('option', { value }, words)));
  }

  function showPlace() {
    const { place } = state;
    const kind = place.actions ? 'hand' : place.seed !== undefined ? 'policy' : 'recorded';
    byId('source').value = kind;
    byId('number-label').firstElementChild.textContent = kind === 'recorded' ? `Number (0 to ${run.episodes - 1})` : 'Seed';
    byId('number').value = kind === 'recorded' ? place.episode : place.seed;
    byId('number').max = kind === 'recorded' ? run.episodes - 1 : '';
  }

  const moments = Server.newest('page/moment', (value, body) => {
    moment = value;
    // The parts of a report's step, with what can be asked before what changed.
    const parts = document.createElement('template');
    parts.innerHTML = value.html;
    byId('title').replaceChildren(parts.content.querySelector('h3'));
    byId('happened').replaceChildren(parts.content.querySelector('.happened ul'));
    byId('moment').replaceChildren(...parts.content.querySelectorAll('.scene'));
    byId('questions').innerHTML = value.questions;
    fold(byId('happened').querySelector('ul'));
    controls();
    markAsked();
  }, (error) => trouble(error));

  // Of many variables only the first are shown at once; the reward is always.
  function fold(list) {
    const items = [...list.querySelectorAll('li:not(.paid)')];
    if (items.length <= 10) return;
    const rest = items.slice(8);
    const more = element('details', {}, element('summary', {}, `${rest.length} more variables`), element('ul', {}, ...rest));
    list.after(more);
  }

  // Shows the step and asks about it. Says whether there is such an episode.
  async function go() {
    try {
      showPlace();
      if (!await loadStrip()) return true;
      if (state.step >= episode.steps) {
        state.step = Math.max(0, episode.steps - 1);
        if (!await loadStrip()) return true;
      }
    } catch (error) {
      trouble(error);
      return false;
    }
    moment = undefined;
    moments({ ...state.place, step: state.step, ...parameters() });
    remember();
    askNow();
    return true;
  }

  // ---- the question --------------------------------------------------------------------------

  const parameters = () => ({
    horizon: state.horizon ?? USUAL.horizon,
    tau: state.tau ?? USUAL.tau,
    rewards: state.rewards,
  });

  function question() {
    const body = { ...state.place, step: state.step, ...parameters() };
    const parts = [...state.changes].map(([name, value]) => `${name}=${value}`);
    const changesState = [...state.changes.keys()].some((name) => slots.get(name)?.role === 'state');
    if (changesState) {
      if (state.not) parts.push(...(state.not.includes('=') ? [state.not] : [`${actionSlots[0]?.name}=${state.not}`]));
      body.change = parts.join(',');
    } else if (parts.length > 0) body.action = parts.join(',');
    else if (state.not) body.action = state.not;
    return body;
  }

  const answers = Server.newest('page/answer', (value, body, isOld) => {
    answer = value;
    asked = body;
    trouble();
    showAnswer(value);
    byId('answer').classList.remove('stale');
    byId('answer').setAttribute('aria-busy', 'false');
    byId('command').textContent = value.command;
    byId('python').textContent = value.python;
    byId('shared').textContent = '';
    for (const button of document.querySelectorAll('.share button')) button.disabled = false;
    byId('worlds').hidden = false;
    real = undefined;
    byId('verdict').textContent = '';
    worlds();
    if (!isOld) settled();
  }, (error) => {
    byId('answer').replaceChildren(element('p', { class: 'answer' }, error.message));
    byId('answer').classList.remove('stale');
    byId('answer').setAttribute('aria-busy', 'false');
    byId('worlds').hidden = true;
    for (const button of document.querySelectorAll('.share button')) button.disabled = true;
  });

  // What was unfolded or scrolled stays so while the answers follow each other.
  function showAnswer({ question: title, html }) {
    const place = byId('answer');
    const unfolded = [...place.querySelectorAll('details')].map(({ open: isOpen }) => isOpen);
    const scrolled = [...place.querySelectorAll('.picture')].map(({ scrollLeft }) => scrollLeft);
    place.innerHTML = html;
    place.prepend(element('h3', {}, title));
    place.querySelectorAll('details').forEach((part, at) => { part.open = unfolded[at] ?? false; });
    place.querySelectorAll('.picture').forEach((part, at) => { part.scrollLeft = scrolled[at] ?? 0; });
  }

  function askNow() {
    byId('answer').classList.add('stale');
    byId('answer').setAttribute('aria-busy', 'true');
    markAsked();
    answers(question());
  }

  function markAsked() {
    // Whoever asks why not the action taken is told why.
    if (moment && state.changes.size === 0 && state.not === moment.action) {
      markQuestion('');
      return;
    }
    markQuestion(state.changes.size > 0 ? (state.not || '-') : state.not);
    const isChanged = state.not !== '' || state.changes.size > 0;
    byId('reset').disabled = !isChanged;
    const count = [...state.changes.keys()].filter((name) => slots.get(name)?.role === 'state').length;
    byId('state-count').hidden = count === 0;
    byId('state-count').textContent = `${count} changed`;
  }

  // When nothing newer is asked: drawings, and what a screen reader tells.
  let calmDown;
  function settled() {
    clearTimeout(calmDown);
    calmDown = setTimeout(() => {
      byId('told').textContent = `${answer.question} ${answer.sentence}`;
      if (run.draws) drawScenes(asked);
    }, 120);
  }

  function changed(name, text) {
    if (text === undefined) state.changes.delete(name);
    else state.changes.set(name, text);
    remember();
    askNow();
  }

  function controls() {
    const rows = (list) => list.map((slot) => {
      const made = Controls.row(slot, moment.values[slot.name], state.changes.get(slot.name), (text) => changed(slot.name, text));
      made.dataset.name = `${slot.name} ${slot.title}`.toLowerCase();
      return made;
    });
    byId('action-sliders').replaceChildren(...(hasSliders ? rows(actionSlots) : []));
    byId('state-sliders').replaceChildren(...rows(stateSlots));
    byId('state-filter-label').hidden = stateSlots.length <= 10;
    filter();
  }

  function filter() {
    const wanted = byId('state-filter').value.trim().toLowerCase();
    for (const made of byId('state-sliders').children) {
      made.hidden = wanted !== '' && !made.dataset.name.includes(wanted) && !made.classList.contains('changed');
    }
  }

  function options() {
    byId('horizon').max = Math.min(60, run.max_horizon);
    byId('horizon').value = state.horizon ?? USUAL.horizon;
    byId('tau').value = state.tau ?? USUAL.tau;
    byId('horizon-shown').textContent = byId('horizon').value;
    byId('tau-shown').textContent = byId('tau').value;
    const boxes = run.rewards.map((name) => element('label', {}, element('input', { type: 'checkbox', value: name, checked: state.rewards.length === 0 || state.rewards.includes(name) }), name));
    byId('rewards').replaceChildren(element('legend', {}, 'Rewards asked about'), ...boxes);
  }

  // ---- both worlds ---------------------------------------------------------------------------

  const length = () => Math.max(answer.courses.factual.steps, answer.courses.other?.steps ?? 0, real?.course.steps ?? 0);

  function worlds() {
    const { courses } = answer;
    const isOpen = byId('charts').querySelector('details.same')?.open;
    byId('worlds-title').textContent = courses.other ? 'Both worlds' : 'What followed';
    byId('check').hidden = !run.has_environment || !courses.other;
    byId('check').disabled = false;
    byId('check').textContent = 'Check it for real';
    const entry = (name, words) => element('li', {}, element('i', { class: `swatch ${name}` }), words);
    const band = ' (band: nine in ten)';
    const entries = [entry('factual', courses.factual.recorded < courses.factual.steps ? 'recorded, then predicted (shaded)' : 'recorded')];
    if (courses.other) entries.push(entry('other', `instead, by the model${band}`));
    if (real) entries.push(entry('real', 'instead, for real'));
    byId('worlds-legend').replaceChildren(...entries);
    time = Math.min(time, length());
    byId('time').max = length();
    byId('time').value = time;
    Worlds.charts(byId('charts'), run.variables, courses, real?.course, time, isOpen);
    moveTo(time);
  }

  function moveTo(now) {
    time = now;
    byId('time').value = now;
    byId('time-shown').textContent = `step ${answer.courses.first + now}`;
    Worlds.tell(byId('charts'), now);
    const panes = [['factual', 'What happened', scenes?.factual], ['other', 'Instead, by the model', scenes?.other], ['real', 'Instead, for real', real?.scenes]];
    const drawn = panes.filter(([, , list]) => list?.some(Boolean));
    const place = byId('scenes');
    const isUndrawn = scenes?.other.length > 0 && !scenes.other.some(Boolean);
    const names = drawn.map(([name]) => name).join(' ') + isUndrawn;
    if (place.dataset.names !== names) {
      place.dataset.names = names;
      place.replaceChildren(...drawn.map(([name, words]) => element('figure', { class: name }, element('div', { class: 'scene', role: 'img', 'aria-label': words }), element('figcaption', {}, words))));
      if (isUndrawn) place.append(element('p', { class: 'undrawn' }, 'The environment cannot be put into the states of the other course, so they are not drawn.'));
    }
    drawn.forEach(([, words, list], at) => {
      const figure = place.children[at];
      const last = Math.min(now, list.length - 1);
      const drawing = list[last];
      // A state that the environment cannot be put into keeps the drawing before it.
      const kept = drawing ?? list.slice(0, last).findLast(Boolean);
      const pane = figure.firstElementChild;
      if (pane.drawing !== kept) {
        pane.innerHTML = kept ?? '';
        pane.drawing = kept;
      }
      pane.classList.toggle('kept', !drawing);
      figure.lastElementChild.textContent = drawing ? words : `${words} (this state cannot be drawn)`;
    });
  }

  const drawScenes = Server.newest('page/scenes', (value, body) => {
    if (JSON.stringify(body) !== JSON.stringify(asked)) return;
    scenes = value;
    moveTo(time);
  }, () => {
    scenes = undefined;
    moveTo(time);
  });

  async function checkForReal() {
    const body = asked;
    byId('check').disabled = true;
    byId('check').textContent = 'Replaying …';
    try {
      const value = await Server.post('page/real', body);
      if (body !== asked) return;
      real = value;
      worlds();
      byId('check').hidden = true;
      const signed = (number) => (number > 0 ? '+' : '') + shown(number);
      const [claimed, real_] = [value.claimed, value.difference];
      const close = Math.abs(claimed - real_) <= 0.05 * Math.max(Math.abs(real_), 1e-9);
      const holds = close ? 'It holds.' : claimed * real_ > 0 ? 'It holds in direction, not in size.' : Math.abs(claimed - real_) < 1e-9 ? 'It holds.' : 'It does not hold.';
      byId('verdict').textContent = `Checked in the environment itself, replayed with the same noise: the reward difference is ${signed(real_)}, the answer says ${signed(claimed)}. ${holds}`;
    } catch (error) {
      if (body === asked) {
        byId('check').textContent = 'Check it for real';
        byId('verdict').textContent = error.message;
      }
    }
  }

  // The time runs twice a second, also where motion is reduced: it is asked for. Then nothing slides.
  function stop() {
    clearInterval(timer);
    timer = undefined;
    byId('run').setAttribute('aria-pressed', 'false');
    byId('run').textContent = 'Play';
  }

  function toggleRun() {
    if (timer) {
      stop();
      return;
    }
    if (time >= length()) moveTo(0);
    byId('run').setAttribute('aria-pressed', 'true');
    byId('run').textContent = 'Pause';
    timer = setInterval(() => {
      if (time >= length()) stop();
      else moveTo(time + 1);
    }, calm.matches ? 1000 : 350);
  }

  // ---- look around ---------------------------------------------------------------------------

  // Each part is asked for once, when it is first looked at.
  const once = (load) => {
    let loading;
    return () => {
      loading ??= load().catch((error) => {
        loading = undefined;
        trouble(error);
      });
      return loading;
    };
  };

  const loadGraph = once(async () => {
    const { map, html } = await Server.get('page/graph');
    CausalMap.start(map, {
      chosen: (part) => {
        Object.assign(state, part);
        remember();
      },
    });
    byId('graph-part').hidden = !html;
    byId('graph-part').addEventListener('toggle', () => {
      if (byId('graph-part').open && !byId('graph-picture').firstChild) byId('graph-picture').innerHTML = html;
    });
  });

  const loadAbout = once(async () => {
    const facts = [
      [run.rows.toLocaleString('en'), `transitions in ${run.episodes.toLocaleString('en')} episodes`],
      [run.variables.length, 'variables'],
      ...(run.edges === null ? [] : [[run.edges, 'influences found']]),
      [run.members, run.members === 1 ? 'model' : 'models, asked together'],
    ];
    byId('facts').replaceChildren(...facts.map(([figure, words]) => element('li', {}, element('strong', {}, String(figure)), ' ', element('span', {}, words))));
    const about = await Server.get('page/about');
    byId('learning-part').innerHTML = about.learning ?? '';
    const line = element('p');
    if (run.has_environment) {
      line.append('How often such answers hold in the environment: ', element('code', {}, `becausal audit ${about.folder ?? 'RUN'}${run.has_policy ? '' : ' --policy random'}`), '. In the view “Ask”, “Check it for real” tries a single one.');
    } else line.textContent = 'There is no environment behind this run, so its answers cannot be tried for real.';
    const scores = element('div', {}, element('p', { class: 'soft' }, 'Scoring the model …'));
    byId('trust-part').replaceChildren(element('h3', {}, 'The audit'), line, scores);
    scores.innerHTML = (await Server.get('page/scores')).html;
  });

  // Numbers of an action are told with three digits; the address has them all.
  const brief = (action) => action.replace(/-?\d+\.\d{3,}(e-?\d+)?/g, (number) => shown(Number(number)));
  const decisionWords = (one) => (one.rival === null ? brief(one.action) : `${brief(one.action)} rather than ${brief(one.rival)}`);
  const decisionPlace = (one) => (one.episode_seed !== null ? { seed: one.episode_seed } : { episode: one.episode });

  function decisionAddress(one) {
    const given = { view: 'ask', place: decisionPlace(one), step: one.step, not: one.rival ?? '', changes: new Map(), rewards: [] };
    return `#${Address.words(given)}`;
  }

  // The lists come one after the other: each takes the model a moment.
  async function decisions() {
    if (lists) return;
    lists = [];
    const place = byId('decision-lists');
    place.replaceChildren();
    const waiting = element('p', { class: 'soft' }, 'Looking …');
    place.append(waiting);
    const item = (one) => element('li', {}, element('a', { href: decisionAddress(one) }, decisionWords(one)),
      element('span', { class: 'soft' }, ` ${one.episode_seed !== null ? `seed ${one.episode_seed}` : `episode ${one.episode}`}, step ${one.step}`),
      element('p', {}, one.sentence));
    for (const find of run.finds) {
      try {
        const list = await Server.post('page/decisions', { find });
        lists.push(...list.found);
        waiting.before(element('section', {}, element('h3', {}, list.title), element('p', { class: 'soft' }, list.words),
          list.found.length ? element('ol', {}, ...list.found.map(item)) : element('p', {}, 'None.')));
      } catch (error) {
        waiting.before(element('p', {}, error.message));
        // Asked again when the view is opened again.
        lists = undefined;
        break;
      }
    }
    waiting.remove();
  }

  // ---- search --------------------------------------------------------------------------------

  function search() {
    const wanted = byId('search').value.trim().toLowerCase();
    const place = byId('found');
    if (wanted === '') {
      place.hidden = true;
      place.replaceChildren();
      return;
    }
    const found = [];
    const add = (words, href, kind) => found.push({ words, href, kind });
    const number = /^(?:step\s*)?(\d+)$/.exec(wanted);
    if (number && state.place && episode && Number(number[1]) < episode.steps) {
      add(`Step ${number[1]} of this episode`, `#${Address.words({ ...state, view: 'ask', step: Number(number[1]) })}`, 'step');
    }
    const other = /^(episode|seed)\s*(\d+)$/.exec(wanted);
    if (other) add(`${other[1]} ${other[2]}`, `#view=ask&${other[1]}=${other[2]}&step=0`, 'episode');
    const matches = (text) => text.toLowerCase().includes(wanted);
    const { causes, effects, pairs } = CausalMap.names();
    for (const { name } of causes) if (matches(name)) add(name, `#${new URLSearchParams({ view: 'causes', variable: `cause:${name}` })}`, 'what it influences');
    for (const { name } of effects) if (matches(name)) add(name, `#${new URLSearchParams({ view: 'causes', variable: `effect:${name}` })}`, 'what it depends on');
    for (const pair of pairs) if (matches(CausalMap.key(pair))) add(CausalMap.key(pair), `#${new URLSearchParams({ view: 'causes', pair: CausalMap.key(pair) })}`, 'influence');
    for (const one of lists ?? []) if (matches(decisionWords(one))) add(decisionWords(one), decisionAddress(one), 'decision');
    for (const tab of byId('tabs').querySelectorAll('a')) if (matches(tab.textContent)) add(tab.textContent, tab.getAttribute('href'), 'view');
    const first = found.slice(0, 12);
    place.replaceChildren(...first.map(({ words, href, kind }) => element('li', {}, element('a', { href }, words, element('small', {}, ` ${kind}`)))));
    if (first.length === 0) place.append(element('li', { class: 'soft' }, 'Nothing found.'));
    if (found.length > first.length) place.append(element('li', { class: 'soft' }, `${found.length - first.length} more`));
    place.hidden = false;
    byId('told').textContent = `${found.length} found`;
  }

  const closeSearch = () => {
    byId('found').hidden = true;
  };

  // ---- what is pressed -----------------------------------------------------------------------

  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-go], [data-ask], [data-save], [data-copy]');
    if (!event.target.closest('.search')) closeSearch();
    if (!button) return;
    if (button.dataset.go !== undefined) goTo(Number(button.dataset.go));
    else if (button.dataset.ask !== undefined) {
      state.not = button.dataset.ask;
      // Another action replaces what the sliders say of it; a changed state stays.
      for (const slot of actionSlots) state.changes.delete(slot.name);
      if (state.not === '') state.changes.clear();
      if (hasSliders) for (const part of state.not.split(',').filter((text) => text.includes('='))) state.changes.delete(part.split('=')[0]);
      if (moment) controls();
      remember();
      askNow();
    } else if (button.dataset.save) Share.saveAs(button.dataset.save, answer, asked).catch(trouble);
    else Share.copy(button.dataset.copy, answer).catch(trouble);
  });

  function goTo(step) {
    state.step = Math.min(Math.max(step, 0), Math.max(0, episode.steps - 1));
    // Values of another step are not this one's: only the other action stays asked.
    state.changes.clear();
    time = 0;
    stop();
    return go();
  }

  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && !event.target.closest('input, textarea, select')) {
      event.preventDefault();
      byId('search').focus();
      return;
    }
    if (event.key === 'Escape') closeSearch();
    const way = state.view === 'ask' ? arrow(event) : undefined;
    if (way === undefined || !episode) return;
    event.preventDefault();
    const isInStrip = byId('strip').contains(document.activeElement);
    goTo(state.step + way).then(() => {
      if (isInStrip) byId('strip').querySelector('[aria-current]')?.focus({ preventScroll: true });
    });
  });

  byId('scrub').addEventListener('input', () => goTo(Number(byId('scrub').value)));
  byId('overview').addEventListener('click', (event) => {
    const box = byId('overview').getBoundingClientRect();
    goTo(Math.floor(((event.clientX - box.left) / box.width) * episode.steps));
  });
  byId('source').addEventListener('change', () => {
    const number = Math.max(0, Math.floor(Number(byId('number').value)) || 0);
    const kind = byId('source').value;
    if (kind === 'hand') {
      location.hash = '#view=play';
      return;
    }
    state.place = kind === 'policy' ? { seed: number } : { episode: Math.min(number, run.episodes - 1) };
    goToPlace();
  });
  byId('number').addEventListener('change', () => {
    const number = Math.max(0, Math.floor(Number(byId('number').value)) || 0);
    const { place } = state;
    if (place.actions) state.place = { seed: number, actions: place.actions };
    else state.place = place.seed !== undefined ? { seed: number } : { episode: Math.min(number, run.episodes - 1) };
    goToPlace();
  });
  function goToPlace() {
    state.step = 0;
    state.changes.clear();
    time = 0;
    return go();
  }
  byId('state-filter').addEventListener('input', filter);
  byId('horizon').addEventListener('input', () => {
    state.horizon = Number(byId('horizon').value);
    options();
    remember();
    askNow();
  });
  byId('tau').addEventListener('input', () => {
    state.tau = Number(byId('tau').value);
    options();
    remember();
    askNow();
  });
  byId('rewards').addEventListener('change', () => {
    const boxes = [...byId('rewards').querySelectorAll('input')];
    const chosen = boxes.filter(({ checked }) => checked).map(({ value }) => value);
    state.rewards = chosen.length === boxes.length ? [] : chosen;
    if (chosen.length === 0) options();
    remember();
    askNow();
  });
  byId('reset').addEventListener('click', () => {
    state.not = '';
    state.changes.clear();
    if (moment) controls();
    remember();
    askNow();
  });
  byId('check').addEventListener('click', checkForReal);
  byId('time').addEventListener('input', () => moveTo(Number(byId('time').value)));
  byId('run').addEventListener('click', toggleRun);
  byId('search').addEventListener('input', async () => {
    await loadGraph();
    search();
  });
  byId('found').addEventListener('click', (event) => {
    if (event.target.closest('a')) {
      byId('search').value = '';
      closeSearch();
    }
  });
  byId('skip').addEventListener('click', (event) => {
    event.preventDefault();
    byId('main').focus();
  });
  addEventListener('hashchange', enter);

  if (hasSliders) byId('questions').before(byId('action-sliders'));
  sources();
  options();
  Play.start(run, {
    trouble,
    played: (hand) => {
      state.hand = hand;
      if (state.view === 'play') remember();
    },
    go: (place, step) => {
      const given = { view: 'ask', place, step, not: '', changes: new Map(), rewards: [] };
      location.hash = `#${Address.words(given)}`;
    },
  });
  await enter();
  options();
})();
