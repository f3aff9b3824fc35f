import { expect, test } from 'vitest';
import { measuredLog } from './measured-log.ts';
import { memoryEventLog } from './memory/memory-event-log.ts';

test('counts appends by how long they took, those that failed, and leases taken from another', async () => {
  let now = 0;
  const inner = memoryEventLog({ now: () => now });
  const took = [2, 30, 9_000];
  const { log, measures } = measuredLog(
    {
      ...inner,
      append: async (append) => {
        now += took.shift() ?? 0;
        return await inner.append(append);
      },
    },
    () => now,
  );
  const entries = [{ type: 't', data: '{}' }];
  for (let n = 0; n < 3; n++) await log.append({ session: 's', streams: [{ stream: 'events', entries }] });
  await log.acquireLease({ name: 'session:s', owner: 'a', ttlMs: 10 });
  now += 11;
  await log.acquireLease({ name: 'session:s', owner: 'b', ttlMs: 10 });
  await inner.close();
  await expect(log.append({ session: 's', streams: [{ stream: 'events', entries }] })).rejects.toThrow(/clos/);

  const { appends, ...counted } = measures();
  expect(counted).toEqual({ appendFailures: 1, takeovers: 1 });
  expect(appends).toMatchObject({ count: 4, seconds: 9.032 });
  const within = (seconds: number) => appends.classes.find((row) => row.seconds === seconds)?.count;
  // The one that failed at once is among the quickest; the one of nine seconds is in no class.
  expect([within(0.001), within(0.0025), within(0.05), within(5)]).toEqual([1, 2, 3, 3]);
});
