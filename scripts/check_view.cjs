// Drives the live viewer in headless Chromium, then probes its server. Arguments: the program, the folder for screenshots, and four runs: a
// trained one, one with continuous actions, a log without an environment, one of fifty variables.
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const net = require('node:net');
const path = require('node:path');
const axe = require('axe-core');
const { chromium } = require('playwright-core');

const [program, folder, trained, continuous, log, wide] = process.argv.slice(2);
const problems = [];
const expect = (holds, words) => {
  if (!holds) problems.push(words);
};
const flags = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

// Starts a view and gives its address, and how long that took.
async function view(run) {
  const began = Date.now();
  const child = spawn(program, ['view', run, '--no-open', '--quiet'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const address = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (part) => {
      text += part;
      if (text.includes('\n')) resolve(text.trim());
    });
    child.on('exit', () => reject(new Error(`${run} cannot be viewed`)));
  });
  return { address, child, milliseconds: Date.now() - began };
}

const ended = (child) => new Promise((resolve) => {
  child.on('exit', resolve);
  child.kill('SIGINT');
});

// Runs in the page: boxes that stick out of the window, and neighbours that lie over each other.
function misplaced() {
  const found = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) found.push(`the page is ${document.documentElement.scrollWidth} wide`);
  const scrolls = (element) => element.closest('.picture, .scroll, .timeline, pre, .unseen, .skip, .map, .panel, svg');
  const boxes = [...document.querySelectorAll('body *')].filter((element) => !scrolls(element) && element.getClientRects().length);
  for (const element of boxes) {
    const box = element.getBoundingClientRect();
    if (box.width && (box.left < -1 || box.right > width + 1)) found.push(`<${element.tagName} ${element.className}> sticks out`);
  }
  for (const group of document.querySelectorAll('main, section, header, article, .desk, .panel, .result, .where, .share, .questions, .control, .control-head, .fields, .chart, .chart-head, .small-charts, #scenes, .lists, .evidence')) {
    const parts = [...group.children].filter((part) => part.getClientRects().length && getComputedStyle(part).position === 'static');
    for (let one = 0; one < parts.length; one += 1) {
      for (let two = one + 1; two < parts.length; two += 1) {
        const [a, b] = [parts[one].getBoundingClientRect(), parts[two].getBoundingClientRect()];
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 1 && down > 1) found.push(`<${parts[one].tagName} ${parts[one].className}> over <${parts[two].tagName} ${parts[two].className}>`);
      }
    }
  }
  return [...new Set(found)];
}

// A page with everything that goes wrong on it written down.
async function opened(browser, name, address, options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: 'light', reducedMotion: 'reduce', acceptDownloads: true, ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`${name}: console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`${name}: ${error.message}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL(address).origin) && !request.url().startsWith('blob:')) problems.push(`${name}: asks ${request.url()}`);
  });
  await page.goto(address);
  await page.waitForSelector('#answer[aria-busy="false"] .answer', { state: 'attached' });
  const check = async (where) => {
    for (const words of await page.evaluate(misplaced)) problems.push(`${name}, ${where}: ${words}`);
    // As an expression: the page allows no scripts but its own.
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
    for (const { id, impact, nodes } of violations) {
      if (['serious', 'critical'].includes(impact)) problems.push(`${name}, ${where}: axe: ${id} (${impact}) ${nodes[0].html.slice(0, 160)} ${nodes[0].any[0]?.message ?? ''}`);
    }
    await page.screenshot({ path: path.join(folder, `${name}-${where}.png`), fullPage: true });
  };
  const settle = async () => {
    await page.waitForTimeout(60);
    await page.waitForSelector('#answer[aria-busy="false"]', { state: 'attached' });
    await page.waitForTimeout(350);
  };
  return { page, check, settle, sentence: () => page.textContent('#answer .answer'), close: () => context.close() };
}

const drag = (page, selector, value) => page.$eval(selector, (slider, to) => {
  slider.value = to;
  slider.dispatchEvent(new Event('input', { bubbles: true }));
}, String(value));

