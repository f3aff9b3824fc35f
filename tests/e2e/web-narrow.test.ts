import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, pictures, statusBadge, visit } from '../support/open-browser.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

const manifest = `[agents.agent-with-a-name-that-goes-on-for-longer-than-most]
command = "cat"
input_format = "text"
`;
const widths = [360, 375, 390, 400];

let puppets: PuppetServer;
let browser: Browser;
let second: StartedServer | undefined;

beforeAll(async () => {
  [puppets, browser] = await Promise.all([
    startPuppetServer({ args: ['--store', 'sqlite:store.db'], manifest }),
    openBrowser(),
  ]);
});

afterAll(async () => {
  await browser?.close();
  await second?.stop();
  await puppets?.close();
});

/** What can be moved sideways that holds the page or a part of it, and by how much; tables and code may. */
async function sideways(page: Page): Promise<readonly string[]> {
  return await page.evaluate(() =>
    [
      ...document.querySelectorAll(
        'html, body, main, .top-bar, .top-bar-nav, .session-page, .session-side, .timeline, header, fieldset',
      ),
    ]
      .map((it) => ({ name: `${it.tagName} ${it.className}`, by: it.scrollWidth - it.clientWidth }))
      .filter(({ by }) => by > 0)
      .map(({ name, by }) => `${name}: ${by}`),
  );
}

async function expectNarrow(page: Page, state: string): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    expect(await sideways(page), `${state} at ${width}`).toEqual([]);
  }
}

test('no page moves sideways on a phone, whatever state its session is in', async () => {
  const { api } = puppets;
  const { context, page } = await visit(browser, puppets.server.entrance, { width: 390 });
  // As for somebody who was not asked yet whether they want to be called: it has its button then.
  await page.addInitScript(() => Object.defineProperty(Notification, 'permission', { get: () => 'default' }));
  const { body } = await api.post('/api/tokens', { name: 'bartholomew-featherstonehaugh', role: 'owner' });
  await page.goto(`${puppets.server.url}/?token=${body.token}`);
  const open = async (agent: string, prompt: string): Promise<string> => {
    const { id } = await api.start({ agent, prompt, title: 'Something with a title that goes on for longer' });
    await page.goto(`${puppets.server.url}/sessions/${id}`);
    return id;
  };
  const id = await open('able', steps({ hang: true }));
  await statusBadge(page, 'Working').waitFor();
  await expectNarrow(page, 'working');
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByRole('button', { name: 'End it for good?' }).waitFor();
  await expectNarrow(page, 'working, asked twice');
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await statusBadge(page, 'Paused').waitFor();
  await expectNarrow(page, 'paused');
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await statusBadge(page, 'Working').waitFor();
  await open('agent-with-a-name-that-goes-on-for-longer-than-most', steps({ hang: true }));
  await statusBadge(page, 'Working').waitFor();
  await expectNarrow(page, 'with a long name');
  const name = 'a-name-that-is-not-broken-anywhere-and-goes-on-for-longer-than-a-phone-is-wide';
  const ask = { type: 'approval', id: 'a', description: `Change ${name}`, tool: name, command: `cat ${name} ${name}` };
  await open('able', steps({ ask }, { hang: true }));
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await expectNarrow(page, 'asked');
  await page.getByRole('button', { name: 'Always allow this' }).click();
  await expectNarrow(page, 'asked, with a rule');
  const changes = ['a', 'b'].map((at) => ({ path: `${name}/${at}`, patch: `@@ -1 +1 @@\n-${name}\n+${at}${name}\n` }));
  await open('able', steps({ ask: { type: 'approval', id: 'b', description: 'Two', tool: 'edit', changes } }));
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await expectNarrow(page, 'asked for a change');
  const question = { type: 'question', id: 'q', question: name, options: [name, `${name}2`] };
  await open('able', steps({ ask: question }));
  await page.locator('.request-card, [data-answer-field]').first().waitFor();
  await expectNarrow(page, 'asked a question');
  const plan = Array.from({ length: 24 }, (_, at) => ({
    content: `${name} ${at}`,
    status: at < 9 ? 'completed' : 'pending',
  }));
  await open(
    'able',
    steps(
      { say: { type: 'plan', entries: plan } },
      { say: { type: 'tool_call', id: 't', name, args: { command: name } } },
      { say: { type: 'message', text: `# ${name}\n\n\`${name}\`\n\n|a|b|\n|-|-|\n|${name}|${name}|` } },
      { say: { type: 'error', message: name } },
      { hang: true },
    ),
  );
  await page.getByText('Show all 24 steps').waitFor();
  await page.screenshot({ path: `${pictures}/narrow-plan.png`, fullPage: true });
  await expectNarrow(page, 'with a plan');
  await page.goto(`${puppets.server.url}/sessions/${id}`);
  await page.getByLabel('Connection').getByText('Live').waitFor();
  const keeper: { pid: number } = JSON.parse(await readFile(join(puppets.folder, 'keeper/keeper.json'), 'utf8'));
  await puppets.server.kill();
  await page.getByLabel('Connection').getByText('Reconnecting').waitFor();
  await expectNarrow(page, 'without a server');
  process.kill(keeper.pid, 'SIGKILL');
  const args = ['--store', 'sqlite:store.db', '--port', String(puppets.server.port)];
  second = await startServer({ folder: puppets.folder, args });
  await page.reload();
  await page.getByRole('region', { name: 'The turn was cut' }).waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  await page.screenshot({ path: `${pictures}/narrow-lost.png` });
  await expectNarrow(page, 'lost');
  const controls = page.getByRole('group', { name: 'Session control' }).getByRole('button');
  const tops = await controls.evaluateAll((buttons) => buttons.map((it) => it.getBoundingClientRect().top));
  expect(tops).toHaveLength(4);
  expect(new Set(tops).size).toBe(1);
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByRole('button', { name: 'End it for good?' }).waitFor();
  await page.setViewportSize({ width: 360, height: 800 });
  await page.screenshot({ path: `${pictures}/narrow-lost-asked.png` });
  await expectNarrow(page, 'lost, asked twice');
  for (const path of ['/', '/programs', '/graph', '/insight', '/settings', `/sessions/${id}x`]) {
    await page.goto(`${puppets.server.url}${path}`);
    await page.locator('main').waitFor();
    await page.waitForTimeout(300);
    await expectNarrow(page, path);
  }
  await context.close();
}, 60_000);
