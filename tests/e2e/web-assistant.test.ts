import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, pictures, startSession, statusBadge, visit } from '../support/open-browser.ts';
import { accessFaults } from '../support/page-faults.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

const config = join(import.meta.dirname, '../../examples/assistant/Concerto.toml');
let server: StartedServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer({ args: ['--config', config] }), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test('a person starts an assistant, sees what it calls, allows one call and refuses another', async () => {
  const { page, problems } = await visit(browser, server.entrance);
  await page.getByText('Keeps notes, and asks before it changes one').waitFor();
  await startSession(page, 'secretary assistant', '/call Notes.list\n/call Notes.write {"title": "a", "text": "b"}');
  const approval = page.getByRole('region', { name: 'Approval, waits for your answer' });
  await approval.waitFor();
  expect(await approval.textContent()).toContain('Call Notes.write with {"title":"a","text":"b"}');
  await page.screenshot({ path: `${pictures}/assistant-approval.png` });
  await approval.getByRole('button', { name: 'Approve' }).click();
  const result = page.getByRole('region', { name: 'Result of turn 1' });
  await result.getByText('[mock response to: kept "a"]').waitFor();
  const listed = page.locator('.tool', { hasText: 'Notes.list' });
  expect(await listed.getAttribute('data-outcome')).toBe('ok');
  await listed.locator('summary').first().click();
  await listed.locator('.terminal').getByText('shopping').waitFor();
  await statusBadge(page, 'Idle').waitFor();

  await page.getByRole('textbox', { name: 'Message' }).fill('/call Notes.write {"title": "c", "text": "d"}');
  await page.keyboard.press('Enter');
  await approval.getByRole('button', { name: 'Deny', exact: true }).click();
  await page.getByRole('region', { name: 'Result of turn 2' }).waitFor();
  expect(await page.locator('.tool').last().getAttribute('data-outcome')).toBe('denied');
  await page.screenshot({ path: `${pictures}/assistant-done.png` });

  // 17.3 another way from the first turn on: it knows that turn and nothing of the second.
  const address = page.url();
  await result.getByRole('button', { name: 'Fork from here' }).click();
  await page.waitForURL((url) => url.href !== address);
  await result.getByText('[mock response to: kept "a"]').waitFor();
  await page.getByRole('link', { name: 'from another session' }).waitFor();
  expect(await page.getByRole('region', { name: 'Result of turn 2' }).count()).toBe(0);
  expect(await accessFaults(page)).toEqual([]);
  expect(problems).toEqual([]);
}, 60_000);