async function saved(page, format) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(`[data-save="${format}"]`)]);
  const file = path.join(folder, `saved.${format}`);
  await download.saveAs(file);
  return fs.readFileSync(file);
}

async function trainedRun(browser, address) {
  const { page, check, settle, sentence, close } = await opened(browser, 'trained', address);
  await settle();
  await check('ask');
  expect(page.url().includes('seed=0'), 'trained: it opens with an episode of the policy');

  // Steps: buttons, keys, the slider, the overview.
  await page.click('[data-go="3"]');
  await settle();
  expect(page.url().includes('step=3'), 'the address does not keep the step');
  await page.keyboard.press('ArrowRight');
  await settle();
  expect(page.url().includes('step=4'), 'the arrow does not lead on');
  expect((await page.evaluate(() => document.activeElement.dataset.go)) === '4', 'the focus does not go with the arrow');
  await drag(page, '#scrub', 2);
  await settle();
  expect(page.url().includes('step=2'), 'the slider does not lead to the step');
  await page.click('#overview', { position: { x: 1, y: 5 } });
  await settle();
  expect(page.url().includes('step=0'), 'the overview does not lead to the step');
  await drag(page, '#scrub', 6);
  await settle();

  // Every question has an answer of its own.
  const questions = await page.$$eval('[data-ask]', (buttons) => buttons.map((button) => button.dataset.ask));
  expect(questions.length > 1, 'no why-not can be asked');
  const told = new Set();
  for (const question of questions) {
    await page.click(`[data-ask="${question}"]`);
    await settle();
    expect((await page.getAttribute(`[data-ask="${question}"]`, 'aria-pressed')) === 'true', `${question} is not marked`);
    told.add(await sentence());
  }
  expect(told.size === questions.length, 'different questions have the same answer');

  // Both worlds, for real, and time.
  await page.waitForTimeout(800);
  expect((await page.$$('#scenes figure')).length === 2, 'two drawings');
  await page.click('#check');
  await page.waitForFunction(() => document.querySelector('#verdict').textContent !== '');
  expect(/difference is .* the answer says/.test(await page.textContent('#verdict')), 'no verdict');
  expect((await page.$$('.line.real')).length > 0 && (await page.$$('#scenes figure')).length === 3, 'the true course is not drawn');
  await drag(page, '#time', 2);
  await page.click('#run');
  await page.waitForTimeout(1300);
  expect(Number(await page.inputValue('#time')) > 2, 'the time does not run');
  await page.click('#run');
  await check('checked');

  // The state: a slider, a value outside the data, back.
  await page.click('#state-part summary');
  const before = await sentence();
  const slider = '#state-sliders .control input[type="range"]';
  const [low, high] = await page.$eval(slider, (one) => [Number(one.min), Number(one.max)]);
  const asked = [];
  page.on('request', (request) => {
    if (request.url().endsWith('page/answer')) asked.push(request.postDataJSON());
  });
  for (let at = 0; at <= 20; at += 1) await drag(page, slider, low + ((high - low) * at) / 20);
  await settle();
  await page.waitForTimeout(800);
  const last = asked.at(-1).change;
  expect((await sentence()) !== before, 'the slider changes nothing');
  expect((await page.textContent('#answer h3')).includes('instead'), 'the newest question is not answered');
  const shown = await page.inputValue('#state-sliders .control input[type="number"]');
  expect(last?.includes(`=${Number(shown)}`), `the newest question (${shown}) is not the last asked (${last})`);
  expect(asked.length < 21, `all ${asked.length} positions of the slider were asked`);
  await page.fill('#state-sliders .control input[type="number"]', String(high + (high - low)));
  await page.keyboard.press('Tab');
  await settle();
  expect((await page.$$('.control.outside')).length === 1, 'a value outside the data is not marked');
  await check('state');
  await page.click('#state-sliders .control .back');
  await settle();
  expect((await page.$$('.control.outside, .control.changed')).length === 0, 'the value is not as it was');

  // A value that is impossible is refused in words.
  await page.goto(`${page.url().split('#')[0]}#view=ask&seed=0&step=6&if=nothing%3D1`);
  await settle();
  expect((await sentence()).includes('nothing'), 'an impossible question is not refused in words');
  await page.click('#reset');
  await settle();

  // Horizon, tau, rewards.
  await page.click('#how-part summary');
  for (const [selector, value, word] of [['#horizon', 8, 'horizon=8'], ['#tau', 0.3, 'tau=0.3']]) {
    await drag(page, selector, value);
    await settle();
    expect(page.url().includes(word), `the address has no ${word}`);
  }
  const boxes = await page.$$('#rewards input');
  if (boxes.length > 1) {
    await boxes[0].click();
    await settle();
    expect(page.url().includes('reward='), 'the address has no reward');
  }
  await page.click('#how-part summary');

  // The address brings the view back.
  await page.click(`[data-ask="${questions.at(-1)}"]`);
  await settle();
  const [here, words] = [page.url(), await sentence()];
  await page.goto('about:blank');
  await page.goto(here);
  await settle();
  expect((await sentence()) === words, 'the address does not bring the view back');

  // Saved and copied.
  expect((await saved(page, 'svg')).toString().startsWith('<svg'), 'SVG');
  expect((await saved(page, 'png')).subarray(1, 4).toString() === 'PNG', 'PNG');
  const markdown = (await saved(page, 'md')).toString();
  expect(markdown.includes(words) && markdown.includes('becausal explain'), 'Markdown');
  const html = (await saved(page, 'html')).toString();
  expect(html.includes('<svg') && !html.includes('<script'), 'HTML');
  const alone = await (await browser.newContext()).newPage();
  alone.on('console', (message) => problems.push(`saved page: ${message.text()}`));
  await alone.goto(`file://${path.join(folder, 'saved.html')}`);
  await alone.screenshot({ path: path.join(folder, 'saved.png'), fullPage: true });
  await alone.context().close();
  for (const [what, start] of [['command', 'becausal explain '], ['python', 'run = becausal.open('], ['address', 'http://127.0.0.1:']]) {
    await page.click(`[data-copy="${what}"]`);
    await page.waitForTimeout(100);
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied.startsWith(start), `copied as ${what}: ${copied}`);
  }

  // The command prints the same sentence.
  const command = await page.textContent('#command');
  const printed = await new Promise((resolve) => {
    let text = '';
    const child = spawn('bash', ['-c', `${command.replace(/^becausal/, program)} --json`]);
    child.stdout.on('data', (part) => { text += part; });
    child.on('exit', () => resolve(text));
  });
  expect(printed && JSON.parse(printed).sentence === words, `the command says something else: ${command}`);

  // Another episode.
  await page.fill('#number', '4');
  await page.keyboard.press('Enter');
  await settle();
  expect(page.url().includes('seed=4'), 'another seed');
  await page.selectOption('#source', 'recorded');
  await settle();
  expect(page.url().includes('episode=4'), 'a recorded episode');

  // Play: by hand with keys, as the policy would, take back, ask.
  await page.click('[data-view="play"]');
  await page.waitForSelector('#play-state:not(:empty)');
  await page.click('#play-new');
  await page.waitForTimeout(300);
  for (const key of ['1', '2', 'ArrowLeft', 'ArrowRight', 'p']) {
    await page.keyboard.press(key);
    await page.waitForTimeout(250);
  }
  expect((await page.textContent('#play-state')).startsWith('5 steps'), `played: ${await page.textContent('#play-state')}`);
  await page.click('#play-actions [data-do]');
  await page.waitForTimeout(250);
  await page.click('#play-undo');
  await page.waitForTimeout(250);
  expect((await page.textContent('#play-state')).startsWith('5 steps'), 'a step is not taken back');
  await check('play');
  await page.click('#play-ask');
  await settle();
  expect(page.url().includes('hand=') && page.url().includes('step=4'), 'the last step is not asked about');
  expect((await page.textContent('#answer h3')).includes('step 4'), 'no answer about the step by hand');
  await page.click('[data-view="play"]');
  await page.fill('#play-seed', '2');
  await page.click('#play-policy');
  await settle();
  expect(page.url().includes('seed=2') && !page.url().includes('hand='), 'the policy does not play');

  // The map: an edge, a variable, by mouse and by keys.
  await page.click('[data-view="causes"]');
  await page.waitForSelector('.map .edge');
  await page.focus('.map .edge.edge');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#evidence circle');
  await page.waitForSelector('#evidence .bars, #evidence figure');
  expect(page.url().includes('pair='), 'the address has no pair');
  await page.waitForTimeout(1500);
  await check('causes');
  await page.click('.map .node');
  expect((await page.textContent('#evidence')).includes('Influences'), 'what a variable influences');
  await page.click('#graph-part summary');
  await page.waitForSelector('#graph-picture svg');
  await check('causes-table');

  // Decisions and trust.
  await page.click('[data-view="decisions"]');
  await page.waitForSelector('#decision-lists li a, #decision-lists p:not(.soft)', { timeout: 60_000 });
  await check('decisions');
  await page.click('[data-view="about"]');
  await page.waitForSelector('#trust-part table', { timeout: 60_000 });
  expect((await page.$$('#learning-part svg')).length > 0, 'no learning curves');
  await check('about');

  // Search, by key.
  await page.keyboard.press('/');
  const variable = await page.evaluate(async () => (await (await fetch('api/run')).json()).variables[0].name);
  await page.keyboard.type(variable);
  await page.waitForSelector('#found a');
  await check('search');
  await page.click('#found a');
  await page.waitForFunction(() => location.hash.includes('view=causes'));
  await close();
}

