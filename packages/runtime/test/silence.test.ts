import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { memoryEventLog } from '@concerto/log';
import { expect, onTestFinished, test } from 'vitest';
import { openStage } from './session-stage.ts';
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
  const call = await stage.until(id, ({ type }) => type === 'functionCall');
  const statuses = async (): Promise<unknown[]> => {
    const { entries } = await stage.log.read({ session: id, stream: 'events', after: 0, limit: 1_000 });
    const events = entries.map(({ data }): Record<string, unknown> => JSON.parse(data));
    return events.flatMap(({ type, callId, status }) =>
      type === 'functionCallUpdate' && callId === call.callId ? [status] : [],
    );
  };
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
