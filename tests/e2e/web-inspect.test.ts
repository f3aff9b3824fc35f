import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelSession, openBrowser, statusBadge, visit } from '../support/open-browser.ts';
import { accessFaults } from '../support/page-faults.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';

let puppets: PuppetServer;
let browser: Browser;

beforeAll(async () => {
  [puppets, browser] = await Promise.all([startPuppetServer(), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await puppets?.close();
});

test('17.7 the audit tells who asked what and how long it took; every event can be looked at and linked to', async () => {
  const ask = { type: 'question', id: 'q', question: 'Blue?' };
  const { id } = await puppets.api.start({
    agent: 'able',
    title: 'Look behind',
    prompt: steps({ ask }, { tell: 'answer' }),
  });
  await puppets.api.untilStatus(id, 'waitingForInput');
  const { context, page, problems } = await visit(browser, puppets.server.entrance);
  await page.goto(`${puppets.server.url}/sessions/${id}`);
  await page.getByText('Answers: Blue?').waitFor();
  await page.getByLabel('Message', { exact: true }).fill('yes');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Result of turn 1' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('i');
  const drawer = page.getByRole('dialog', { name: 'Inspect' });
  const answered = drawer.getByRole('row').filter({ hasText: 'request-answered' });
  await answered
    .getByText(/owner|user/)
    .first()
    .waitFor();
  expect(await answered.locator('td').last().textContent()).toMatch(/ms$/);
  // The life of one request alone.
  await answered.getByRole('button').last().click();
  await drawer.getByText('Only what is about').waitFor();
  expect(await accessFaults(page)).toEqual([]);

  await drawer.getByRole('button', { name: 'Events' }).click();
  const event = drawer.getByRole('listitem').filter({ hasText: 'waitForInput' });
  await event.waitFor();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await event.getByRole('button', { name: /Copy a link/ }).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(await accessFaults(page)).toEqual([]);
  await page.goto(link);
  await drawer.locator('.event[data-sought=true]').getByText('"Blue?"').waitFor();
  await drawer.getByRole('button', { name: 'Close' }).click();
  await expect.poll(() => new URL(page.url()).search, { timeout: 10_000 }).toBe('');
  expect(problems).toEqual([]);
  await context.close();
}, 60_000);

test('17.3 a session is taken along as Markdown and as JSON, and one that is over is run again', async () => {
  const { id } = await puppets.api.start({ agent: 'able', title: 'To keep', prompt: 'write it down', once: true });
  await puppets.api.untilStatus(id, 'completed');
  const { context, page } = await visit(browser, puppets.server.entrance);
  await page.goto(`${puppets.server.url}/sessions/${id}`);
  await page.getByText('did: write it down').waitFor();
  const exported = async (name: string): Promise<string> => {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name }).click();
    return await readFile(await (await download).path(), 'utf8');
  };
  const text = await exported('Export Markdown');
  expect(text).toContain('# To keep');
  expect(text).toContain('> write it down');
  expect(text).toContain('did: write it down');
  const { session, events } = JSON.parse(await exported('Export JSON'));
  expect(session.id).toBe(id);
  expect(events.map(({ seq }: { seq: number }) => seq)).toEqual(events.map((_: unknown, index: number) => index + 1));
  await page.getByRole('button', { name: 'Run it again' }).click();
  await page.waitForURL((url) => url.pathname.startsWith('/sessions/') && !url.pathname.endsWith(id));
  await page.getByText('did: write it down').waitFor();
  await context.close();
}, 60_000);

test('17.8 ending a session for good is asked for twice', async () => {
  const { id } = await puppets.api.start({ agent: 'able', title: 'Careful', prompt: steps({ hang: true }) });
  const { context, page } = await visit(browser, puppets.server.entrance);
  await page.goto(`${puppets.server.url}/sessions/${id}`);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'End it for good?' }).waitFor();
  expect((await puppets.api.get(`/api/sessions/${id}`)).body.status).toBe('running');
  // Not pressed again, it is forgotten.
  await page.getByRole('button', { name: 'Cancel' }).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).dblclick();
  expect((await puppets.api.get(`/api/sessions/${id}`)).body.status).toBe('running');
  await page.getByRole('button', { name: 'Cancel' }).waitFor();
  await cancelSession(page);
  await statusBadge(page, 'Cancelled').waitFor();
  await context.close();
}, 60_000);
