import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, type Visit, visit } from '../support/open-browser.ts';
import { accessFaults } from '../support/page-faults.ts';
import { type PuppetServer, startRoomyPuppetServer, steps } from '../support/puppets.ts';

let puppets: PuppetServer;
let browser: Browser;

beforeAll(async () => {
  [puppets, browser] = await Promise.all([startRoomyPuppetServer(), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await puppets?.close();
});

async function look(start: object): Promise<Visit & { id: string }> {
  const { id } = await puppets.api.start(start);
  const seen = await visit(browser, puppets.server.entrance);
  await seen.page.goto(`${puppets.server.url}/sessions/${id}`);
  await seen.page.getByRole('log', { name: 'Timeline' }).waitFor();
  return { ...seen, id };
}

const command = (id: string) => ({
  say: { type: 'approval', id, description: `Run ${id}`, tool: 'Bash', kind: 'execute', command: `make ${id}` },
});
const words = { say: { type: 'message', text: 'A paragraph that is there to be read.\n\n'.repeat(60) } };
const cardOf = (page: Page, id: string) => page.locator('.request', { hasText: `Run ${id}` });
const approve = (card: Locator) => card.getByRole('button', { name: 'Approve' });

/** What a press there would hit. */
async function requestAt(
  page: Page,
  { x, y }: { readonly x: number; readonly y: number },
): Promise<string | undefined> {
  return await page.evaluate(
    ([left, top]) =>
      document
        .elementFromPoint(left ?? 0, top ?? 0)
        ?.closest('.request')
        ?.querySelector('.request-question')?.textContent ?? undefined,
    [x, y],
  );
}

test('what is asked stays under the pointer when more is asked; answered, it leads to the next', async () => {
  const gate = puppets.gate();
  const more = ['two', 'three', 'four'].map(command);
  const { context, page, problems } = await look({
    agent: 'able',
    prompt: steps(words, command('one'), { until: gate.path }, ...more, words, { collect: 4 }, { tell: 'answers' }),
  });
  await approve(cardOf(page, 'one')).hover();
  const box = await approve(cardOf(page, 'one')).boundingBox();
  const at = { x: (box?.x ?? 0) + 9, y: (box?.y ?? 0) + 9 };
  expect(await requestAt(page, at)).toBe('Run one');
  await gate.open();
  await cardOf(page, 'four').waitFor();
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
  expect(await requestAt(page, at)).toBe('Run one');
  // Each is named by what it asks.
  await page.getByRole('region', { name: 'Approval, waits for your answer: Run three' }).waitFor();
  expect(await accessFaults(page)).toEqual([]);

  // Whoever comes now sees what waits longest.
  await page.reload();
  await cardOf(page, 'four').waitFor();
  const isInSight = () =>
    cardOf(page, 'one').evaluate((card) => {
      const log = card.closest('[role=log]')?.getBoundingClientRect();
      const { top, bottom } = card.getBoundingClientRect();
      return log !== undefined && top >= log.top - 1 && bottom <= log.bottom + 1;
    });
  await expect.poll(isInSight).toBe(true);
  await page.getByRole('log').evaluate((log) => {
    log.scrollTop = 0;
  });
  await page.getByRole('button', { name: 'A question waits for you' }).click();
  await expect.poll(isInSight).toBe(true);
  await approve(cardOf(page, 'one')).click();
  await cardOf(page, 'one').getByText('Approved').waitFor();
  await expect
    .poll(async () => {
      const next = await approve(cardOf(page, 'two')).boundingBox();
      const field = await page.getByRole('textbox', { name: 'Message' }).boundingBox();
      return next !== null && field !== null && next.y + next.height < field.y;
    })
    .toBe(true);
  expect(problems).toEqual([]);
  await context.close();
}, 60_000);

test('the second half of a double click is no answer to the next card', async () => {
  const { context, page, id } = await look({
    agent: 'able',
    prompt: steps(command('one'), command('two'), { collect: 2 }, { tell: 'answers' }),
  });
  await cardOf(page, 'two').waitFor();
  await approve(cardOf(page, 'one')).click();
  await cardOf(page, 'one').getByText('Approved').waitFor();
  const press = (detail: number) =>
    approve(cardOf(page, 'two')).evaluate((button, count) => {
      button.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, detail: count }));
    }, detail);
  await press(2);
  const { body } = await puppets.api.get(`/api/sessions/${id}/requests`);
  expect(body.requests).toHaveLength(1);
  await press(1);
  await puppets.api.untilStatus(id, 'idle');
  await context.close();
}, 60_000);

