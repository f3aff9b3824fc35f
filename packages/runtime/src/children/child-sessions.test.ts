import { memoryEventLog } from '@concerto/log';
import { afterEach, expect, test } from 'vitest';
import { VirtualClock } from '../../test/virtual-clock.ts';
import { OwnerWriter } from '../owner/owner-writer.ts';
import { PoolKeeper } from '../owner/pool-keeper.ts';
import { SessionStore } from '../session/session-store.ts';
import { Tenure } from '../session/tenure.ts';
import { ChildSessions } from './child-sessions.ts';
import { ChildrenBudget } from './children-budget.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const agent = { kind: 'agent', agent: 'coder', title: 't', once: false } as const;

/** A program p1 that is owned here, and may open so many sessions. */
async function program(childrenMax: number) {
  const clock = new VirtualClock();
  const log = memoryEventLog({ now: () => clock.now() });
  const store = new SessionStore(log);
  const pool = new PoolKeeper({ log, store, clock, report: () => {}, initialMax: 100 });
  const start = {
    kind: 'program',
    agent: 'main',
    title: 't',
    once: true,
    slot: 'held',
    budget: { tokens: 1_000 },
  } as const;
  await store.execute('p1', { type: 'start', sessionId: 'p1', ...start, at: clock.now(), actor: 'user' });
  const lease = await log.acquireLease({ name: 'l', owner: 'r', ttlMs: 10_000 });
  const epoch = lease.kind === 'acquired' ? lease.epoch : 0;
  const tenure = new Tenure({ session: 'p1', runner: 'r', fence: { lease: 'l', epoch }, clock, report: () => {} });
  const writer = new OwnerWriter({ store, clock, tenure, log });
  await writer.begin();
  await writer.tell({ type: 'claimed', epoch, runner: 'r' });
  const run = { session: 'p1', root: 'p1', actor: 'program:p1', run: 'm1', epoch, writer, childrenMax };
  const children = new ChildSessions({ log, store, pool, clock }, run);
  const recordsOf = async (type: string): Promise<number> => {
    const { entries } = await log.read({ session: 'p1', stream: 'domain', after: 0, limit: 1_000 });
    return entries.filter((entry) => entry.type === type).length;
  };
  return { clock, log, store, writer, epoch, children, recordsOf };
}

test('as many sessions as it may open it opens, also side by side', async () => {
  const { children, store } = await program(3);
  const opened = await Promise.all(
    Array.from({ length: 10 }, async (_, number) => await children.open(`s_${number}`, agent)),
  );
  expect(opened.flatMap((refused) => refused?.code ?? [])).toEqual(
    Array.from({ length: 7 }, () => 'too_many_children'),
  );
  expect((await store.state('p1'))?.children.size).toBe(3);
});

test('one that is on record and was not begun, because its owner was killed, is no further one', async () => {
  const { children, store, writer, epoch } = await program(1);
  await writer.tell({ type: 'child-opened', epoch, child: 's_1' });
  expect(await children.open('s_1', agent)).toBeUndefined();
  expect((await store.state('s_1'))?.parent).toBe('p1');
  expect(await children.open('s_2', agent)).toMatchObject({ code: 'too_many_children' });
});

test('what a child has used is counted once, also where it is a guess', async () => {
  const { children, store, writer, epoch, clock, log, recordsOf } = await program(3);
  await children.open('s_1', agent);
  const usage = { inputTokens: 10, outputTokens: 1 };
  await store.execute('s_1', {
    type: 'usage',
    epoch: 0,
    usage,
    source: { isEstimate: true },
    at: clock.now(),
    actor: 'r',
  });
  const hold = (): void => {};
  const options = { clock, log, store, writer, session: 'p1', epoch, written: async () => {}, hold };
  const budget = new ChildrenBudget(options);
  closing.push(() => budget.close());
  for (let effect = 0; effect < 3; effect++) await budget.settle();
  expect(await recordsOf('child-used')).toBe(1);
  expect((await store.state('p1'))?.budget?.children.get('s_1')).toMatchObject({ usage, isEstimate: true });
});
