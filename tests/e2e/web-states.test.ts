import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelSession, openBrowser, pictures, startSession, statusBadge, visit } from '../support/open-browser.ts';
import { accessFaults } from '../support/page-faults.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

const patience = { timeout: 20_000 };

let server: StartedServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

async function poolMax(max: number): Promise<void> {
  const response = await fetch(`${server.url}/api/pool`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ max }),
  });
  expect(response.status).toBe(200);
}

test('a full pool is told with its numbers, and one can wait for a slot', async () => {
  const { context, page } = await visit(browser, server.entrance);
  await poolMax(1);
  await startSession(page, 'slow', 'Takes the only slot');
  await page.getByText('Step 1 of 60').waitFor();
  await page.keyboard.press('g');
  await page.getByText('1 of 1 slots').waitFor();
  await page.getByRole('radio', { name: 'echo' }).check();
  await page.getByLabel('Prompt').fill('Me too');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('All slots are taken: 1 of 1 sessions run').waitFor();
  await page.screenshot({ path: `${pictures}/pool-full-light.png` });
  await page.getByRole('button', { name: 'Wait for a slot' }).click();
  await statusBadge(page, 'Waiting to start').waitFor();
  await page.getByText('Every slot of the pool is taken').waitFor();

  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.getByText('1 waiting', { exact: false }).first().waitFor();
  await page.getByRole('link', { name: /Takes the only slot/ }).click();
  await cancelSession(page);
  await statusBadge(page, 'Cancelled').waitFor();
  await page.getByRole('link', { name: 'All sessions', exact: true }).click();
  await page.getByRole('link', { name: /Me too/ }).click();
  await page.getByRole('region', { name: 'Result of turn 1' }).getByText('Me too').waitFor();
  // Made smaller than what runs: nobody is ended, and it is not said that two of one run.
  await poolMax(2);
  for (const prompt of ['First at work', 'Second at work']) {
    await page.goto(server.url);
    await startSession(page, 'slow', prompt);
    await page.getByText('Step 1 of 60').waitFor();
  }
  await poolMax(1);
  await page.goto(server.url);
  await page.getByText('2 still run, 1 slots').waitFor();
  for (const prompt of [/First at work/, /Second at work/]) {
    await page.goto(server.url);
    await page.getByRole('link', { name: prompt }).click();
    await cancelSession(page);
    await statusBadge(page, 'Cancelled').waitFor();
  }
  await poolMax(20);
  await context.close();
}, 120_000);

test('what an agent does wrong is shown where it happened, with the end of its stderr', async () => {
  const { context, page, problems } = await visit(browser, server.entrance);
  await startSession(page, 'flaky', 'Build it');
  await page.getByRole('region', { name: 'Error' }).getByText('The build server did not answer').waitFor();
  await statusBadge(page, 'Idle').waitFor();
  await page.getByLabel('Message', { exact: true }).fill('Again');
  await page.keyboard.press('Enter');
  const crash = page.getByRole('region', { name: 'Error' }).filter({ hasText: 'code 134' });
  await crash.getByText('fatal: out of memory while linking').waitFor();
  await statusBadge(page, 'Interrupted').waitFor();
  // Said once: neither the status nor the end repeats it.
  expect(await page.getByText('fatal: out of memory while linking').count()).toBe(1);
  await page.screenshot({ path: `${pictures}/error-light.png` });
  expect(problems).toEqual([]);
  await context.close();
}, 60_000);

test('a once session ends with its result, told once', async () => {
  const { context, page } = await visit(browser, server.entrance);
  await page.getByLabel('End with the first result').check();
  await startSession(page, 'echo', 'Only this');
  await statusBadge(page, 'Completed').waitFor();
  await page.getByText('This session is over').waitFor();
  expect(await page.getByRole('region', { name: /Result of turn/ }).count()).toBe(1);
  await context.close();
}, 60_000);

test('a session that is not there, an address that is none, a browser that is not signed in', async () => {
  const { context, page } = await visit(browser, server.entrance);
  await page.goto(`${server.url}/sessions/s_nowhere`);
  await page.getByRole('heading', { name: 'This session does not exist' }).waitFor();
  await page.goto(`${server.url}/somewhere/else`);
  await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
  await page.getByRole('link', { name: 'All sessions', exact: true }).click();
  await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
  await context.clearCookies();
  await page.getByLabel('Prompt').fill('Hello');
  await page.getByRole('button', { name: 'Start session' }).click();
  // The list may find out at the same time, and says so too.
  await page
    .getByRole('form', { name: 'New session' })
    .getByRole('alert')
    .getByText('This browser is not signed in')
    .waitFor();
  await page.reload();
  await page.getByText('This page needs a token').waitFor();
  await context.close();
}, 60_000);

test('who is not signed in signs in with the token, also on a phone, in either colour', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { context, page } = await visit(browser, `${server.url}/?token=no`, { width: 360, colorScheme });
    await page.getByRole('alert').getByText('not the one of this server').waitFor();
    expect(await accessFaults(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    await page.screenshot({ path: join(pictures, `sign-in-${colorScheme}.png`) });
    await page.goto(server.url);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByLabel('Token').fill(new URL(server.entrance).searchParams.get('token') ?? '');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
    await context.close();
  }
}, 60_000);

async function lastStep(page: Page): Promise<number> {
  const shown = await page.getByRole('log', { name: 'Timeline' }).innerText();
  return Math.max(0, ...[...shown.matchAll(/Step (\d+) of 60/g)].map(([, step]) => Number(step)));
}