async function continuousRun(browser, address) {
  const { page, check, settle, sentence, close } = await opened(browser, 'continuous', address, { colorScheme: 'dark' });
  await settle();
  const before = await sentence();
  await drag(page, '#action-sliders input[type="range"]', 1);
  await settle();
  expect((await sentence()) !== before && (await page.textContent('#answer h3')).includes('not'), 'continuous: the slider asks nothing');
  await page.click('#check');
  await page.waitForFunction(() => document.querySelector('#verdict').textContent !== '');
  await check('ask');
  await page.click('#reset');
  await settle();
  expect((await sentence()) === before, 'continuous: not back to what happened');
  await page.click('[data-view="play"]');
  await page.waitForSelector('#play-scene svg');
  await page.click('#play-actions [data-do]');
  await page.waitForFunction(() => document.querySelector('#play-state').textContent.startsWith('1 step,'));
  await check('play');
  await page.click('[data-view="decisions"]');
  await page.waitForSelector('#decision-lists li a', { timeout: 60_000 });
  await check('decisions');
  await page.click('#decision-lists li a');
  await settle();
  expect(page.url().includes('not='), 'continuous: a decision does not lead to its question');
  await close();
}

async function logRun(browser, address) {
  const { page, check, settle, sentence, close } = await opened(browser, 'log', address, { viewport: { width: 390, height: 844 } });
  await settle();
  await check('phone');
  const questions = await page.$$eval('[data-ask]', (buttons) => buttons.map((button) => button.dataset.ask));
  await page.click(`[data-ask="${questions.at(-1)}"]`);
  await settle();
  expect(await page.isHidden('#check'), 'log: nothing can be checked for real');
  expect((await sentence()).length > 20, 'log: no answer');
  await check('phone-why-not');
  await page.click('[data-view="play"]');
  expect((await page.textContent('#play-hint')).includes('no environment'), 'log: it does not say that nobody can play');
  await page.click('[data-view="causes"]');
  await page.waitForSelector('.map .edge');
  await check('phone-causes');
  await page.click('[data-view="about"]');
  await page.waitForSelector('#trust-part table');
  await check('phone-about');
  await close();
}