test('who reads what is further up is not moved by what folds itself together above', async () => {
  const gate = puppets.gate();
  const output = Array.from({ length: 40 }, (_, line) => `line ${line}\n`).join('');
  const { context, page, id } = await look({
    agent: 'able',
    prompt: steps(
      { say: { type: 'tool_call', id: 't', name: 'Bash', kind: 'execute', args: { command: 'make' } } },
      { say: { type: 'tool_output', id: 't', text: output } },
      words,
      { until: gate.path },
      { say: { type: 'tool_result', id: 't', content: 'ok' } },
      { hang: true },
    ),
  });
  const paragraph = page.locator('.said p').nth(30);
  await paragraph.waitFor();
  await page.locator('.tool[open] .terminal').waitFor();
  await page.getByRole('log').evaluate((log) => {
    log.scrollTop = log.scrollHeight / 2;
  });
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
  const top = () => paragraph.evaluate((it) => Math.round(it.getBoundingClientRect().top));
  const before = await top();
  await gate.open();
  await page.locator('.tool:not([open])').waitFor({ state: 'attached' });
  expect(Math.abs((await top()) - before)).toBeLessThanOrEqual(1);
  await puppets.api.post(`/api/sessions/${id}/cancel`);
  await context.close();
}, 60_000);

test('what was begun is still there after a reload: an answer on its card, and the prompt of a start with its agent', async () => {
  const question = { type: 'question', id: 'q', question: 'Which of them?', options: ['This', 'That'] };
  const { context, page, id } = await look({ agent: 'able', title: 'Asks', prompt: steps({ ask: question }) });
  const answer = page.getByLabel('Something else');
  await answer.fill('neither, but');
  await page.reload();
  await expect.poll(() => answer.inputValue()).toBe('neither, but');
  await page.goto(`${puppets.server.url}/`);
  await page.getByRole('radio', { name: 'able', exact: true }).check();
  await page.getByLabel('Prompt').fill('Do what is');
  await page.getByRole('link', { name: 'Asks' }).click();
  await answer.fill('');
  await page.getByRole('button', { name: 'This' }).click();
  await page.goBack();
  expect(await page.getByLabel('Prompt').inputValue()).toBe('Do what is');
  await page.reload();
  expect(await page.getByLabel('Prompt').inputValue()).toBe('Do what is');
  expect(await page.getByRole('radio', { name: 'able', exact: true }).isChecked()).toBe(true);
  await page.getByLabel('Prompt').press('Enter');
  await page.getByRole('log', { name: 'Timeline' }).waitFor();
  await page.goBack();
  expect(await page.getByLabel('Prompt').inputValue()).toBe('');
  await puppets.api.post(`/api/sessions/${id}/cancel`);
  await context.close();
}, 60_000);

