(() => {
  'use strict';
  const { byId, arrow, keep, markQuestion, markStep, words } = Page;
  const answers = byId('answers');
  const moments = [...answers.querySelectorAll('template[data-moment]')];
  const explanations = [...answers.querySelectorAll('template[data-step]')];
  const buttons = [...document.querySelectorAll('[data-go]')];
  if (buttons.length === 0) return;
  const timeline = byId('timeline');
  let view = { step: '', not: '' };

  const explanation = (step, not) =>
    explanations.find((part) => part.dataset.step === step && part.dataset.not === not);

  const show = (place, template) => place.replaceChildren(template.content.cloneNode(true));

  function select(step, not, announce) {
    const moment = moments.find((part) => part.dataset.moment === step);
    if (!moment) return false;
    // A step has no question about its own action.
    const asked = explanation(step, not) ? not : '';
    if (view.step !== step) show(byId('moment'), moment);
    show(byId('answer'), explanation(step, asked));
    view = { step, not: asked };
    markStep(timeline, step);
    markQuestion(asked);
    if (announce) {
      const title = byId('moment').querySelector('h3').textContent;
      byId('told').textContent = `${title}. ${byId('answer').querySelector('.answer').textContent}`;
    }
    return true;
  }

  function go(step, not) {
    if (!select(step, not, true)) return;
    const parameters = new URLSearchParams({ step });
    if (view.not) parameters.set('not', view.not);
    keep(parameters);
  }

  function fromAddress() {
    const parameters = words();
    return parameters.has('step') && select(parameters.get('step'), parameters.get('not') ?? '', false);
  }

  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-go], [data-ask]');
    if (!button) return;
    if (button.dataset.go !== undefined) go(button.dataset.go, view.not);
    else go(view.step, button.dataset.ask);
  });

  document.addEventListener('keydown', (event) => {
    const way = arrow(event);
    if (way === undefined) return;
    event.preventDefault();
    const at = buttons.findIndex((button) => button.dataset.go === view.step);
    const button = buttons[Math.min(Math.max(at + way, 0), buttons.length - 1)];
    if (timeline.contains(document.activeElement)) button.focus({ preventScroll: true });
    go(button.dataset.go, view.not);
  });

  addEventListener('hashchange', fromAddress);
  const { opening, openingNot } = answers.dataset;
  if (!fromAddress()) select(opening, openingNot, false) || select(buttons[0].dataset.go, '', false);
})();
