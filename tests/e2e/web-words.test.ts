import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, statusBadge, visit } from '../support/open-browser.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';

const word = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'.repeat(3);
const arabic = 'مرحبا بالعالم، هذا نص باللغة العربية';

let puppets: PuppetServer;
let browser: Browser;

beforeAll(async () => {
  [puppets, browser] = await Promise.all([startPuppetServer(), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await puppets?.close();
});

/** How far the things in a card stand out of it, in pixels. */
async function standsOut(page: Page, card: string, inner: string): Promise<number> {
  return await page.locator(card).evaluate((element, within) => {
    const { right } = element.getBoundingClientRect();
    const parts = [...element.querySelectorAll(within)];
    return Math.max(...parts.map((part) => part.getBoundingClientRect().right - right));
  }, inner);
}

test.each([1280, 390])(
  'a long word in a choice or a call stays in its card, %d wide',
  async (width) => {
    const { id } = await puppets.api.start({
      agent: 'puppet',
      prompt: steps(
        { say: { type: 'tool_call', id: 't1', name: 'run', title: word } },
        { say: { type: 'tool_result', id: 't1', content: 'done', outcome: 'failed' } },
        { ask: { type: 'question', question: 'Which?', options: [word, 'b'] } },
      ),
    });
    const { context, page } = await visit(browser, puppets.server.entrance, { width });
    await page.goto(`${puppets.server.url}/sessions/${id}`);
    await statusBadge(page, 'Needs answer').waitFor();
    await page.locator('.button.choice').first().waitFor();
    expect(await standsOut(page, '.request', '.choice')).toBeLessThanOrEqual(0);
    expect(await standsOut(page, '.tool', '.tool-name, .tool-outcome, time')).toBeLessThanOrEqual(0);
    await context.close();
  },
  60_000,
);

test.each([1280, 390])(
  'only the timeline scrolls, however much is in it, %d wide',
  async (width) => {
    const added = Array.from({ length: 38 }, (_, line) => `+line ${line}`).join('\n');
    const patch = `--- /dev/null\n+++ b/x.ts\n@@ -0,0 +1,38 @@\n${added}\n`;
    const edit = (name: string) => ({ path: `${name}.ts`, kind: 'create', patch });
    const { id } = await puppets.api.start({
      agent: 'puppet',
      prompt: steps({
        ask: { type: 'approval', description: 'Write them', changes: ['a', 'b', 'c'].map(edit) },
      }),
    });
    const { context, page } = await visit(browser, puppets.server.entrance, { width });
    await page.goto(`${puppets.server.url}/sessions/${id}`);
    await page.getByText('line 37').first().waitFor();
    const beyond = () => page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight);
    expect(await beyond()).toBeLessThanOrEqual(0);
    const timeline = page.getByRole('log', { name: 'Timeline' });
    await timeline.evaluate((element) => element.scrollTo(0, 0));
    expect(await beyond()).toBeLessThanOrEqual(0);
    await context.close();
  },
  60_000,
);

test('the audit is as wide as a phone', async () => {
  const { id } = await puppets.api.start({ agent: 'puppet', prompt: `hello ${word}` });
  await puppets.api.untilStatus(id, 'idle');
  const { context, page } = await visit(browser, puppets.server.entrance, { width: 390 });
  await page.goto(`${puppets.server.url}/sessions/${id}`);
  await page.getByRole('button', { name: 'Inspect' }).click();
  await page.getByText('message-dispatched').waitFor();
  const beyond = await page.locator('.drawer .table-frame').evaluate((frame) => frame.scrollWidth - frame.clientWidth);
  expect(beyond).toBeLessThanOrEqual(0);
  await context.close();
}, 60_000);

test('a question in a script that is read from the right does not tear apart how long it waits', async () => {
  await puppets.api.start({ agent: 'puppet', prompt: steps({ ask: { type: 'question', question: arabic } }) });
  const { context, page } = await visit(browser, puppets.server.entrance);
  const note = page.locator('.row-note', { hasText: arabic });
  await note.waitFor();
  // Where each stands on the line: the question first, then the dot, then the time.
  const places = await note.evaluate((element, question) => {
    const left = (node: Node): number => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return range.getBoundingClientRect().left;
    };
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const texts: { text: string; left: number }[] = [];
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
      if ((node.textContent ?? '').trim() !== '') texts.push({ text: node.textContent ?? '', left: left(node) });
    const at = texts.findIndex(({ text }) => text.includes(question));
    return texts.slice(at).map((found) => found.left);
  }, arabic);
  expect(places.length).toBeGreaterThan(2);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  await context.close();
}, 60_000);