test('a server that is killed and comes back: the page says so, reconnects by itself, and has everything; without its keeper it says what was lost', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'concerto-restart-'));
  const store = ['--store', 'sqlite:store.db'];
  let third: StartedServer | undefined;
  const first = await startServer({ folder, args: store });
  const { context, page } = await visit(browser, first.entrance);
  await startSession(page, 'slow', 'Outlives its server');
  await page.getByText('Step 1 of 60').waitFor();
  await page.getByLabel('Connection').getByText('Live').waitFor();
  await first.kill();
  await page.getByLabel('Connection').getByText('Reconnecting').waitFor();
  await page.getByText('when last heard of').waitFor();
  await page.screenshot({ path: `${pictures}/reconnecting-light.png` });
  const second = await startServer({ folder, args: [...store, '--port', String(first.port)] });
  try {
    await page.getByRole('button', { name: 'Retry now' }).click();
    await page.getByLabel('Connection').getByText('Live').waitFor();
    expect(await page.getByText('when last heard of').count()).toBe(0);
    // The agent was held meanwhile: its turn goes on, and nothing that it said is missing or there twice.
    await statusBadge(page, 'Working').waitFor({ timeout: 45_000 });
    const step = await lastStep(page);
    await expect.poll(() => lastStep(page), { timeout: 45_000 }).toBeGreaterThan(step);
    expect(await page.locator('.prompt').count()).toBe(1);
    const keeper: { pid: number } = JSON.parse(await readFile(join(folder, 'keeper/keeper.json'), 'utf8'));
    await second.kill();
    process.kill(keeper.pid, 'SIGKILL');
    third = await startServer({ folder, args: [...store, '--port', String(first.port)] });
    const cut = page.getByRole('region', { name: 'The turn was cut' });
    await cut.getByText('Turn 1 was cut').waitFor({ timeout: 45_000 });
    await page
      .getByText(/no keeper on this machine holds it/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Go on' }).waitFor();
    await cut.getByRole('button', { name: 'Run again' }).click();
    await statusBadge(page, 'Working').waitFor({ timeout: 45_000 });
    await expect.poll(() => page.locator('.prompt').count(), patience).toBe(2);
  } finally {
    await context.close();
    await third?.kill();
    await second.kill();
    await rm(folder, { recursive: true, force: true });
  }
}, 180_000);

test('a tab that nobody looks at gives its connection back, and has everything when it is looked at again', async () => {
  const { context, page } = await visit(browser, server.entrance);
  await page.clock.install();
  await startSession(page, 'slow', 'In the background');
  await page.getByText('Step 1 of 60').waitFor();
  const isHidden = (value: boolean): Promise<void> =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
      document.dispatchEvent(new Event('visibilitychange'));
    }, value);
  const dropped = page.waitForEvent('requestfailed', (request) => request.url().includes('/events?after='));
  await isHidden(true);
  await page.clock.fastForward(61_000);
  await dropped;
  const back = page.waitForRequest((request) => request.url().includes('/events?after='));
  await isHidden(false);
  // From where it was: nothing is read twice.
  expect(Number(new URL((await back).url()).searchParams.get('after'))).toBeGreaterThan(0);
  await page.getByText('Step 4 of 60').waitFor();
  await page.getByRole('button', { name: /earlier steps/ }).click();
  const steps = await page.locator('.activity-step').allTextContents();
  expect(steps.filter((step) => step.includes('Step 2 of 60'))).toHaveLength(1);
  await context.close();
}, 60_000);

test.each(['light', 'dark'] as const)(
  '17.10 every state of the page is usable by everybody, as axe sees it, %s',
  async (colorScheme) => {
    const { context, page } = await visit(browser, server.entrance, { colorScheme });
    const check = async (): Promise<void> => {
      expect(await accessFaults(page)).toEqual([]);
    };
    await page.locator('.session-row').first().waitFor();
    await page.screenshot({ path: `${pictures}/list-many-${colorScheme}.png` });
    await check();
    await startSession(page, 'demo', 'Look at it');
    await page.getByRole('button', { name: 'RS256' }).waitFor();
    await page.getByLabel('Message', { exact: true }).fill('later');
    await page.keyboard.press('Alt+Enter');
    await page.getByRole('list', { name: 'Queued messages' }).waitFor();
    await check();
    await page.getByRole('button', { name: 'RS256' }).click();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await check();
    await page.screenshot({ path: `${pictures}/approval-${colorScheme}.png` });
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('region', { name: 'Result of turn 2' }).waitFor();
    await page.screenshot({ path: `${pictures}/result-${colorScheme}.png` });
    await check();
    await page.getByRole('button', { name: 'Keyboard help' }).click();
    await check();
    await page.screenshot({ path: `${pictures}/help-${colorScheme}.png` });
    await context.close();
  },
  90_000,
);

test('the list filters by status, keeps the filter over a reload, and loads more', async () => {
  const { context, page } = await visit(browser, server.entrance);
  // One holds the only slot, so that the others wait and cost nothing.
  await poolMax(1);
  const start = async (body: object): Promise<void> => {
    const response = await fetch(`${server.url}/api/sessions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, ifFull: 'queue' }),
    });
    expect(response.status).toBe(201);
  };
  for (let n = 0; n < 55; n++) await start({ agent: 'slow', prompt: `Many ${n}` });
  const rows = page.locator('.session-row');
  await expect.poll(() => rows.count(), patience).toBe(50);
  await page.getByRole('button', { name: 'Load more' }).click();
  await expect.poll(() => rows.count(), patience).toBeGreaterThan(54);
  await page.getByRole('button', { name: 'On hold' }).click();
  await expect.poll(() => rows.filter({ hasNotText: 'Interrupted' }).count(), patience).toBe(0);
  await page.reload();
  await page.getByRole('button', { name: 'On hold', pressed: true }).waitFor();
  await expect.poll(() => rows.count(), patience).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Needs you' }).click();
  await page.getByText('No sessions in “Needs you” now.').waitFor();
  await context.close();
}, 90_000);