async function wideRun(browser, address) {
  const { page, check, settle, close } = await opened(browser, 'wide', address);
  await settle();
  await check('ask');
  await page.click('#state-part summary');
  await page.fill('#state-filter', '17');
  expect((await page.$$('#state-sliders .control:not([hidden])')).length === 1, 'wide: the filter');
  await drag(page, '#state-sliders .control:not([hidden]) input[type="range"]', 1);
  await settle();
  await check('state');
  await page.click('[data-view="causes"]');
  await page.waitForSelector('.map .edge');
  await check('causes');
  await close();
}

// Raw requests, as no browser sends them.
function raw(port, bytes, read = true) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    if (read) socket.on('data', (part) => { text += part.toString('latin1'); });
    else socket.pause();
    socket.on('error', () => {});
    socket.on('close', () => resolve(Number(text.split(' ')[1] ?? 0)));
    if (!read) resolve(socket);
  });
}

const kilobytes = (child) => Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]);

async function probes({ address, child }) {
  const { port, pathname } = new URL(address);
  const host = `Host: 127.0.0.1:${port}`;
  const question = JSON.stringify({ episode: 0, step: 0 });
  const post = `POST ${pathname}api/why HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\nContent-Length: ${question.length}\r\n\r\n${question}`;
  const answer = async () => raw(port, post);
  expect((await answer()) === 200, 'no answer to a program');
  expect((await raw(port, `GET ${pathname}api/run HTTP/1.1\r\nHost: evil.example:${port}\r\n\r\n`)) === 403, 'another host is served');
  expect((await raw(port, `GET /api/run HTTP/1.1\r\n${host}\r\n\r\n`)) === 403, 'no token, and served');
  expect((await raw(port, `GET ${pathname}api/run HTTP/1.1\r\n${host}\r\nOrigin: http://evil.example\r\n\r\n`)) === 403, 'a foreign origin is served');
  expect((await raw(port, `GET ${pathname}../../etc/passwd HTTP/1.1\r\n${host}\r\n\r\n`)) === 404, 'a path leads somewhere');
  expect((await raw(port, `GET ${pathname}%2e%2e/etc/passwd HTTP/1.1\r\n${host}\r\n\r\n`)) === 404, 'an encoded path leads somewhere');
  const large = Buffer.concat([Buffer.from(`POST ${pathname}api/why HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\nContent-Length: ${10 << 20}\r\n\r\n`), Buffer.alloc(10 << 20, 32)]);
  // The first round fills what is kept; after it the memory has to stay.
  const round = async () => {
    const served = await Promise.all(Array.from({ length: 1000 }, answer));
    expect(served.every((status) => status === 200), `of 1,000 questions at once ${served.filter((status) => status !== 200).length} were not answered`);
    for (let at = 0; at < 5; at += 1) expect((await raw(port, large)) === 413, 'a body of 10 MB is not refused');
    const idle = await Promise.all(Array.from({ length: 30 }, () => raw(port, `GET ${pathname}view.js HTTP/1.1\r\n${host}\r\n\r\n`, false)));
    expect((await answer()) === 200, 'a client that never reads holds others up');
    for (const socket of idle) socket.destroy();
    return kilobytes(child);
  };
  const sizes = [];
  for (let at = 0; at < 3; at += 1) sizes.push(await round());
  console.log(`memory after each round of 1,000 questions at once: ${sizes.map((size) => `${Math.round(size / 1000)} MB`).join(', ')}`);
  expect(sizes[2] < sizes[0] * 1.15 + 10_000, `the memory grows: ${sizes.join(', ')} kB`);
}

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: flags });
  for (const [run, drive] of [[trained, trainedRun], [continuous, continuousRun], [log, logRun], [wide, wideRun]]) {
    const server = await view(run);
    console.log(`${run}: served after ${server.milliseconds} ms`);
    try {
      await drive(browser, server.address);
      if (drive === logRun) await probes(server);
    } catch (error) {
      problems.push(`${run}: ${error.stack}`);
    }
    expect((await ended(server.child)) === 0, `${run}: Ctrl-C does not end it well`);
  }
  await browser.close();
  for (const problem of [...new Set(problems)]) console.log(`problem: ${problem}`);
  console.log(problems.length ? 'the viewer has problems' : `the viewer is well; screenshots are in ${folder}`);
  process.exit(problems.length ? 1 : 0);
})();
