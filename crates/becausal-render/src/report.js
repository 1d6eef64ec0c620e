(() => {
  'use strict';
  const byId = (id) => document.getElementById(id);
  const answers = byId('answers');
  const moments = [...answers.querySelectorAll('template[data-moment]')];
  const explanations = [...answers.querySelectorAll('template[data-step]')];
  const buttons = [...document.querySelectorAll('[data-go]')];
  if (buttons.length === 0) return;
  const timeline = byId('timeline');
  const calm = matchMedia('(prefers-reduced-motion: reduce)');
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
    for (const button of buttons) {
      if (button.dataset.go === step) {
        button.setAttribute('aria-current', 'step');
        bring(button);
      } else {
        button.removeAttribute('aria-current');
      }
    }
    for (const button of document.querySelectorAll('[data-ask]')) {
      button.setAttribute('aria-pressed', String(button.dataset.ask === asked));
    }
    if (announce) {
      const title = byId('moment').querySelector('h3').textContent;
      byId('told').textContent = `${title}. ${byId('answer').querySelector('.answer').textContent}`;
    }
    return true;
  }

  // Only the strip moves, never the page.
  function bring(button) {
    const left = button.offsetLeft - (timeline.clientWidth - button.offsetWidth) / 2;
    timeline.scrollTo({ left, behavior: calm.matches ? 'auto' : 'smooth' });
  }

  function go(step, not) {
    if (!select(step, not, true)) return;
    const words = new URLSearchParams({ step });
    if (view.not) words.set('not', view.not);
    history.replaceState(null, '', `#${words}`);
  }

  function fromAddress() {
    const words = new URLSearchParams(location.hash.slice(1));
    return words.has('step') && select(words.get('step'), words.get('not') ?? '', false);
  }

  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-go], [data-ask]');
    if (!button) return;
    if (button.dataset.go !== undefined) go(button.dataset.go, view.not);
    else go(view.step, button.dataset.ask);
  });

  document.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    // There the arrows scroll.
    if (event.target.closest('.picture, .scroll, pre')) return;
    const at = buttons.findIndex((button) => button.dataset.go === view.step);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const button = buttons[Math.min(Math.max(to, 0), buttons.length - 1)];
    if (timeline.contains(document.activeElement)) button.focus({ preventScroll: true });
    go(button.dataset.go, view.not);
  });

  addEventListener('hashchange', fromAddress);
  const { opening, openingNot } = answers.dataset;
  if (!fromAddress()) select(opening, openingNot, false) || select(buttons[0].dataset.go, '', false);
})();
