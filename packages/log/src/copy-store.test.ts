import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CopyProgress, copyStore } from './copy-store.ts';
import { memoryEventLog } from './memory/memory-event-log.ts';
import { openEventLog } from './open-event-log.ts';
import type { Store } from './store.ts';

const now = (): number => 1_700_000_000_000;

async function filled(): Promise<Store> {
  const log = memoryEventLog({ now });
  for (const session of ['a', 'b']) {
    for (let n = 0; n < 700; n++) {
      const entry = { type: 't', data: JSON.stringify({ n }) };
      const ack = { type: 'ack', data: '{}', aside: true } as const;
      await log.append({ session, streams: [{ stream: 'events', entries: [entry, ack] }] });
    }
  }
  await log.trim('b', 'events', 10);
  await log.putDocument({ collection: 'c', key: 'k', value: '{}', sort: 1, tag: 't' });
  await log.putDocument({ collection: 'c', key: 'soon gone', value: '{}', expiresAt: now() + 1_000 });
  const lease = await log.acquireLease({ name: 'session:a', owner: 'x', ttlMs: 1_000 });
  if (lease.kind === 'acquired') await log.releaseLease({ name: 'session:a', epoch: lease.epoch });
  return log;
}

describe('copyStore', () => {
  test('[L41] copies everything and reports what it verified', async () => {
    const from = await filled();
    const to = memoryEventLog({ now });
    const progress: CopyProgress[] = [];
    const report = await copyStore(from, to, { now, onProgress: (step) => progress.push(step) });
    expect(report).toEqual({ streams: 2, entries: 2 * 1_400 - 20, documents: 2, leases: 1 });
    expect(await to.read({ session: 'b', stream: 'events', after: 0, limit: 9 })).toEqual(
      await from.read({ session: 'b', stream: 'events', after: 0, limit: 9 }),
    );
    expect(new Set(progress.map(({ phase }) => phase))).toEqual(new Set(['reading', 'copying', 'verifying']));
    expect(progress.at(-1)).toMatchObject({ records: 2_785, total: 2_785 });
  });

  test('[L41] many short streams are loaded together', async () => {
    const from = memoryEventLog({ now });
    const streams = (['domain', 'commands', 'events'] as const).map((stream) => ({
      stream,
      entries: [{ type: 't', data: '{}' }],
    }));
    for (let n = 0; n < 500; n++) await from.append({ session: `s${n}`, streams });
    const to = memoryEventLog({ now });
    let loads = 0;
    const counting: Store = { ...to, load: (records) => to.load(records).finally(() => loads++) };
    const report = await copyStore(from, counting, { now });
    expect(report).toEqual({ streams: 1_500, entries: 1_500, documents: 0, leases: 0 });
    expect(loads).toBeLessThan(10);
  });

  test('[L42] a copy that was cut is no store; a finished one is', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'concerto-copy-'));
    try {
      const url = `sqlite:${join(folder, 'copy.db')}`;
      const to = await openEventLog(url, { now });
      let batches = 0;
      const cut: Store = {
        ...to,
        load: async (records) => {
          if (++batches > 2) throw new Error('killed');
          await to.load(records);
        },
      };
      await expect(copyStore(await filled(), cut, { now })).rejects.toThrow('killed');
      await to.close();
      await expect(openEventLog(url, { now })).rejects.toThrow('is a copy that was not finished');
      rmSync(join(folder, 'copy.db'));
      const again = await openEventLog(url, { now });
      await copyStore(await filled(), again, { now });
      await again.close();
      await (await openEventLog(url, { now })).close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('[L41] a target that is not empty is left alone', async () => {
    const to = memoryEventLog({ now });
    await to.putDocument({ collection: 'c', key: 'k', value: '{}' });
    await expect(copyStore(await filled(), to, { now })).rejects.toThrow('already holds something');
    expect(await to.listSessions(undefined, 1)).toEqual([]);
  });

  test('[L41] a source whose sessions somebody holds is not copied', async () => {
    const from = await filled();
    await from.acquireLease({ name: 'session:a', owner: 'runner 1', ttlMs: 1_000 });
    await expect(copyStore(from, memoryEventLog({ now }), { now })).rejects.toThrow('runner 1 holds session:a');
  });

  test('[L41] a source that changes while it is copied is noticed', async () => {
    const from = await filled();
    const to = memoryEventLog({ now });
    let wrote = false;
    const busy: Store = {
      ...to,
      load: async (records) => {
        if (!wrote) {
          wrote = true;
          await from.append({ session: 'b', streams: [{ stream: 'domain', entries: [{ type: 't', data: '{}' }] }] });
        }
        await to.load(records);
      },
    };
    await expect(copyStore(from, busy, { now })).rejects.toThrow('written while it was copied (b/domain: 2 of 0)');
  });

  test('[L41] an entry that is lost or altered on the way is noticed', async () => {
    const to = memoryEventLog({ now });
    const losing: Store = { ...to, load: (records) => to.load(records.slice(1)) };
    await expect(copyStore(await filled(), losing, { now })).rejects.toMatchObject({ code: 'corrupt' });
    const other = memoryEventLog({ now });
    const altering: Store = {
      ...other,
      load: (records) =>
        other.load(records.map((record) => (record.kind === 'document' ? { ...record, value: '{"x":1}' } : record))),
    };
    await expect(copyStore(await filled(), altering, { now })).rejects.toThrow('documents c: other content');
  });
});
