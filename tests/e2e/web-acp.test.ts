import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, pictures, startSession, statusBadge, visit } from '../support/open-browser.ts';
import { accessFaults } from '../support/page-faults.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

const scripted = join(import.meta.dirname, '../../packages/agents/test/agents/acp.mjs');
let folder: string;
let server: StartedServer;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-web-acp-'));
  const manifest = `[agents.foreign]\nprotocol = "acp"\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(scripted)}]\n`;
  await writeFile(join(folder, 'Concerto.toml'), manifest);
  [server, browser] = await Promise.all([startServer({ folder }), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('a person sees what an agent of protocol acp does, and chooses one of its own options', async () => {
  const { page, problems } = await visit(browser, server.entrance);
  await startSession(page, 'foreign', 'permission');
  const approval = page.getByRole('region', { name: 'Approval, waits for your answer' });
  await approval.waitFor();
  expect(await approval.textContent()).toContain('rm -r build');
  await page.screenshot({ path: `${pictures}/acp-approval.png` });
  await approval.getByRole('button', { name: 'Always allow' }).click();
  await page.getByRole('region', { name: 'Result of turn 1' }).getByText('"optionId":"ever"').waitFor();
  expect(await page.locator('.tool', { hasText: 'rm -r build' }).getAttribute('data-outcome')).toBe('ok');
  await statusBadge(page, 'Idle').waitFor();

  await page.getByRole('textbox', { name: 'Message' }).fill('choose');
  await page.keyboard.press('Enter');
  const choice = page.getByRole('region', { name: 'Choice, waits for your answer' });
  await choice.getByRole('button', { name: 'Redis' }).click();
  await page.getByRole('region', { name: 'Result of turn 2' }).getByText('"question_0":"Redis"').waitFor();

  // What the agent understands after a slash is offered as one writes it.
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('commands');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Result of turn 3' }).waitFor();
  await field.fill('/co');
  const offered = page.getByRole('list', { name: 'Commands of the agent' });
  await offered.getByText('What it took so far').waitFor();
  expect(await accessFaults(page)).toEqual([]);
  await field.press('Tab');
  expect(await field.inputValue()).toBe('/compact ');
  expect(await offered.count()).toBe(0);
  expect(problems).toEqual([]);
}, 60_000);
