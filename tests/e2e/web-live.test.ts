import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, statusBadge, visit } from '../support/open-browser.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';

let folder: string;
let puppets: PuppetServer;
let browser: Browser;

const start = async (port = '0'): Promise<void> => {
  const store = `sqlite:${join(folder, 'live.db')}`;
  puppets = await startPuppetServer({ folder, args: ['--store', store, '--port', port] });
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-live-'));
  [, browser] = await Promise.all([start(), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await puppets?.close();
  await rm(folder, { recursive: true, force: true });
});

const asking = steps({ ask: { type: 'question', id: 'q', question: 'Which database?' } }, { tell: 'answer' });
const row = (page: Page, title: string) => page.locator('.session-row', { hasText: title });
const badge = (page: Page, title: string, status: string) => row(page, title).locator('.badge', { hasText: status });

test('17.3 17.9 one stream for all tabs, no polling; tabs agree, over a restart of the server and the end of a tab', async () => {
  const { context, page: first, problems } = await visit(browser, puppets.server.entrance);
  const isRead = (page: Page) => page.locator('.session-groups[aria-busy=false]').waitFor({ state: 'attached' });
  const calls: string[] = [];
  await isRead(first);
  const second = await context.newPage();
  second.on('request', (request) => calls.push(request.url().slice(puppets.server.url.length)));
  await second.goto(puppets.server.url);
  await isRead(second);

  const title = `Migration ${Date.now()}`;
  const lists = () => calls.filter((call) => call.startsWith('/api/sessions?')).length;
  const before = lists();
  const { id } = await puppets.api.start({ agent: 'able', title, prompt: asking });
  for (const page of [first, second]) {
    await row(page, title).getByText('Which database?').waitFor();
    await page.getByRole('link', { name: '1 waiting' }).waitFor();
  }
  expect(lists()).toBe(before);
  // The other tab watches for both.
  expect(calls.filter((call) => call.startsWith('/api/events'))).toEqual([]);

  // One tab answers; the other, which shows the list, hears of it.
  await second.goto(`${puppets.server.url}/sessions/${id}`);
  await second.getByText('Answers: Which database?').waitFor();
  await second.getByLabel('Message', { exact: true }).fill('the old one');
  await second.keyboard.press('Enter');
  await statusBadge(second, 'Idle').waitFor();
  await badge(first, title, 'Idle').waitFor();

  const port = String(puppets.server.port);
  await puppets.server.kill();
  await first.getByText('The server cannot be reached').waitFor();
  await start(port);
  await first.getByText('The server cannot be reached').waitFor({ state: 'detached' });
  await puppets.api.post(`/api/sessions/${id}/messages`, { content: asking });
  await row(first, title).getByText('Which database?').waitFor();
  await second.getByText('Answers: Which database?').waitFor();

  // Whichever tab held the stream: the one that is left goes on.
  await first.close();
  await second.goto(puppets.server.url);
  await row(second, title).getByText('Which database?').waitFor();
  await puppets.api.post(`/api/sessions/${id}/cancel`);
  await badge(second, title, 'Cancelled').waitFor();
  expect(problems).toEqual([]);
  await context.close();
}, 120_000);
