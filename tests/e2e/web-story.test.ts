import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, pictures, startSession, statusBadge, visit } from '../support/open-browser.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

let server: StartedServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test('a person starts, watches, answers, approves; closes the page in the middle and has lost nothing', async () => {
  const { context, page, problems } = await visit(browser, server.entrance);
  await page.getByRole('heading', { name: 'No sessions yet' }).waitFor();
  expect(new URL(page.url()).search).toBe('');

  const id = await startSession(page, 'demo', 'Move the login to key pairs');
  const timeline = page.getByRole('log', { name: 'Timeline' });
  await timeline.getByText('The login signs its tokens with a shared secret. Two services').waitFor();
  const choice = page.getByRole('region', { name: 'Choice, waits for your answer' });
  await choice.waitFor();
  expect(await choice.textContent()).toContain('Which algorithm should sign the tokens?');
  await page.waitForFunction(() => document.title.startsWith('●'));
  await page.screenshot({ path: `${pictures}/question-light.png` });

  // The tab goes while the question is open; another one finds everything as it was.
  await page.close();
  const second = await context.newPage();
  await second.goto(`${server.url}/`);
  const row = second.getByRole('listitem').filter({ hasText: 'Move the login to key pairs' });
  await row.getByText('Waiting for your answer').waitFor();
  await second.screenshot({ path: `${pictures}/list-light.png` });
  await row.getByRole('link').click();
  await second.getByRole('log').getByText('a key pair would be safer').waitFor();
  await second.getByRole('button', { name: 'RS256' }).click();
  await second.getByText('RS256 it is. I will generate a key pair.').waitFor();

  // And again, while nobody looks and the agent works on.
  await second.close();
  const third = await context.newPage();
  await third.goto(`${server.url}/sessions/${id}`);
  const approval = third.getByRole('region', { name: 'Approval, waits for your answer' });
  await approval.waitFor();
  expect(await approval.textContent()).toContain('Risk: high');
  // What was answered elsewhere is known here too.
  await third.locator('.settled', { hasText: 'RS256' }).waitFor();
  await approval.getByRole('button', { name: 'Approve' }).click();
  const result = third.getByRole('region', { name: 'Result of turn 1' });
  await result.waitFor();
  expect(await result.textContent()).toContain('Tokens are signed with RS256');
  await statusBadge(third, 'Idle').waitFor();
  expect(await third.getByText('Tokens are signed with RS256').count()).toBe(1);
  expect(await third.locator('.prompt').count()).toBe(1);
  expect(await third.title()).not.toContain('●');
  expect(problems).toEqual([]);
  await context.close();
}, 90_000);

test('two tabs see one session: an answer in one settles the card in the other', async () => {
  const { context, page } = await visit(browser, server.entrance);
  await startSession(page, 'demo', 'Two watchers');
  const other = await context.newPage();
  await other.goto(page.url());
  await other.getByRole('button', { name: 'HS256' }).waitFor();
  await page.getByRole('button', { name: 'HS256' }).click();
  const settled = other.locator('.settled');
  await settled.getByText('HS256').waitFor();
  expect(await other.getByRole('button', { name: 'HS256' }).count()).toBe(0);
  await other.getByText('Keeping the shared secret').waitFor();

  // An answer in one's own words, and an interrupt that withdraws the next question.
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await page.getByRole('button', { name: 'Interrupt' }).click();
  await other.locator('.settled', { hasText: 'Withdrawn: the turn was interrupted' }).waitFor();
  await statusBadge(other, 'Interrupted').waitFor();
  await context.close();
}, 90_000);

test('everything can be done without a mouse', async () => {
  const { context, page } = await visit(browser, server.entrance);
  await page.getByRole('radio', { name: 'demo' }).waitFor();
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard' });
  await help.waitFor();
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'detached' });

  await page.keyboard.press('n');
  await page.keyboard.type('By keyboard');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('in two lines');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'RS256' }).waitFor();
  expect(await page.locator('.prompt-text').textContent()).toBe('By keyboard\nin two lines');
  // Announced, but the focus is not taken from the person.
  expect(await page.getByTestId('announcer').textContent()).toContain('Which algorithm');
  await page.keyboard.press('2');
  expect(await page.locator('.settled').count()).toBe(0);
  await page.keyboard.press('a');
  await page.keyboard.press('2');
  await page.locator('.settled', { hasText: 'HS256' }).waitFor();

  await page.keyboard.press('c');
  await page.keyboard.type('yes, n and 1 are letters here');
  expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('yes, n and 1 are letters here');
  await page.keyboard.press('Alt+Enter');
  await page.getByRole('list', { name: 'Queued messages' }).getByText('are letters here').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await page.keyboard.press('a');
  await page.keyboard.press('n');
  await page.locator('.settled', { hasText: 'Denied' }).waitFor();
  await page.getByText('The old secret is still in config/production.json').waitFor();

  await page.keyboard.press('g');
  await page.getByRole('heading', { name: 'Sessions' }).waitFor();
  await page
    .getByRole('link', { name: /By keyboard/ })
    .first()
    .waitFor();
  // A list that has just come may be drawn once more.
  const chosen = async (): Promise<number> => {
    await page.keyboard.press('j');
    return await page.locator('.session-link:focus').count();
  };
  await expect.poll(chosen, { timeout: 20_000 }).toBe(1);
  await page.keyboard.press('Enter');
  await page.getByRole('log', { name: 'Timeline' }).waitFor();
  await context.close();
}, 90_000);

test('dark and narrow', async () => {
  const dark = await visit(browser, server.entrance, { colorScheme: 'dark' });
  await startSession(dark.page, 'demo', 'In the dark');
  await dark.page.getByRole('button', { name: 'RS256' }).waitFor();
  const background = () => dark.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const night = await background();
  await dark.page.screenshot({ path: `${pictures}/question-dark.png` });
  await dark.page.getByRole('button', { name: 'Theme: system' }).click();
  await dark.page.getByRole('button', { name: 'Theme: light' }).waitFor();
  expect(await background()).not.toBe(night);
  await dark.page.reload();
  await dark.page.getByRole('button', { name: 'Theme: light' }).waitFor();
  expect(await background()).not.toBe(night);
  await dark.context.close();

  const narrow = await visit(browser, server.entrance, { width: 390 });
  await narrow.page.getByRole('link', { name: /In the dark/ }).click();
  await narrow.page.getByRole('button', { name: 'RS256' }).waitFor();
  const overflow = () => narrow.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(await overflow()).toBeLessThanOrEqual(0);
  await narrow.page.screenshot({ path: `${pictures}/question-narrow.png` });
  await narrow.context.close();
}, 90_000);
