import { setImmediate } from 'node:timers/promises';
import { type EventLog, memoryEventLog } from '@concerto/log';
import { statusOf } from '@concerto/session';
import { describe, expect, test } from 'vitest';
import { settle, VirtualClock } from '../../test/virtual-clock.ts';
import { SessionStore } from '../session/session-store.ts';
import { PoolKeeper } from './pool-keeper.ts';

const clock = new VirtualClock();

function processOn(log: EventLog, initialMax: number): { store: SessionStore; pool: PoolKeeper } {
  const store = new SessionStore(log);
  const report = (message: string, cause?: unknown): never => {
    throw new Error(message, { cause });
  };
  return { store, pool: new PoolKeeper({ log, store, clock, report, initialMax }) };
}

function opened(initialMax: number): { log: EventLog; store: SessionStore; pool: PoolKeeper } {
  const log = memoryEventLog({ now: () => clock.now() });
  return { log, ...processOn(log, initialMax) };
}

async function write(store: SessionStore, id: string, slot: 'held' | 'wanted'): Promise<void> {
  const started = await store.execute(id, {
    type: 'start',
    at: clock.now(),
    actor: 'user',
    sessionId: id,
    kind: 'agent',
    agent: 'echo',
    title: id,
    once: false,
    slot,
    prompt: { messageId: 'first', content: 'hello' },
  });
  expect(started.ok).toBe(true);
}

async function start({ store, pool }: { store: SessionStore; pool: PoolKeeper }, id: string): Promise<string> {
  const reserved = await pool.reserve(id, { ifFull: 'queue', actor: 'user' });
  if (!reserved.ok) return reserved.error.code;
  await write(store, id, reserved.value);
  return reserved.value;
}

async function cancel(store: SessionStore, id: string): Promise<void> {
  await store.execute(id, { type: 'control', kind: 'cancel', requestId: `c-${id}`, at: clock.now(), actor: 'user' });
  await settle();
}

