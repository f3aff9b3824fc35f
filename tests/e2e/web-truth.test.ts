import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, statusBadge, type Visit, visit } from '../support/open-browser.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';
import { runConcerto } from '../support/run-concerto.ts';

let puppets: PuppetServer;
let browser: Browser;
let folder: string;

const program =
  '[project]\nname = "truth"\nversion = "0.1.0"\nentry = "src/teller.conc"\n[programs.teller]\nentry = "src/teller.conc"\n';
const teller = 'fn main() {\n    emit("progress", "Counting the files");\n}\n';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-truth-'));
  await mkdir(join(folder, 'src'));
  await writeFile(join(folder, 'src/teller.conc'), teller);
  [puppets, browser] = await Promise.all([startPuppetServer({ folder, manifest: program }), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await puppets?.close();
  await rm(folder, { recursive: true, force: true });
});

const approval = { type: 'approval', id: 'a1', description: 'Rename the module by hand', risk_level: 'medium' };
const question = { type: 'question', id: 'q1', question: 'Which of the two tables is the one that people read?' };

/** A session that plays the steps, and a signed-in tab that looks at it. */
async function look(
  prompt: string,
  { agent = 'able', width }: { agent?: string; width?: number } = {},
): Promise<Visit & { id: string }> {
  const { id } = await puppets.api.start({ agent, prompt, title: 'Truth in the small' });
  const seen = await visit(browser, puppets.server.entrance, width === undefined ? {} : { width });
  await seen.page.goto(`${puppets.server.url}/sessions/${id}`);
  await seen.page.getByRole('log', { name: 'Timeline' }).waitFor();
  return { ...seen, id };
}

const field = (page: Page) => page.getByLabel('Message', { exact: true });

test('10.6 a refusal with a reason is no green tick, and says the same after a reload', async () => {
  const { context, page } = await look(steps({ ask: approval }, { tell: 'answer' }));
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await field(page).fill('no, use git mv');
  await page.getByRole('button', { name: 'Deny with this reason' }).waitFor();
  await page.keyboard.press('Enter');
  const note = page.locator('.settled');
  await note.getByText('Denied: use git mv').waitFor();
  expect(await note.getAttribute('data-answer')).toBe('no');
  const before = await note.textContent();
  await page.reload();
  await note.getByText('Denied: use git mv').waitFor();
  expect(await note.textContent()).toBe(before);
  expect(await note.getAttribute('data-answer')).toBe('no');
  // The agent heard the no and the reason.
  await page.getByRole('region', { name: 'Result of turn 1' }).getByText('use git mv').waitFor();
  await context.close();
}, 60_000);

test('16.3 what was allowed for the session is allowed by its rule the next time, and the page says so', async () => {
  const run = { ...approval, description: 'Run the tests', tool: 'Bash', command: 'npm test' };
  const { context, page, id } = await look(steps({ ask: run }, { ask: { ...run, id: 'a2' } }, { tell: 'answer' }));
  await page.getByRole('button', { name: 'Allow for this session' }).click();
  await page.getByRole('region', { name: 'Result of turn 1' }).waitFor();
  expect(await page.locator('.settled').count()).toBe(2);
  const settled = (await puppets.api.untilStatus(id, 'idle')).filter((event) => event.type === 'requestSettled');
  expect(settled.map(({ by }) => by)).toEqual(['user:owner', 'rule:session.1']);
  await context.close();
}, 60_000);

test('10.6 a failed turn is not a grey Idle, on the session and in the list', async () => {
  const { context, page } = await look(steps({ say: { type: 'error', message: 'The build server is gone' } }));
  await statusBadge(page, 'Idle, turn failed').waitFor();
  expect(await statusBadge(page, 'Idle').getAttribute('data-tone')).toBe('bad');
  await page.keyboard.press('g');
  const row = page.getByRole('listitem').filter({ hasText: 'The build server is gone' });
  expect(await row.locator('.badge').getAttribute('data-tone')).toBe('bad');
  await context.close();
}, 60_000);

