import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, pictures, startSession, statusBadge, visit } from '../support/open-browser.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

const rounds = 4000;
const patience = { timeout: 20_000 };

/** Three lines a round, all at once: none of them can be folded into the one before. */
const flood = `
import { createInterface } from 'node:readline';
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
createInterface({ input: process.stdin }).on('line', () => {
  for (let n = 1; n <= ${rounds}; n++) {
    say({ type: 'partial', message: 'm' + n, text: 'Paragraph ' + n + ' with **some** words in it.\\n' });
    say({ type: 'log', level: 'info', message: 'line ' + n });
    say({ type: 'diff', file: 'src/file-' + n + '.ts', added: n });
  }
  say({ type: 'result', text: 'The end.' });
});
`;

let folder: string;
let server: StartedServer;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-flood-'));
  await writeFile(join(folder, 'flood.mjs'), flood);
  await writeFile(
    join(folder, 'Concerto.toml'),
    `[agents.flood]\ntransport = "stdio"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["flood.mjs"]\n`,
  );
  [server, browser] = await Promise.all([startServer({ folder }), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

test(`${rounds * 3} messages at once: the page keeps up, lays out only a part, and shows the rest on demand`, async () => {
  const { context, page, problems } = await visit(browser, server.entrance);
  await startSession(page, 'flood', 'Say a lot');
  await page.getByRole('region', { name: 'Result of turn 1' }).waitFor({ timeout: 60_000 });
  await statusBadge(page, 'Idle').waitFor();
  const laidOut = () => page.locator('.timeline-inner > *').count();
  expect(await laidOut()).toBeLessThan(500);
  const isAtEnd = () =>
    page.getByRole('log').evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight < 80);
  expect(await isAtEnd()).toBe(true);

  // A reload replays all of it and ends in the same place.
  await page.reload();
  await page.getByRole('region', { name: 'Result of turn 1' }).waitFor({ timeout: 60_000 });
  await expect.poll(isAtEnd, patience).toBe(true);
  expect(await laidOut()).toBeLessThan(500);

  // Going up stops the following; what appears above leaves the reader where they were.
  await page.getByRole('log').evaluate((log) => {
    log.scrollTop = 0;
  });
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
  const before = await page.locator('.said').first().textContent();
  const top = () =>
    page
      .locator('.said', { hasText: before?.slice(0, 15) ?? '' })
      .first()
      .evaluate((it) => it.getBoundingClientRect().top);
  const place = await top();
  await page.getByRole('button', { name: /Show earlier/ }).click();
  await expect.poll(() => page.locator('.said').first().textContent(), patience).not.toBe(before);
  expect(Math.abs((await top()) - place)).toBeLessThan(60);
  await page.screenshot({ path: `${pictures}/long-light.png` });
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await expect.poll(isAtEnd, patience).toBe(true);
  expect(problems).toEqual([]);
  await context.close();
}, 180_000);

test('17.9 the end of a long session is shown before all of it is read, and then all of it is there', async () => {
  const { context, page, problems } = await visit(browser, server.entrance);
  const id = await startSession(page, 'flood', 'Say a lot again');
  await page.getByRole('region', { name: 'Result of turn 1' }).waitFor({ timeout: 60_000 });
  // All of it is held back; only its end gets through.
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/events?after=0', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${server.url}/sessions/${id}`);
  await page.locator('.said', { hasText: 'The end.' }).waitFor();
  await page.getByText(/Reading [\d,]+ earlier events/).waitFor();
  release();
  await page.getByRole('button', { name: /Show earlier/ }).waitFor({ timeout: 60_000 });
  await page.getByText(/Reading [\d,]+ earlier events/).waitFor({ state: 'detached' });
  expect(problems).toEqual([]);
  await context.close();
}, 120_000);
