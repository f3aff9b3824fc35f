import { type EventLog, LogError, memoryEventLog } from '@concerto/log';
import { describe, expect, test } from 'vitest';
import { settle, VirtualClock } from '../../test/virtual-clock.ts';
import { OwnerWriter } from './owner-writer.ts';
import { SessionStore } from './session-store.ts';
import { storePatienceMs } from './store-patience.ts';
import { Tenure } from './tenure.ts';

const away = new LogError('unavailable', 'the store is away');

/** A store that fails on demand, before or after it has written. */
async function stage() {
  const clock = new VirtualClock();
  const real = memoryEventLog({ now: () => clock.now() });
  const faults: ('before' | 'after')[] = [];
  const log: EventLog = {
    ...real,
    append: async (append) => {
      const fault = append.fence === undefined ? undefined : faults.shift();
      if (fault === 'before') throw away;
      const appended = await real.append(append);
      if (fault === 'after') throw away;
      return appended;
    },
  };
  const store = new SessionStore(log);
  await store.execute('s1', {
    type: 'start',
    at: clock.now(),
    actor: 'user',
    sessionId: 's1',
    kind: 'agent',
    agent: 'echo',
    title: 't',
    once: false,
    slot: 'held',
    prompt: { messageId: 'first', content: 'hello' },
  });
  const lease = await log.acquireLease({ name: 'l', owner: 'r', ttlMs: 10_000 });
  const epoch = lease.kind === 'acquired' ? lease.epoch : 0;
  const fence = { lease: 'l', epoch };
  const tenure = new Tenure({ session: 's1', runner: 'r', fence, clock, report: () => {} });
  const writer = new OwnerWriter({ store, clock, tenure, log });
  await writer.begin();
  const types = async (): Promise<string[]> =>
    (await log.read({ session: 's1', stream: 'events', after: 0, limit: 100 })).entries.map((entry) => entry.type);
  const wait = async (work: Promise<unknown>): Promise<void> => {
    let done = false;
    void work
      .catch(() => undefined)
      .finally(() => {
        done = true;
      });
    while (!done) {
      await settle(3);
      clock.step(1_000);
    }
  };
  return { clock, log, faults, writer, epoch, tenure, types, wait };
}

describe('an owner writes', () => {
  test('what was said first is written first, however often the store fails in between', async () => {
    const { writer, faults, types, wait, epoch } = await stage();
    await writer.tell({ type: 'claimed', epoch, runner: 'r' });
    faults.push('before', 'before', 'after');
    const ready = writer.tell({ type: 'agent-ready', epoch, incarnation: 1, capabilities: [] });
    const shown = writer.show([{ type: 'turnComplete' }]);
    await wait(Promise.all([ready, shown]));
    expect(await types()).toEqual(['message', 'status', 'status', 'message', 'status', 'turnComplete']);
  });

  test('what got through although the store seemed to fail is not written twice', async () => {
    const { writer, faults, types, wait, epoch } = await stage();
    await writer.tell({ type: 'claimed', epoch, runner: 'r' });
    faults.push('after', 'before');
    await wait(writer.show([{ type: 'turnComplete' }, { type: 'subagentFinish', callId: 'c' }]));
    expect((await types()).slice(3)).toEqual(['turnComplete', 'subagentFinish']);
  });

  test('a report that got through although the store seemed to fail is not made twice', async () => {
    const { writer, faults, types, wait, epoch, log } = await stage();
    await writer.tell({ type: 'claimed', epoch, runner: 'r' });
    await writer.tell({ type: 'agent-ready', epoch, incarnation: 1, capabilities: [] });
    const before = (await types()).length;
    const usage = { inputTokens: 3, outputTokens: 4 };
    faults.push('after', 'before');
    await wait(writer.tell({ type: 'usage', epoch, usage, observed: [{ type: 'subagentFinish', callId: 'c' }] }));
    expect((await types()).slice(before).filter((type) => type === 'subagentFinish')).toHaveLength(1);
    const records = await log.read({ session: 's1', stream: 'domain', after: 0, limit: 100 });
    expect(records.entries.filter(({ type }) => type.includes('usage'))).toHaveLength(1);
  });

  test('a store that stays away is given up before the lease runs out', async () => {
    const { writer, faults, clock, wait } = await stage();
    faults.push(...Array.from({ length: 1_000 }, () => 'before' as const));
    const began = clock.now();
    const shown = writer.show([{ type: 'turnComplete' }]);
    await wait(shown);
    await expect(shown).rejects.toBe(away);
    expect(clock.now() - began).toBeLessThanOrEqual(storePatienceMs + 2_000);
  });

  test('nothing is written after the session was lost', async () => {
    const { writer, log, tenure, types, epoch } = await stage();
    await writer.tell({ type: 'claimed', epoch, runner: 'r' });
    await log.releaseLease({ name: 'l', epoch });
    expect(await writer.tell({ type: 'released', epoch, reason: 'late' })).toBeUndefined();
    await writer.show([{ type: 'turnComplete' }]);
    expect([tenure.isOver, tenure.how]).toEqual([true, 'lost']);
    expect(await types()).toEqual(['message', 'status', 'status']);
  });

  test('a report made from the state sees everything that was said before it', async () => {
    const { writer, epoch } = await stage();
    const claimed = writer.tell({ type: 'claimed', epoch, runner: 'r' });
    let seen: string | undefined;
    await writer.tell((state) => {
      seen = state?.agentProcess.kind;
      return { type: 'agent-ready', epoch, incarnation: 1, capabilities: [] };
    });
    await claimed;
    expect(seen).toBe('starting');
  });
});
