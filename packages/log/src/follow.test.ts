import { describe, expect, test } from 'vitest';
import type { EventLog } from './event-log.ts';
import { follow } from './follow.ts';
import { memoryEventLog } from './memory/memory-event-log.ts';

function append(log: EventLog, count: number): Promise<unknown> {
  const entries = Array.from({ length: count }, () => ({ type: 'tick', data: '{}' }));
  return log.append({ session: 's', streams: [{ stream: 'events', entries }] });
}

async function collect(log: EventLog, count: number, after = 0): Promise<number[]> {
  const seen: number[] = [];
  for await (const page of follow(log, { session: 's', stream: 'events', after, pageSize: 4 })) {
    expect(page.entries.length).toBeLessThanOrEqual(4);
    seen.push(...page.entries.map((entry) => entry.position));
    if (seen.length >= count) break;
  }
  return seen;
}

const oneTo = (n: number): number[] => Array.from({ length: n }, (_, index) => index + 1);

describe('follow', () => {
  test('[L20] gives what is there in bounded pages, then what comes, without gap or repeat', async () => {
    const log = memoryEventLog({ now: () => 0 });
    await append(log, 10);
    const following = collect(log, 30);
    for (let i = 0; i < 20; i++) await append(log, 1);
    expect(await following).toEqual(oneTo(30));
  });

  test('[L20] an append between a read and the wait after it is not missed', async () => {
    const log = memoryEventLog({ now: () => 0 });
    let reads = 0;
    const racing: EventLog = {
      ...log,
      read: async (request) => {
        const page = await log.read(request);
        // The page is already taken when this entry arrives; only its growth signal can tell of it.
        if (++reads === 1) await append(log, 1);
        return page;
      },
    };
    expect(await collect(racing, 1)).toEqual([1]);
  });

  test('[L20] what the reader knows from elsewhere is not read', async () => {
    const log = memoryEventLog({ now: () => 0 });
    await append(log, 3);
    let known = 2;
    const seen: number[] = [];
    for await (const page of follow(log, { session: 's', stream: 'events', after: 0, known: () => known })) {
      seen.push(...page.entries.map((entry) => entry.position));
      if (seen.length === 2) break;
      known = 6;
      await append(log, 4);
    }
    expect(seen).toEqual([3, 7]);
  });

  test('[L20] does not read again while nothing grows, nor when another session does', async () => {
    const log = memoryEventLog({ now: () => 0 });
    let reads = 0;
    const counting: EventLog = { ...log, read: (request) => (reads++, log.read(request)) };
    const following = collect(counting, 1);
    for (let i = 0; i < 50; i++) {
      await log.append({ session: 'other', streams: [{ stream: 'events', entries: [{ type: 't', data: '{}' }] }] });
    }
    expect(reads).toBe(1);
    await append(log, 1);
    await following;
    expect(reads).toBe(2);
  });

  test('[L21] the signal ends a waiting iteration, and stops listening', async () => {
    const log = memoryEventLog({ now: () => 0 });
    const listening = new Set<unknown>();
    const counting: EventLog = {
      ...log,
      onGrowth: (listener, session) => {
        listening.add(listener);
        const stop = log.onGrowth(listener, session);
        return () => {
          listening.delete(listener);
          stop();
        };
      },
    };
    const abort = new AbortController();
    const pages = follow(counting, { session: 's', stream: 'events', after: 0, signal: abort.signal });
    const next = pages[Symbol.asyncIterator]().next();
    expect(listening.size).toBe(1);
    abort.abort();
    expect((await next).done).toBe(true);
    expect(listening.size).toBe(0);
  });

  test('[L21] returning from a waiting iteration ends it', async () => {
    const log = memoryEventLog({ now: () => 0 });
    const pages = follow(log, { session: 's', stream: 'events', after: 0 })[Symbol.asyncIterator]();
    const next = pages.next();
    await pages.return?.();
    expect((await next).done).toBe(true);
  });

  test('[L22] a trimmed stream says where it begins, even when nothing is left', async () => {
    const log = memoryEventLog({ now: () => 0 });
    await append(log, 5);
    await log.trim('s', 'events', 5);
    const pages = follow(log, { session: 's', stream: 'events', after: 2 })[Symbol.asyncIterator]();
    expect((await pages.next()).value).toEqual({ entries: [], head: 5, oldest: 6 });
    const next = pages.next();
    await append(log, 1);
    expect((await next).value).toMatchObject({ entries: [{ position: 6 }] });
    await pages.return?.();
  });

  test('[L21] a failed read is the iteration’s error', async () => {
    const log = memoryEventLog({ now: () => 0 });
    await log.close();
    const next = follow(log, { session: 's', stream: 'events', after: 0 })[Symbol.asyncIterator]().next();
    await expect(next).rejects.toMatchObject({ code: 'closed' });
  });
});
