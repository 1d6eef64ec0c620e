// Saving and copying an answer.
const Share = (() => {
  'use strict';
  const { byId } = Page;

  const told = (words) => {
    byId('shared').textContent = words;
    byId('told').textContent = words;
  };

  function save(name, content, type) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    told(`Saved ${name}.`);
  }

  const fileName = (answer) => answer.question.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '').slice(0, 60) || 'answer';

  // The last picture is the chain; a waterfall stands before it.
  const pictures = () => [...document.querySelectorAll('#answer .picture svg')];

  const markdown = (answer) =>
    `# ${answer.question}\n\n${answer.sentence}\n\n\`\`\`text\n${answer.text.trimEnd()}\n\`\`\`\n\n`
    + `\`\`\`sh\n${answer.command}\n\`\`\`\n\n\`\`\`python\n${answer.python}\n\`\`\`\n`;

  // What is seen, as a page that is complete in itself.
  async function page(answer) {
    const style = await (await fetch('view.css')).text();
    const escape = (text) => text.replace(/[&<>"]/g, (letter) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[letter]);
    const clean = (part) => {
      const copy = part.cloneNode(true);
      for (const control of copy.querySelectorAll('button, input, .clock, [hidden]')) control.remove();
      for (const folded of copy.querySelectorAll('details.same')) folded.remove();
      return copy.outerHTML;
    };
    return `<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8" />\n<meta name="viewport" content="width=device-width, initial-scale=1" />\n`
      + `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />\n`
      + `<title>${escape(answer.question)}</title>\n<style>\n${style}</style>\n</head>\n<body>\n<main>\n<h1>${escape(answer.question)}</h1>\n`
      + `${clean(byId('title'))}\n<div class="happened">${clean(byId('moment'))}${clean(byId('happened'))}</div>\n${clean(byId('answer'))}\n${clean(byId('worlds'))}\n`
      + `<h2>Ask it again</h2>\n<pre>${escape(answer.command)}</pre>\n<pre>${escape(answer.python)}</pre>\n</main>\n</body>\n</html>\n`;
  }

  async function saveAs(format, answer, question) {
    const name = fileName(answer);
    if (format === 'svg') {
      const picture = pictures().at(-1);
      if (!picture) throw new Error('this answer has no picture');
      save(`${name}.svg`, `${picture.outerHTML}\n`, 'image/svg+xml');
    } else if (format === 'png') {
      save(`${name}.png`, await Server.bytes('page/png', { question, show: 'chain' }));
    } else if (format === 'md') {
      save(`${name}.md`, markdown(answer), 'text/markdown');
    } else {
      save(`${name}.html`, await page(answer), 'text/html');
    }
  }

  async function copy(what, answer) {
    const text = { command: answer.command, python: answer.python, address: location.href }[what];
    try {
      await navigator.clipboard.writeText(text);
      told('Copied.');
    } catch {
      // Without the permission it stands on the page, marked.
      const place = byId(what === 'python' ? 'python' : 'command');
      if (what === 'address') place.textContent = text;
      place.closest('details').open = true;
      getSelection().selectAllChildren(place);
      told('The browser does not let a page copy; it is marked on the page.');
    }
  }

  return { copy, saveAs };
})();