test('the keys of a card lead there first, and never away; `a` goes from one to the next', async () => {
  const { context, page, id } = await look({
    agent: 'able',
    prompt: steps(command('one'), command('two'), { collect: 2 }, { tell: 'answers' }),
  });
  const open = async () => (await puppets.api.get(`/api/sessions/${id}/requests`)).body.requests.length;
  const hasFocus = (card: Locator) => card.evaluate((it) => it.contains(document.activeElement));
  await cardOf(page, 'two').waitFor();
  for (const key of ['s', 'n', 'y', 'y']) {
    await page.locator('main').focus();
    await page.keyboard.press(key);
    await expect.poll(() => hasFocus(cardOf(page, 'one'))).toBe(true);
  }
  // Held down it is no answer either.
  await page.keyboard.down('y');
  await cardOf(page, 'one').getByText('Approved').waitFor();
  await page.keyboard.down('y');
  await page.keyboard.down('y');
  await page.keyboard.up('y');
  expect(await open()).toBe(1);
  await page.keyboard.press('a');
  await expect.poll(() => hasFocus(cardOf(page, 'two'))).toBe(true);
  await page.keyboard.press('n');
  await puppets.api.untilStatus(id, 'idle');
  expect(page.url()).toContain(id);
  await context.close();
}, 60_000);

test('what would always be allowed is shown before it is; another key leaves it', async () => {
  const call = { type: 'approval', id: 'a', description: 'Delete a repository', tool: 'delete', server: 'github' };
  const { context, page, id } = await look({
    agent: 'able',
    prompt: steps({ ask: command('one').say }, { ask: call }, { tell: 'answer' }),
  });
  const rules = async () => (await puppets.api.get('/api/rules')).body.rules;
  const preview = page.locator('.rule-preview');
  await cardOf(page, 'one').waitFor();
  await page.keyboard.press('a');
  await page.keyboard.press('l');
  await preview.getByText('tool = Bash, command = make one').waitFor();
  expect(await accessFaults(page)).toEqual([]);
  expect(await rules()).toEqual([]);
  await page.keyboard.press('Escape');
  await preview.waitFor({ state: 'detached' });
  await page.keyboard.press('y');
  await page.getByRole('region', { name: 'Delete a repository' }).waitFor();
  await page.getByRole('button', { name: 'Always allow this' }).click();
  await preview.getByText('tool = delete, server = github, whatever it is given').waitFor();
  await page.keyboard.press('Enter');
  await puppets.api.untilStatus(id, 'idle');
  expect(await rules()).toMatchObject([{ agent: 'able', tool: 'delete', server: 'github', decide: 'allow' }]);
  await context.close();
}, 60_000);

test('a budget that is used up ends a session for good only when asked twice', async () => {
  const spend = { say: { type: 'usage', input_tokens: 90, output_tokens: 30 } };
  const { context, page, id } = await look({
    agent: 'able',
    prompt: steps(spend, { say: { type: 'result', text: 'Spent.' } }),
    budget: { tokens: 100 },
  });
  await page.getByRole('button', { name: 'Stop the session' }).waitFor();
  await page.keyboard.press('a');
  await page.keyboard.press('n');
  await page.getByRole('button', { name: 'End it for good?' }).waitFor();
  expect((await puppets.api.get(`/api/sessions/${id}`)).body.status).toBe('paused');
  await page.waitForTimeout(400);
  await page.keyboard.press('n');
  await puppets.api.untilStatus(id, 'cancelled');
  await context.close();
}, 60_000);

test('a page whose code cannot be had says so, and leaves the others', async () => {
  const { context, page } = await look({ agent: 'able', title: 'Rests', prompt: steps({ tell: 'prompt' }) });
  await page.route(/assets\/insight/, (route) => route.abort());
  await page.keyboard.press('u');
  await page.getByRole('heading', { name: 'This page cannot be shown' }).waitFor();
  expect(await accessFaults(page)).toEqual([]);
  await page.keyboard.press('g');
  await page.getByRole('link', { name: 'Rests' }).first().waitFor();
  await page.unroute(/assets\/insight/);
  await page.keyboard.press('u');
  await page.getByRole('button', { name: 'Load it again' }).click();
  await page.getByRole('heading', { name: 'Insight' }).waitFor();
  await context.close();
}, 60_000);
