// The causal graph as a map, and the evidence for what is chosen on it.
const CausalMap = (() => {
  'use strict';
  const { byId } = Page;
  const { element, shown } = Controls;
  const { svg } = Worlds;
  const ROW = 30;
  // With more pairs that cannot be told than this, the influences would not be seen behind them.
  const FEW = 40;
  let chosen = 0;
  let graph;
  let tell;
  let drawn = 0;

  const key = (pair) => `${pair.cause} → ${pair.effect}`;
  const words = (pair) => (pair.verdict === 'edge' ? `strength ${pair.strength.toFixed(2)}` : 'cannot be told from this data');
  const probability = (p) => (p < 1e-4 ? p.toExponential(0) : String(Number(p.toPrecision(2))));

  const short = (name, most) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);

  function node({ name, role }, x, y, width, side) {
    const label = svg('text', { x: x + width / 2, y: y + 4 });
    // A letter takes some 7 of the picture's units.
    label.textContent = short(name, Math.max(4, Math.floor(width / 7.2)));
    const title = svg('title');
    title.textContent = name;
    return svg('g', { class: `node ${role}`, role: 'button', tabindex: '0', 'data-variable': `${side}:${name}`, 'aria-pressed': 'false', 'aria-label': side === 'cause' ? `${name}: what it influences` : `${name}: what it depends on` },
      title, svg('rect', { x, y: y - 11, width, height: 22, rx: 6 }), label);
  }

  // The map is as wide as its place, so that its letters always have the same size.
  function draw() {
    const { causes, effects, pairs } = graph;
    const full = Math.min(Math.max(300, byId('map').clientWidth - 28), 900);
    const box = Math.min(180, full * 0.34);
    drawn = full;
    const height = Math.max(causes.length, effects.length) * ROW + 34;
    const y = (at) => 42 + at * ROW;
    const drawing = svg('svg', { viewBox: `-4 0 ${full + 8} ${height}`, width: full + 8, height, role: 'group', 'aria-label': 'Causes on the left, effects one step later on the right' });
    for (const [x, text] of [[box / 2, 'now'], [full - box / 2, 'one step later']]) {
      const heading = svg('text', { x, y: 14, class: 'heading' });
      heading.textContent = text;
      drawing.append(heading);
    }
    const place = (list) => new Map(list.map(({ name }, at) => [name, y(at)]));
    const [from, to] = [place(causes), place(effects)];
    const isShown = (pair) => pair.verdict === 'edge' || byId('map-unknown').checked;
    const ordered = pairs.filter(isShown).sort((a, b) => (a.verdict === b.verdict ? a.strength - b.strength : a.verdict === 'edge' ? 1 : -1));
    for (const pair of ordered) {
      const [y1, y2] = [from.get(pair.cause), to.get(pair.effect)];
      const [x1, x2, bend] = [box, full - box, (full - 2 * box) * 0.45];
      const d = `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
      const width = pair.verdict === 'edge' ? 1 + 6 * pair.strength : 1.2;
      const title = svg('title');
      title.textContent = `${key(pair)}, ${words(pair)}`;
      drawing.append(svg('g', { class: `edge ${pair.verdict}${pair.proxy ? ' proxy' : ''}`, role: 'button', tabindex: '0', 'data-pair': key(pair), 'aria-pressed': 'false', 'aria-label': `${key(pair)}, ${words(pair)}` },
        title, svg('path', { class: 'hit', d }), svg('path', { class: 'line', d, 'stroke-width': width.toFixed(1) })));
    }
    for (const one of causes) drawing.append(node(one, 0, from.get(one.name), box, 'cause'));
    for (const one of effects) drawing.append(node(one, full - box, to.get(one.name), box, 'effect'));
    byId('map').replaceChildren(drawing);
  }

  function mark(isChosen, isNear) {
    for (const part of byId('map').querySelectorAll('[data-pair], [data-variable]')) {
      part.setAttribute('aria-pressed', String(isChosen(part)));
      part.classList.toggle('far', !isChosen(part) && !isNear(part));
    }
  }

  function scatter({ points, labels, cause, effect, held }) {
    const [width, height, edge] = [320, 200, 46];
    const ends = (values) => {
      const [low, high] = [Math.min(...values), Math.max(...values)];
      return high > low ? [low, high] : [low - 0.5, high + 0.5];
    };
    const finite = points.filter((point) => point.every(Number.isFinite));
    if (finite.length === 0) return '';
    const isLabel = labels.length > 0;
    const [x0, x1] = isLabel ? [-0.5, labels.length - 0.5] : ends(finite.map(([x]) => x));
    const [y0, y1] = ends(finite.map(([, y]) => y));
    const x = (value) => edge + ((value - x0) / (x1 - x0)) * (width - edge - 8);
    const y = (value) => height - 26 - ((value - y0) / (y1 - y0)) * (height - 40);
    const drawing = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `Scatter: the residual of ${effect} over ${cause}` });
    if (y0 < 0 && y1 > 0) drawing.append(svg('path', { class: 'zero', d: `M${edge} ${y(0)}H${width - 8}` }));
    finite.forEach(([across, down], at) => {
      // Labels are spread a little, always in the same way, so that their points do not hide each other.
      const spread = isLabel ? (((at * 37) % 61) / 61 - 0.5) * 0.6 : 0;
      drawing.append(svg('circle', { cx: x(across + spread).toFixed(1), cy: y(down).toFixed(1), r: 2.4 }));
    });
    const text = (words, attributes) => {
      const made = svg('text', attributes);
      made.textContent = words;
      drawing.append(made);
    };
    if (isLabel) labels.forEach((label, at) => text(short(label, 12), { x: x(at), y: height - 10, class: 'tick' }));
    else {
      text(shown(x0), { x: edge, y: height - 10, class: 'tick start' });
      text(shown(x1), { x: width - 8, y: height - 10, class: 'tick end' });
    }
    text(shown(y1), { x: edge - 6, y: 18, class: 'tick end' });
    text(shown(y0), { x: edge - 6, y: height - 24, class: 'tick end' });
    return element('figure', {}, drawing, element('figcaption', {},
      `${effect} minus what the model predicts with ${cause} held at ${Number.isFinite(Number(held)) ? shown(Number(held)) : held}, over ${cause}, in ${finite.length} recorded steps. A slope or a shape is what ${cause} adds.`));
  }

  function acts({ states, tau, actions }) {
    if (actions.length === 0) return '';
    const rows = actions.map(({ action, share }) => element('li', {},
      element('span', { class: 'name' }, action),
      element('span', { class: 'bar', 'aria-hidden': 'true' }, element('i', { style: `width:${(100 * share).toFixed(0)}%` })),
      element('span', { class: 'share' }, `${(100 * share).toFixed(0)} %`)));
    return element('div', {}, element('h4', {}, 'Where it acts'),
      element('p', { class: 'soft' }, `The share of ${states} recorded states in which the influence is above ${tau}, by the model, under each action.`),
      element('ul', { class: 'bars' }, ...rows));
  }

  async function choosePair(name) {
    const pair = graph?.pairs.find((one) => key(one) === name);
    if (!pair) return;
    // What comes after another pair or variable was chosen is not shown.
    const choice = chosen += 1;
    mark((part) => part.dataset.pair === name, (part) => [`cause:${pair.cause}`, `effect:${pair.effect}`].includes(part.dataset.variable));
    const place = byId('evidence');
    place.replaceChildren(element('h3', {}, name), element('p', { class: 'soft' }, 'Looking at the data …'));
    try {
      const found = await Server.post('page/pair', { cause: pair.cause, effect: pair.effect });
      if (choice !== chosen) return;
      const facts = [['verdict', found.verdict === 'edge' ? 'influence' : 'cannot be told'], ['strength', found.strength.toFixed(2)], ['p', probability(found.p)]];
      if (found.confidence !== null) facts.push(['in bootstrap samples', `${(100 * found.confidence).toFixed(0)} %`]);
      place.replaceChildren(element('h3', {}, name),
        element('dl', { class: 'figures' }, ...facts.map(([term, value]) => element('div', {}, element('dt', {}, term), element('dd', {}, value)))),
        ...(found.proxy ? [element('p', {}, 'It may be a proxy for another cause.')] : []),
        ...(found.reason ? [element('p', {}, found.reason)] : []),
        element('h4', {}, 'Residuals'), scatter(found.scatter));
      if (graph.causes.find(({ name: cause }) => cause === pair.cause)?.role === 'action') return;
      const more = element('div', {}, element('h4', {}, 'Where it acts'), element('p', { class: 'soft' }, 'Asking the model …'));
      place.append(more);
      const where = await Server.post('page/acts', { cause: pair.cause, effect: pair.effect });
      more.replaceWith(acts(where));
    } catch (error) {
      if (choice === chosen) place.replaceChildren(element('h3', {}, name), element('p', {}, error.message));
    }
  }

  function chooseVariable(name) {
    chosen += 1;
    const [side, variable] = [name.slice(0, name.indexOf(':')), name.slice(name.indexOf(':') + 1)];
    const near = graph?.pairs.filter((pair) => pair[side] === variable) ?? [];
    const other = side === 'cause' ? 'effect' : 'cause';
    mark((part) => part.dataset.variable === name, (part) => near.some((pair) => key(pair) === part.dataset.pair || `${other}:${pair[other]}` === part.dataset.variable));
    const item = (pair) => element('li', {}, element('button', { type: 'button', 'data-pair': key(pair), class: 'link' }, pair[other]), pair.verdict === 'edge' ? ` ${words(pair)}` : '');
    const list = (verdict) => near.filter((pair) => pair.verdict === verdict).sort((a, b) => b.strength - a.strength).map(item);
    const [edges, unknown] = [list('edge'), list('untestable')];
    byId('evidence').replaceChildren(element('h3', {}, variable),
      element('h4', {}, side === 'cause' ? 'Influences' : 'Depends on'),
      edges.length ? element('ul', {}, ...edges) : element('p', {}, 'Nothing that was found.'),
      ...(unknown.length ? [element('details', { open: unknown.length <= 6 }, element('summary', {}, `${unknown.length} that cannot be told from this data`), element('ul', {}, ...unknown))] : []));
  }

  function pick(target) {
    const part = target.closest?.('[data-pair], [data-variable]');
    if (!part) return false;
    if (part.dataset.pair !== undefined) {
      tell.chosen({ pair: part.dataset.pair, variable: '' });
      choosePair(part.dataset.pair);
    } else {
      tell.chosen({ pair: '', variable: part.dataset.variable });
      chooseVariable(part.dataset.variable);
    }
    return true;
  }

  function start(given, heard) {
    graph = given;
    tell = heard;
    if (!graph) {
      byId('map').replaceChildren(element('p', {}, 'This run has no causal graph: its model uses every variable.'));
      return;
    }
    const unknown = graph.pairs.filter(({ verdict }) => verdict === 'untestable').length;
    byId('map-unknown').checked = unknown <= FEW;
    byId('map-unknown-label').hidden = unknown === 0;
    byId('map-unknown-count').textContent = unknown;
    byId('map-unknown').addEventListener('change', draw);
    draw();
    addEventListener('resize', () => {
      if (!byId('causes').hidden && Math.abs(Math.min(Math.max(300, byId('map').clientWidth - 28), 900) - drawn) > 8) draw();
    });
    byId('causes').addEventListener('click', (event) => pick(event.target));
    byId('map').addEventListener('keydown', (event) => {
      if ((event.key === 'Enter' || event.key === ' ') && pick(event.target)) event.preventDefault();
    });
  }

  // What the address says.
  function enter({ pair, variable }) {
    if (!graph) return;
    if (pair) choosePair(pair);
    else if (variable) chooseVariable(variable);
    else if (byId('evidence').children.length === 0) {
      byId('evidence').replaceChildren(element('p', { class: 'soft' }, `${graph.pairs.filter(({ verdict }) => verdict === 'edge').length} influences were found by the test “${graph.method}” (eta ${graph.eta}). Choose one.`));
    }
  }

  // For the search.
  const names = () => graph ?? { causes: [], effects: [], pairs: [] };

  return { enter, key, names, start };
})();
