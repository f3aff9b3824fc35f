import { expect, test } from 'vitest';
import { eventLogContract } from '../testing/event-log-contract.ts';
import { memoryEventLog } from './memory-event-log.ts';

eventLogContract('memory', async () => {
  let time = 1_700_000_000_000;
  const log = memoryEventLog({ now: () => time });
  return {
    log,
    now: () => time,
    advance: (ms) => {
      time += ms;
    },
    dispose: () => log.close(),
  };
});

test('with a bound it holds the last of what was shown and commanded, and all of what was decided and said', async () => {
  const log = memoryEventLog({ now: () => 0, recentChars: 1_000 });
  const entry = (n: number, length = 90) => ({ type: 'e', data: JSON.stringify({ n, text: 'x'.repeat(length) }) });
  const names = ['domain', 'commands', 'events', 'journal'] as const;
  const all = 200;
  for (let n = 1; n <= all; n++) {
    const streams = names.map((stream) => ({ stream, entries: [entry(n)] }));
    await log.append({ session: 's', streams });
  }
  const heldOf = async (stream: (typeof names)[number]) => {
    const { entries, head, oldest } = await log.read({ session: 's', stream, after: 0, limit: 1_000 });
    expect(head).toBe(all);
    expect(entries.map(({ position }) => position)).toEqual(
      Array.from({ length: all + 1 - oldest }, (_, index) => oldest + index),
    );
    return entries.length;
  };
  expect(await heldOf('domain')).toBe(all);
  expect(await heldOf('journal')).toBe(all);
  for (const stream of ['events', 'commands'] as const) {
    const held = await heldOf(stream);
    expect(held).toBeGreaterThanOrEqual(9);
    expect(held).toBeLessThanOrEqual(20);
  }
  await log.append({ session: 's', streams: [{ stream: 'events', entries: [entry(201, 5_000)] }] });
  const { entries, oldest } = await log.read({ session: 's', stream: 'events', after: 0, limit: 10 });
  expect(entries).toHaveLength(1);
  expect(oldest).toBe(all + 1);
});
