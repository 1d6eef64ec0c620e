// Drives a report, or the page of `becausal-paper examples`, in headless Chromium. Arguments: the page, the folder for screenshots.
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { chromium } = require('playwright-core');

const [page_file, folder] = process.argv.slice(2);
const address = pathToFileURL(page_file).href;
const problems = [];
const expect = (holds, words) => {
  if (!holds) problems.push(words);
};

const flags = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];
const screens = [
  { name: 'light', width: 1280, height: 900, colorScheme: 'light' },
  { name: 'dark', width: 1280, height: 900, colorScheme: 'dark' },
  { name: 'phone', width: 390, height: 844, colorScheme: 'light' },
];

// Runs in the page: boxes that stick out of the window, and neighbours that lie over each other.
function misplaced() {
  const found = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) found.push(`the page is ${document.documentElement.scrollWidth} wide`);
  const scrolls = (element) => element.closest('.picture, .scroll, .timeline, pre, .unseen, .skip');
  const boxes = [...document.querySelectorAll('body *')].filter((element) => !scrolls(element) && element.getClientRects().length);
  for (const element of boxes) {
    const box = element.getBoundingClientRect();
    if (box.width && (box.left < -1 || box.right > width + 1)) found.push(`<${element.tagName} ${element.className}> sticks out`);
  }
  const groups = [...document.querySelectorAll('main, section, header, article, #moment, .facts, .questions, .happened, .happened ul, .step, .timeline, .beside, .published, .measured')];
  for (const group of groups) {
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
  return found;
}

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: flags });
  for (const { name, width, height, colorScheme } of screens) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' });
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(`${name}: console: ${message.text()}`);
    });
    page.on('pageerror', (error) => problems.push(`${name}: ${error.message}`));
    page.on('request', (request) => {
      if (!request.url().startsWith('file:')) problems.push(`${name}: asks the network for ${request.url()}`);
    });
    await page.goto(address);
    const current = () => page.evaluate(() => document.querySelector('[aria-current]')?.dataset.go);
    const asked = () => page.evaluate(() => document.querySelector('[aria-pressed="true"]')?.dataset.ask);
    const sentence = () => page.textContent('#answer .answer');
    const check = async (where) => {
      for (const words of await page.evaluate(misplaced)) problems.push(`${name}, ${where}: ${words}`);
    };
    await check('opening');
    await page.screenshot({ path: path.join(folder, `${name}.png`) });
    await page.screenshot({ path: path.join(folder, `${name}-all.png`), fullPage: true });
    if (!(await page.$('#timeline'))) {
      // A page that only tells: there is nothing to press.
      await page.close();
      continue;
    }
    const opening = await current();
    expect(opening !== undefined, `${name}: no step is chosen`);

    const steps = await page.evaluate(() => [...document.querySelectorAll('[data-go]')].map((button) => button.dataset.go));
    await page.evaluate(() => { location.hash = ''; });
    await page.click(`[data-go="${steps[0]}"]`);
    await page.keyboard.press('ArrowLeft');
    expect((await current()) === steps[0], `${name}: left of the first step`);
    for (const step of steps.slice(1)) {
      await page.keyboard.press('ArrowRight');
      expect((await current()) === step, `${name}: the arrow leads to ${await current()}, not ${step}`);
    }
    expect(page.url().includes(`#step=${steps.at(-1)}`), `${name}: the address does not keep the step: ${page.url()}`);

    await page.click(`[data-go="${opening}"]`);
    const questions = await page.evaluate(() => [...document.querySelectorAll('[data-ask]')].map((button) => button.dataset.ask));
    expect(questions.length > 1, `${name}: no why-not can be asked`);
    const told = new Set();
    for (const [place, question] of questions.entries()) {
      await page.locator('[data-ask]').nth(place).click();
      expect((await asked()) === question, `${name}: asked ${question}, shown ${await asked()}`);
      told.add(await sentence());
      await check(`question ${question}`);
    }
    expect(told.size === questions.length, `${name}: different questions have the same answer`);
    const [address_now, before] = [page.url(), await sentence()];
    await page.goto('about:blank');
    await page.goto(address_now);
    expect((await sentence()) === before, `${name}: the address does not bring the view back`);
    for (const summary of await page.locator('summary').all()) await summary.click();
    await check('details open');
    await page.screenshot({ path: path.join(folder, `${name}-why-not.png`), fullPage: true });
    await page.close();
  }
  await browser.close();
  for (const problem of [...new Set(problems)]) console.log(`problem: ${problem}`);
  console.log(problems.length ? 'the page has problems' : `the page is well; screenshots are in ${folder}`);
  process.exit(problems.length ? 1 : 0);
})();