test('10.6 a cancelled message shows when it was cancelled', async () => {
  const { context, page, id } = await look(steps({ hang: true }));
  const { body: sent } = await puppets.api.post(`/api/sessions/${id}/messages`, { content: 'never mind' });
  await new Promise((resolve) => setTimeout(resolve, 30));
  await puppets.api.call('DELETE', `/api/sessions/${id}/messages/${sent.id}`);
  await page.getByText('History').click();
  const entry = page.getByRole('list', { name: 'Settled messages' }).getByRole('listitem');
  const shown = await entry.filter({ hasText: 'never mind' }).locator('time').getAttribute('datetime');
  expect(Date.parse(shown ?? '')).toBeGreaterThan(Date.parse(sent.createdAt));
  await context.close();
}, 60_000);

test('10.7 what is typed while a question is open answers it and says so; queueing stays possible', async () => {
  const { context, page } = await look(steps({ ask: question }, { tell: 'answer' }));
  await page.getByText('Answers: Which of the two tables').waitFor();
  await field(page).fill('later: add an index');
  await page.keyboard.press('Alt+Enter');
  await page.getByRole('list', { name: 'Queued messages' }).getByText('later: add an index').waitFor();
  expect(await page.locator('.settled').count()).toBe(0);
  await field(page).fill('the second one');
  await page.keyboard.press('Enter');
  await page.locator('.settled', { hasText: 'the second one' }).waitFor();
  await page.getByRole('region', { name: 'Result of turn 1' }).getByText('the second one').waitFor();
  // With nothing open, the composer is the queue's again, and what was queued has become a turn.
  await page.getByText('did: later: add an index').waitFor();
  expect(await page.getByText('Answers:').count()).toBe(0);
  await context.close();
}, 60_000);

test('10.18 at 360 px every control is on screen while interrupted, and a row shows its question whole', async () => {
  const { context, page, id } = await look(steps({ hang: true }), { width: 360 });
  await page.getByRole('button', { name: 'Interrupt' }).click();
  await statusBadge(page, 'Interrupted').waitFor();
  for (const name of ['Interrupt', 'Pause', 'Go on', 'Cancel']) {
    const box = await page.getByRole('button', { name, exact: true }).boundingBox();
    expect(box === null ? 999 : box.x + box.width).toBeLessThanOrEqual(360);
  }
  const other = await puppets.api.start({ agent: 'puppet', prompt: steps({ ask: question }), title: 'Asks' });
  await puppets.api.untilStatus(other.id, 'waitingForInput');
  await page.goto(`${puppets.server.url}/`);
  const note = page.getByRole('listitem').filter({ hasText: 'Asks' }).locator('.row-note');
  await note.getByText('Which of the two tables').waitFor();
  expect(await note.evaluate((it) => it.scrollWidth - it.clientWidth)).toBeLessThanOrEqual(0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await puppets.api.post(`/api/sessions/${id}/cancel`);
  await context.close();
}, 60_000);

test('12.5 a message with wrong fields: page and terminal say what is wrong and who shows how it should look', async () => {
  const wrong = { type: 'plan', entries: 'all of them' };
  const { context, page, id } = await look(steps({ say: wrong }, { say: { type: 'result', text: 'Done' } }));
  const log = page.getByRole('log', { name: 'Timeline' });
  for (const part of ['`plan` message', 'entries', 'concerto doctor able']) await log.getByText(part).first().waitFor();
  await context.close();
  await puppets.api.post(`/api/sessions/${id}/cancel`);
  const { url, token } = puppets.server;
  const { out } = await runConcerto(['sessions', 'attach', id, '--url', url, '--token', token]).ended;
  expect(out).toMatch(/`plan` message: .*entries.*`concerto doctor able` shows how it should look/);
}, 60_000);

test('10.4 a text that a program emits as progress can be read', async () => {
  const { id } = await puppets.api.start({ program: 'teller' });
  const { context, page } = await visit(browser, puppets.server.entrance);
  await page.goto(`${puppets.server.url}/sessions/${id}`);
  await page.getByRole('log').getByText('Counting the files').waitFor();
  await context.close();
}, 60_000);
