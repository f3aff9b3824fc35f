import { describe, expect, test } from 'vitest';
import { memoryEventLog } from '../memory/memory-event-log.ts';
import type { Store, StoreRecord } from '../store.ts';
import { entry, put, texts } from './append-contract.ts';
import type { SubjectOf } from './event-log-contract.ts';

async function records(store: Store): Promise<StoreRecord[]> {
  const all: StoreRecord[] = [];
  for await (const batch of store.dump()) all.push(...batch);
  const name = (record: StoreRecord): string => JSON.stringify(record, Object.keys(record).toSorted());
  return all.sort((a, b) => (name(a) < name(b) ? -1 : 1));
}

export function lifetimeContract(subject: SubjectOf): void {
  describe('lifetime', () => {
    test('[L18] sessions are listed in order, in pages', async () => {
      const { log } = subject();
      const names = ['b', 'a', 'a10', 'a2', 'Z', '_x', '0'];
      for (const name of names) await put(log, name, name === 'a' ? 'domain' : 'events', entry('t'));
      await log.putDocument({ collection: 'sessions', key: 'document-only', value: '{}' });
      const listed: string[] = [];
      for (;;) {
        const page = await log.listSessions(listed.at(-1), 3);
        expect(page.length).toBeLessThanOrEqual(3);
        if (page.length === 0) break;
        listed.push(...page);
      }
      expect(listed).toEqual(names.sort());
    });

    test('[L17] ping is quiet while the store takes writes', async () => {
      const { log } = subject();
      await expect(log.ping()).resolves.toBeUndefined();
    });

    test('[L29] its size grows with what it holds, and falls when that is removed', async () => {
      const { log } = subject();
      await put(log, 's', 'events', entry('t'));
      const before = await log.size();
      const large = JSON.stringify({ text: 'x'.repeat(200_000) });
      for (let n = 0; n < 10; n++) await put(log, 's', 'events', { type: 't', data: large });
      const full = await log.size();
      expect(full - before).toBeGreaterThan(1_900_000);
      await log.trim('s', 'events', await log.head('s', 'events'));
      expect(await log.size()).toBeLessThan(before + (full - before) / 2);
    });

    test('[L17] close finishes what was asked, then every call says closed', async () => {
      const { log } = subject();
      const pending = Promise.all(Array.from({ length: 10 }, () => put(log, 's', 'events', entry('t'))));
      const closing = log.close();
      await pending;
      await closing;
      await log.close();
      const calls = [
        () => put(log, 's', 'events', entry('t')),
        () => log.read({ session: 's', stream: 'events', after: 0, limit: 1 }),
        () => log.head('s', 'events'),
        () => log.trim('s', 'events', 1),
        () => log.putDocument({ collection: 'c', key: 'k', value: '{}' }),
        () => log.createDocument({ collection: 'c', key: 'k', value: '{}' }),
        () => log.getDocument('c', 'k'),
        () => log.listDocuments({ collection: 'c', limit: 1 }),
        () => log.acquireLease({ name: 'n', owner: 'o', ttlMs: 1 }),
        () => log.renewLease({ name: 'n', owner: 'o', ttlMs: 1, epoch: 1 }),
        () => log.releaseLease({ name: 'n', epoch: 1 }),
        () => log.listSessions(undefined, 1),
        () => log.size(),
        () => log.ping(),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ name: 'LogError', code: 'closed' });
    });

    test('[L19] everything goes out and comes into another store as it was', async () => {
      const { log, now } = subject();
      await fill(log, now());
      const there = memoryEventLog({ now });
      for await (const batch of log.dump()) await there.load(batch);
      expect(await records(there)).toEqual((await records(log)).map(withoutHolder));
    });

    test('[L19] what was loaded reads, counts and fences as before', async () => {
      const { log, now } = subject();
      const source = memoryEventLog({ now });
      await fill(source, now());
      for await (const batch of source.dump()) await log.load(batch);
      expect(await records(log)).toEqual((await records(source)).map(withoutHolder));
      expect(await log.read({ session: 's1', stream: 'events', after: 0, limit: 10 })).toEqual(
        await source.read({ session: 's1', stream: 'events', after: 0, limit: 10 }),
      );
      expect(await log.head('s1', 'commands')).toBe(1);
      await put(log, 's1', 'events', { ...entry('ack'), aside: true }, entry('next'));
      expect((await texts(log, 's1', 'events')).at(-1)).toBe('{"seq":5}');
      expect(await log.acquireLease({ name: 'session:s1', owner: 'b', ttlMs: 1 })).toEqual({
        kind: 'acquired',
        epoch: 3,
      });
      expect(await log.listSessions(undefined, 10)).toEqual(['s1', 's2']);
    });
  });
}

function withoutHolder(record: StoreRecord): StoreRecord {
  return record.kind === 'lease' ? { kind: 'lease', name: record.name, epoch: record.epoch } : record;
}

async function fill(log: Store, now: number): Promise<void> {
  const aside = { ...entry('ack', { requestId: 'r' }), aside: true } as const;
  await put(log, 's1', 'events', aside, entry('a'), entry('b', { n: 1 }), aside, aside, entry('c'), entry('d'), aside);
  await log.trim('s1', 'events', 1);
  await put(log, 's1', 'commands', entry('x'));
  await log.trim('s1', 'commands', 1);
  const many = Array.from({ length: 1_200 }, (_, n) => entry('t', { n, text: '§' }));
  await put(log, 's2', 'domain', ...many);
  await log.putDocument({ collection: 'c', key: 'a', value: '{}', sort: 7, tag: 't', expiresAt: now + 60_000 });
  await log.putDocument({ collection: 'd', key: 'ü', value: '{"v":1}' });
  for (const epoch of [1, 2]) {
    expect(await log.acquireLease({ name: 'session:s1', owner: 'a', ttlMs: 5_000 })).toEqual({
      kind: 'acquired',
      epoch,
    });
  }
}
