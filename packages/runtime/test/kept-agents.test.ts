import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentKeeper } from '@concerto/agents';
import { KeeperClient } from '@concerto/keeper';
import { expect, onTestFinished, test } from 'vitest';
import { bundledFile } from '../../../tests/support/bundled-file.ts';
import { openStage } from './session-stage.ts';

const agents = join(import.meta.dirname, '../../agents/test/agents');
const main = join(import.meta.dirname, '../../keeper/src/keeper-main.ts');

const refuses = { command: process.execPath, args: [join(agents, 'refuses-params.mjs')], params: { a: 1 } };
/** Takes its params, and nothing after them. */
const deafens = `
const { closeSync, readSync } = require('node:fs');
readSync(0, Buffer.alloc(4096));
closeSync(0);
console.log(JSON.stringify({ type: 'init_ack' }));
setInterval(() => {}, 1000);
`;
const deaf = { command: process.execPath, args: ['-e', deafens], params: { a: 1 } };

test.each([
  ['cannot be started', refuses],
  ['takes no prompt', deaf],
])('an agent that %s is kept no longer than its session needs it', { timeout: 60_000 }, async (_what, spec) => {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-kept-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const client = new KeeperClient({ folder: join(folder, 'keeper'), program: [bundledFile(main)] });
  const keeper = new AgentKeeper(client, 60_000);
  const stage = openStage({ agents: [{ name: 'it', ...spec }], keeper });
  onTestFinished(() => stage.close());
  const started = await stage.start({ agent: 'it', prompt: 'go' });
  const id = started.ok ? started.value.id : '';
  const status = async () => (await stage.sessions.get(id))?.status;
  await expect.poll(status, { timeout: 50_000 }).toBe('interrupted');
  await expect.poll(async () => await client.list(), { timeout: 5_000 }).toEqual([]);
});
