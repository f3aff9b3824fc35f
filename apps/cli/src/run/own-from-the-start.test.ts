import { setImmediate } from 'node:timers/promises';
import { type Lease, memoryEventLog } from '@concerto/log';
import { leaseOf } from '@concerto/runtime';
import { expect, test } from 'vitest';
import { ownFromTheStart } from './own-from-the-start.ts';

const begins = { stream: 'domain', expected: 0, entries: [{ type: 'created', data: '{}' }] } as const;

test('whoever hears of a session that begins finds that it has an owner; others are anybody’s', async () => {
  const shared = memoryEventLog({ now: () => 1_000 });
  const tried: Promise<Lease>[] = [];
  const claim = (session: string): Promise<Lease> =>
    shared.acquireLease({ name: leaseOf(session), owner: 'elsewhere', ttlMs: 1_000 });
  shared.onGrowth((session) => tried.push(claim(session)));
  const own = ownFromTheStart(shared, 'here');
  const appends = [
    () => own.append({ session: 's1', streams: [begins] }),
    () => own.append({ session: 's1', streams: [{ ...begins, expected: 1 }] }),
    () => own.append({ session: '@pool', streams: [begins] }),
    () => shared.append({ session: 's2', streams: [begins] }),
  ];
  for (const append of appends) {
    await append();
    // Whoever watches is told in the next turn of the loop.
    await setImmediate();
  }
  const held = { kind: 'held', by: 'here' };
  const free = { kind: 'acquired' };
  expect(await Promise.all(tried)).toMatchObject([held, held, free, free]);
  expect(await own.acquireLease({ name: leaseOf('s1'), owner: 'here', ttlMs: 1_000 })).toMatchObject(free);
});
