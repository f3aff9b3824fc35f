import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelSession, openBrowser, pictures, startSession, statusBadge, visit } from '../support/open-browser.ts';
import { accessFaults } from '../support/page-faults.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

const scripted = (name: string): string =>
  JSON.stringify(join(import.meta.dirname, `../../packages/agents/test/agents/${name}.mjs`));
const manifest = `
[agents.foreign]
protocol = "acp"
command = ${JSON.stringify(process.execPath)}
args = [${scripted('acp')}]
per_session = ["model", "working_dir", "worktree"]
[agents.stranger]
protocol = "claude"
command = ${JSON.stringify(process.execPath)}
args = [${scripted('claude')}]
env = { STRANGER = "1" }
[[agents.foreign.rules]]
tool = "Read"
decide = "allow"
`;
let folder: string;
let server: StartedServer;
let browser: Browser;

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { encoding: 'utf8' });

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'concerto-web-acp-')));
  await mkdir(join(folder, 'sub'));
  await writeFile(join(folder, 'Concerto.toml'), manifest);
  await writeFile(join(folder, 'sub/read.me'), 'hello\n');
  git('init', '--quiet', '--initial-branch=main');
  git('add', 'sub');
  git('commit', '--quiet', '-m', 'first');
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

test('17.4 a start says where and how: refused at the field, then at work on a branch that is merged and removed', async () => {
  const { context, page, problems } = await visit(browser, server.entrance);
  const form = page.getByRole('form', { name: 'New session' });
  await form.getByRole('radio', { name: 'foreign' }).check();
  await form.getByLabel('Prompt').fill('opened');
  await form.getByLabel('Folder').fill('nowhere');
  await form.getByRole('button', { name: 'Start session' }).click();
  await form.getByRole('alert').getByText('there is no folder').waitFor();
  expect(await form.getByLabel('Folder').getAttribute('aria-invalid')).toBe('true');

  await form.getByLabel('Folder').fill('sub');
  await form.getByLabel('In a git worktree of its own').check();
  await form.getByLabel('Branch').fill('fix');
  await form.getByText('Options').click();
  await form.getByText('allow tool = Read').waitFor();
  await form.getByLabel('Model').fill('large');
  await form.getByLabel('Turns').fill('nine');
  await form.getByRole('button', { name: 'Start session' }).click();
  await form.getByText('A number above 0').waitFor();
  expect(await accessFaults(page)).toEqual([]);
  await page.screenshot({ path: `${pictures}/start-light.png` });
  await form.getByLabel('Turns').fill('9');
  await form.getByRole('button', { name: 'Start session' }).click();
  const said = page.getByRole('region', { name: 'Result of turn 1' });
  await said.getByText('"model":"large"').waitFor();
  const checkout = join(folder, '.concerto/worktrees/fix');
  await said.getByText(`${checkout}/sub`).waitFor();
  await statusBadge(page, 'Idle').waitFor();

  const panel = page.getByRole('region', { name: 'Worktree' });
  await panel.getByText('concerto/fix').waitFor();
  await writeFile(join(checkout, 'new.txt'), 'new\n');
  await panel.getByRole('button', { name: 'Merge', exact: true }).click();
  await panel.getByText('not committed: new.txt').waitFor();
  await panel.getByLabel('Commit message').fill('what it made');
  expect(await accessFaults(page)).toEqual([]);
  await page.screenshot({ path: `${pictures}/worktree-light.png` });
  await panel.getByRole('button', { name: 'Commit and merge' }).click();
  await panel.getByText('merged into main').waitFor();
  expect(git('show', 'HEAD:new.txt')).toBe('new\n');
  await panel.getByRole('button', { name: 'Remove' }).click();
  await panel.getByText('Cancel the session first').waitFor();
  await page.getByLabel('Switch the model').selectOption('small');
  await page.locator('.timeline').getByText('settings changed').waitFor();
  await cancelSession(page);
  await statusBadge(page, 'Cancelled').waitFor();
  await panel.getByRole('button', { name: 'Remove' }).click();
  await panel.getByText('· removed').waitFor();

  // Where it worked is offered to the next.
  await page.goto(server.url);
  await page.getByRole('radio', { name: 'foreign' }).check();
  expect(await form.locator('datalist option').first().getAttribute('value')).toBe(folder);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  expect(problems).toEqual([]);
  await context.close();
}, 60_000);

test('17.4 an agent that is not logged in says what to run, in its session and before the next start', async () => {
  const { context, page } = await visit(browser, server.entrance);
  await startSession(page, 'stranger', 'hello');
  const told = page.getByRole('region', { name: 'Not logged in' });
  await told.getByText('claude').first().waitFor();
  expect(await accessFaults(page)).toEqual([]);
  await page.screenshot({ path: `${pictures}/login-light.png` });
  await page.goto(server.url);
  await page.getByRole('radio', { name: 'stranger' }).check();
  await page.getByText('It was not logged in when it last ran').waitFor();

  // The doctor tries each agent, and says what to do about those with which something is wrong.
  await page.goto(`${server.url}/settings`);
  const doctor = page.getByRole('region', { name: 'Doctor' });
  await doctor.getByRole('button', { name: 'Check everything' }).click();
  await doctor.getByText(/checks found something/).waitFor();
  await doctor.getByRole('listitem').filter({ hasText: 'it is not logged in' }).getByText('in a terminal').waitFor();
  expect(await accessFaults(page)).toEqual([]);
  await page.screenshot({ path: `${pictures}/doctor-light.png`, fullPage: true });
  await context.close();
}, 60_000);
