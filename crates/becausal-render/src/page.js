// What every page has in common: the strip of steps, the questions, the words of the address.
const Page = (() => {
  'use strict';
  const byId = (id) => document.getElementById(id);
  const calm = matchMedia('(prefers-reduced-motion: reduce)');

  // Only the strip moves, never the page.
  function bring(strip, button) {
    const left = button.offsetLeft - (strip.clientWidth - button.offsetWidth) / 2;
    strip.scrollTo({ left, behavior: calm.matches ? 'auto' : 'smooth' });
  }

  // Marks the chosen step, which is in the strip or not.
  function markStep(strip, step) {
    for (const button of strip.querySelectorAll('[data-go]')) {
      if (button.dataset.go === step) {
        button.setAttribute('aria-current', 'step');
        bring(strip, button);
      } else {
        button.removeAttribute('aria-current');
      }
    }
  }

  // Marks the question that is answered.
  function markQuestion(asked) {
    for (const button of document.querySelectorAll('[data-ask]')) {
      button.setAttribute('aria-pressed', String(button.dataset.ask === asked));
    }
  }

  // Where an arrow key leads in the strip: -1, 1, or nowhere.
  function arrow(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return undefined;
    // There the arrows scroll, or change a value.
    if (event.target.closest('.picture, .scroll, pre, input, select, textarea')) return undefined;
    return { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  }

  // The words after the # of the address.
  const words = () => new URLSearchParams(location.hash.slice(1));
  const keep = (parameters) => history.replaceState(null, '', `#${parameters}`);

  return { byId, calm, markStep, markQuestion, arrow, words, keep };
})();
