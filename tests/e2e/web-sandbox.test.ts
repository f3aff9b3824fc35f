import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiOf } from '../support/api.ts';
import { openBrowser, visit } from '../support/open-browser.ts';
import { runConcerto } from '../support/run-concerto.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

const timeout = 120_000;
const manifest = ['auto', 'require', 'off'].map(
  (mode) => `[agents.${mode}]\ncommand = "/bin/cat"\ninput_format = "text"\nsandbox = "${mode}"\n`,
);
let folder: string;
/** A machine on which nobody has installed bubblewrap. */
let bare: string;
let browser: Browser;
const servers: StartedServer[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-sandbox-'));
  bare = join(folder, 'bin');
  await mkdir(bare);
  await symlink(process.execPath, join(bare, 'node'));
  await writeFile(join(folder, 'Concerto.toml'), manifest.join(''));
  browser = await openBrowser();
}, timeout);

afterAll(async () => {
  await browser?.close();
  for (const server of servers) await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function serverWith(env: Readonly<Record<string, string>>): Promise<StartedServer> {
  const server = await startServer({ folder, env });
  servers.push(server);
  return server;
}

/** What the page says beside `sandbox`. */
async function factOf(page: Page, server: StartedServer, id: string): Promise<string> {
  await page.goto(`${server.url}/sessions/${id}`);
  const fact = page.getByRole('region', { name: 'Session' }).locator('.fact', { hasText: 'sandbox' });
  return (await fact.locator('dd').textContent()) ?? '';
}

test('the page says in which sandbox an agent runs, and why in none', { timeout }, async () => {
  const server = await serverWith({});
  const api = apiOf(server);
  const { page } = await visit(browser, server.entrance);
  const [auto, off] = await Promise.all(['auto', 'off'].map((agent) => api.start({ agent, prompt: 'x' })));
  for (const { id } of [auto, off]) await api.untilStatus(id, 'idle');
  expect((await api.get(`/api/sessions/${auto.id}`)).body.sandbox).toEqual({ kind: 'bubblewrap' });
  expect(await factOf(page, server, auto.id)).toBe('bubblewrap');
  expect(await factOf(page, server, off.id)).toBe('none `sandbox = "off"` in the manifest');
});

test('where there is none, the server, doctor, the page and the audit say so, and `require` starts nothing', {
  timeout,
}, async () => {
  const missing = 'bubblewrap is not installed';
  const server = await serverWith({ PATH: bare });
  const api = apiOf(server);
  const { page } = await visit(browser, server.entrance);
  await expect.poll(server.said).toContain(`agents run without a sandbox and could answer for you: ${missing}`);
  const { id } = await api.start({ agent: 'auto', prompt: 'x' });
  await api.untilStatus(id, 'idle');
  expect(await factOf(page, server, id)).toContain(`none ${missing}`);
  const audit = await api.get(`/api/sessions/${id}/audit`);
  const ready = audit.body.entries.find(({ what }: { what: string }) => what === 'agent-ready');
  expect(ready.detail.sandbox).toEqual({ kind: 'none', reason: expect.stringContaining(missing) });
  const wanted = await api.start({ agent: 'require', prompt: 'x' });
  const events = await api.until(wanted.id, (event) => event.type === 'error' || event.status === 'interrupted');
  expect(JSON.stringify(events.at(-1))).toContain(`there is none here: ${missing}`);
  const doctor = await runConcerto(
    ['doctor', '--json', '--store', 'memory:', '--port', '0', '--no-prompt'],
    { PATH: bare },
    folder,
  ).ended;
  expect(JSON.parse(doctor.out)).toContainEqual(
    expect.objectContaining({ check: 'sandbox', message: expect.stringContaining(missing), status: 'warn' }),
  );
});