describe('the pool', () => {
  test('a session that ends while it is compared does not get its slot back', async () => {
    const memory = memoryEventLog({ now: () => clock.now() });
    const { store, pool } = processOn(memory, 2);
    expect(await start({ store, pool }, 'a')).toBe('held');
    let meanwhile: (() => Promise<void>) | undefined = () => cancel(store, 'a');
    const slow: EventLog = {
      ...memory,
      listDocuments: async (request) => {
        const page = await memory.listDocuments(request);
        const happens = meanwhile;
        meanwhile = undefined;
        await happens?.();
        return page;
      },
    };
    const elsewhere = processOn(slow, 2);
    await elsewhere.pool.reconcile();
    expect(await pool.view()).toMatchObject({ active: 0, waiting: 0 });
  });

  test('two processes that start for the last slot at once: one gets it, the other the numbers', async () => {
    const { log, pool } = opened(1);
    const other = processOn(log, 1);
    const wish = { ifFull: 'reject', actor: 'user' } as const;
    const both = await Promise.all([pool.reserve('a', wish), other.pool.reserve('b', wish)]);
    expect(both.filter((one) => one.ok)).toHaveLength(1);
    expect(both.find((one) => !one.ok)).toMatchObject({
      error: { code: 'pool_full', details: { active: 1, max: 1 } },
    });
    expect(await pool.view()).toMatchObject({ active: 1, max: 1 });
  });

  test('who waits is admitted in the order in which it came, whoever frees the slot', async () => {
    const here = opened(1);
    const elsewhere = processOn(here.log, 1);
    expect([await start(here, 'a'), await start(elsewhere, 'b'), await start(here, 'c')]).toEqual([
      'held',
      'wanted',
      'wanted',
    ]);
    expect(await here.pool.view()).toMatchObject({ active: 1, waiting: 2 });
    await cancel(elsewhere.store, 'a');
    expect((await here.store.state('b'))?.slot.kind).toBe('held');
    expect((await here.store.state('c'))?.slot.kind).toBe('wanted');
    await cancel(here.store, 'b');
    expect((await here.store.state('c'))?.slot.kind).toBe('held');
  });

  test('whoever leaves the waiting list does not get a slot later', async () => {
    const here = opened(1);
    for (const id of ['a', 'b', 'c']) await start(here, id);
    await cancel(here.store, 'b');
    await cancel(here.store, 'a');
    expect((await here.store.state('c'))?.slot.kind).toBe('held');
    expect(await here.pool.view()).toMatchObject({ active: 1, waiting: 0 });
  });

  test('lowering the maximum ends nobody and gives nothing out until enough came back', async () => {
    const here = opened(3);
    for (const id of ['a', 'b', 'c']) await start(here, id);
    await here.pool.configure(1, 'user');
    await start(here, 'd');
    await cancel(here.store, 'a');
    await cancel(here.store, 'b');
    expect((await here.store.state('d'))?.slot.kind).toBe('wanted');
    expect(await here.pool.view()).toMatchObject({ active: 1, max: 1, waiting: 1 });
    await cancel(here.store, 'c');
    expect((await here.store.state('d'))?.slot.kind).toBe('held');
  });

  test('a crash after the slot and before the session: the slot comes back, but not before its time', async () => {
    const here = opened(1);
    await here.pool.reserve('never-written', { ifFull: 'reject', actor: 'user' });
    await here.pool.reconcile();
    expect(await here.pool.view()).toMatchObject({ active: 1 });
    clock.pass(60_000);
    await processOn(here.log, 1).pool.reconcile();
    expect(await here.pool.view()).toMatchObject({ active: 0 });
  });

  test('whoever closes the store after the last session waits until its slot is given back', async () => {
    const memory = memoryEventLog({ now: () => clock.now() });
    const append: EventLog['append'] = async (request) => {
      if (request.session === '@pool') await setImmediate();
      return await memory.append(request);
    };
    const log = { ...memory, append };
    const { store, pool } = processOn(log, 20);
    const ids = Array.from({ length: 20 }, (_, index) => `s${index}`);
    for (const id of ids) await start({ store, pool }, id);
    for (const id of ids)
      await store.execute(id, {
        type: 'control',
        kind: 'cancel',
        requestId: `c-${id}`,
        at: clock.now(),
        actor: 'user',
      });
    await pool.settled();
    expect(await processOn(log, 20).pool.view()).toMatchObject({ active: 0 });
  });

  test('a crash after the end of a session and before its slot came back: comparing gives it to the next', async () => {
    const here = opened(1);
    await start(here, 'a');
    await start(here, 'b');
    // A process without a pool keeper stands in for one that died right after the commit.
    await cancel(new SessionStore(here.log), 'a');
    expect((await here.store.state('b'))?.slot.kind).toBe('wanted');
    // At once: a clock that was set back would make everybody wait for as long as the step.
    await here.pool.reconcile();
    expect((await here.store.state('b'))?.slot.kind).toBe('held');
    expect(await here.pool.view()).toMatchObject({ active: 1, waiting: 0 });
  });

  test('a crash after the end of a session that waited: comparing takes it from the list', async () => {
    const here = opened(1);
    for (const id of ['a', 'b', 'c']) await start(here, id);
    await cancel(new SessionStore(here.log), 'b');
    expect(await here.pool.placeInLine('c')).toEqual({ place: 2, of: 2 });
    await here.pool.reconcile();
    expect(await here.pool.placeInLine('c')).toEqual({ place: 1, of: 1 });
  });

  test('a crash after the slot was granted and before the session heard of it: comparing tells it', async () => {
    const here = opened(1);
    await here.pool.reserve('a', { ifFull: 'reject', actor: 'user' });
    await write(here.store, 'a', 'wanted');
    await here.pool.reconcile();
    const state = await here.store.state('a');
    expect(state?.slot.kind).toBe('held');
    expect(state === undefined ? '' : statusOf(state)).toBe('queued');
  });

  test('who finds it full hears how full it is', async () => {
    const stage = opened(2);
    for (const id of ['a', 'b']) expect(await start(stage, id)).toBe('held');
    const refused = async (): Promise<string | undefined> => {
      const reserved = await stage.pool.reserve('c', { ifFull: 'reject', actor: 'user' });
      return reserved.ok ? undefined : reserved.error.message.split(';')[0];
    };
    expect(await refused()).toBe('all 2 slots are taken by sessions at work');
    await stage.pool.configure(1, 'user');
    expect(await refused()).toBe('2 sessions are still at work, and 1 may be');
    await cancel(stage.store, 'a');
    await stage.pool.reconcile();
    expect(await refused()).toBe('the only slot is taken by a session at work');
  });
});
