import { setTimeout as sleep } from 'node:timers/promises';
import { memoryEventLog } from '@concerto/log';
import { expect, test } from 'vitest';
import { openStage } from './session-stage.ts';
import { VirtualClock } from './virtual-clock.ts';

const silent = { name: 'silent', command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] };

/** A machine that has just started: its keeper holds nothing. */
const keeper = {
  begin: () => {
    throw new Error('nothing is started here');
  },
  attach: async () => undefined,
  list: async () => [],
  end: async () => false,
};

test('a session whose agent runs on another machine is left to it for a while, and only then settled', async () => {
  const clock = new VirtualClock();
  const log = memoryEventLog({ now: () => clock.now() });
  // Its own clock stands still: it renews nothing, like one whose machine restarts.
  const one = openStage({ agents: [silent], log, clock: new VirtualClock(), host: 'one' });
  const started = await one.start({ agent: 'silent', prompt: 'wait' });
  const id = started.ok ? started.value.id : '';
  await one.until(id, ({ type }) => type === 'functionCall');
  const two = openStage({ agents: [silent], log, clock, host: 'two', keeper });
  const statusAfter = async (seconds: number): Promise<string | undefined> => {
    for (let second = 0; second < seconds; second++) {
      clock.pass(1_000);
      await sleep(2);
    }
    return (await two.sessions.get(id))?.status;
  };
  expect(await statusAfter(30)).toBe('running');
  expect(await statusAfter(15)).toBe('interrupted');
  expect((await two.sessions.get(id))?.reason).toMatch(/no keeper on this machine holds it; turn 1 was cut/);
  await two.stop();
  await one.close();
});
