import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AgentKeeper } from '@concerto/agents';
import { KeeperClient } from '@concerto/keeper';
import { memoryEventLog } from '@concerto/log';
import { expect, onTestFinished, test } from 'vitest';
import { bundledFile } from '../../../tests/support/bundled-file.ts';
import { openStage, type Stage } from './session-stage.ts';
import { VirtualClock } from './virtual-clock.ts';

/** Says something when the file is there. */
const agent = `
const { existsSync } = require('node:fs');
const wait = setInterval(() => {
  if (!existsSync(process.argv[1])) return;
  clearInterval(wait);
  console.log(JSON.stringify({ type: 'partial', text: 'There I am.' }));
}, 20);
process.stdin.resume();
`;

test('an agent of which nothing is heard is told to be silent, until it speaks', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-silence-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'speak');
  const clock = new VirtualClock();
  const silent = { name: 'silent', command: process.execPath, args: ['-e', agent, file] };
  const stage = openStage({ agents: [silent], log: memoryEventLog({ now: () => clock.now() }), clock });
  onTestFinished(() => stage.close());
  const started = await stage.start({ agent: 'silent', prompt: 'wait' });
  const id = started.ok ? started.value.id : '';
  const statuses = statusesOf(stage, id);
  const silence = [30, 60].map((seconds) => `nothing heard for ${seconds} s: it may be waiting for its model`);
  for (let second = 0; second < 300 && (await statuses()).length < silence.length; second++) {
    clock.pass(1_000);
    await sleep(5);
  }
  expect(await statuses()).toEqual(silence);
  writeFileSync(file, '');
  await stage.until(id, ({ type }) => type === 'content');
  expect(await statuses()).toEqual([...silence, null]);
});

/** What is told of its turn. */
function statusesOf({ log, until }: Stage, id: string): () => Promise<unknown[]> {
  const call = until(id, ({ type }) => type === 'functionCall');
  return async () => {
    const { callId: turn } = await call;
    const { entries } = await log.read({ session: id, stream: 'events', after: 0, limit: 1_000 });
    const events = entries.map(({ data }): Record<string, unknown> => JSON.parse(data));
    return events.flatMap(({ type, callId, status }) =>
      type === 'functionCallUpdate' && callId === turn ? [status] : [],
    );
  };
}

test.each([
  ['that has said nothing yet', agent],
  ['that had said something', `console.log(JSON.stringify({ type: 'log', message: 'up' }));${agent}`],
])(
  'an agent %s and was told to be silent by an owner before speaks: the next one takes that back',
  async (_when, words) => {
    const folder = mkdtempSync(join(tmpdir(), 'concerto-silence-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'speak');
    const main = join(dirname(fileURLToPath(import.meta.url)), '../../keeper/src/keeper-main.ts');
    const client = new KeeperClient({ folder: join(folder, 'keeper'), program: [bundledFile(main)] });
    const keeper = new AgentKeeper(client, 60_000);
    const clock = new VirtualClock();
    const silent = { name: 'silent', command: process.execPath, args: ['-e', words, file] };
    const log = memoryEventLog({ now: () => clock.now() });
    const options = { agents: [silent], log, clock, keeper };
    const before = openStage(options);
    const started = await before.start({ agent: 'silent', prompt: 'wait' });
    const id = started.ok ? started.value.id : '';
    const statuses = statusesOf(before, id);
    for (let second = 0; second < 300 && (await statuses()).length === 0; second++) {
      clock.pass(1_000);
      await sleep(5);
    }
    const silence = ['nothing heard for 30 s: it may be waiting for its model'];
    expect(await statuses()).toEqual(silence);
    await before.stop(true);
    const stage = openStage(options);
    onTestFinished(() => stage.close());
    await expect.poll(async () => (await stage.store.state(id))?.owner?.epoch).toBe(2);
    expect(await statuses()).toEqual(silence);
    writeFileSync(file, '');
    await stage.until(id, ({ type }) => type === 'content');
    expect(await statuses()).toEqual([...silence, null]);
    await stage.sessions.control(id, 'cancel', { actor: 'user', key: undefined });
  },
);
