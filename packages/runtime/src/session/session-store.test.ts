import { type EventLog, memoryEventLog } from '@concerto/log';
import type { SessionCommand, StartCommand } from '@concerto/session';
import { describe, expect, test } from 'vitest';
import { sessionsCollection, unfinishedCollection } from './session-append.ts';
import { SessionStore } from './session-store.ts';

const start: SessionCommand & StartCommand = {
  type: 'start',
  at: 1_000,
  actor: 'user',
  sessionId: 's1',
  kind: 'agent',
  agent: 'echo',
  title: 'A task',
  once: false,
  slot: 'held',
  prompt: { messageId: 'first', content: 'hello' },
};

function send(messageId: string): SessionCommand {
  return { type: 'enqueue', at: 2_000, actor: 'user', messageId, content: 'more', priority: 'queued', source: 'user' };
}

async function opened(): Promise<{ log: EventLog; store: SessionStore }> {
  const log = memoryEventLog({ now: () => 1_000 });
  const store = new SessionStore(log);
  expect((await store.execute('s1', start)).ok).toBe(true);
  return { log, store };
}

describe('load, decide, append', () => {
  test('records, commands, events and the index are one commit', async () => {
    const { log, store } = await opened();
    expect(await log.head('s1', 'domain')).toBe(2);
    expect(await log.head('s1', 'events')).toBe(2);
    expect((await log.listDocuments({ collection: sessionsCollection, limit: 5 })).documents).toMatchObject([
      { key: 's1', tag: 'queued' },
    ]);
    expect(await log.getDocument(unfinishedCollection, 's1')).toMatchObject({ value: '{"slot":"held"}' });
    const cancel = { type: 'control', kind: 'cancel', requestId: 'c1', at: 3_000, actor: 'user' } as const;
    expect((await store.execute('s1', cancel)).ok).toBe(true);
    expect(await log.getDocument(unfinishedCollection, 's1')).toBeUndefined();
  });

  test('what came with a command is written with it, or not at all', async () => {
    const { log, store } = await opened();
    const documents = [{ collection: 'notes', key: 'n', value: '1' }];
    expect((await store.execute('s1', { ...start, title: 'Another' }, { documents })).ok).toBe(false);
    expect(await log.getDocument('notes', 'n')).toBeUndefined();
    await store.execute('s1', send('a'), { documents });
    expect(await log.getDocument('notes', 'n')).toMatchObject({ value: '1' });
  });

  test('a conflict with another process is decided again on what it did', async () => {
    const { log, store } = await opened();
    const elsewhere = new SessionStore(log);
    expect((await elsewhere.execute('s1', send('a'))).ok).toBe(true);
    expect((await store.execute('s1', send('b'))).ok).toBe(true);
    expect([...((await elsewhere.state('s1'))?.queue.entries.live.keys() ?? [])]).toEqual(['first', 'a', 'b']);
    expect(await store.state('s1')).toEqual(await elsewhere.state('s1'));
  });

  test('a refusal, and nothing to do, are never about a state that is over', async () => {
    const { log, store } = await opened();
    const elsewhere = new SessionStore(log);
    await elsewhere.execute('s1', send('a'));
    // `store` has not heard of `a`: a stale no would be "no such message".
    const edit: SessionCommand = { type: 'edit', messageId: 'a', content: 'other', at: 3_000, actor: 'user' };
    expect((await store.execute('s1', edit)).ok).toBe(true);

    const lease = await log.acquireLease({ name: 'l', owner: 'r', ttlMs: 10_000 });
    if (lease.kind !== 'acquired') throw new Error('not free');
    const { epoch } = lease;
    const owner = new SessionStore(log);
    const fence = { lease: 'l', epoch };
    await owner.execute('s1', { type: 'claimed', epoch, runner: 'r', at: 4_000, actor: 'r' }, { fence });
    const speaker = { epoch, incarnation: 1, at: 4_000, actor: 'r' };
    await owner.execute('s1', { type: 'agent-ready', ...speaker, capabilities: ['steer'] }, { fence });
    await owner.execute('s1', { type: 'delivered', ...speaker, dispatchId: 'first.1', how: 'prompt' }, { fence });
    await elsewhere.execute('s1', {
      ...send('now'),
      type: 'enqueue',
      messageId: 'now',
      content: 'x',
      priority: 'immediate',
      source: 'user',
    });
    // The owner's own picture has nothing to hand over; the store's has.
    const attended = await owner.execute('s1', { type: 'attend', epoch, at: 5_000, actor: 'r' }, { fence });
    expect(attended).toMatchObject({ ok: true, value: { commands: [{ type: 'deliver', messageId: 'now' }] } });
  });

  test('many at once all get through, once each', async () => {
    const { log, store } = await opened();
    const stores = [store, new SessionStore(log), new SessionStore(log)];
    const all = Array.from({ length: 60 }, (_, index) => stores[index % 3]?.execute('s1', send(`m${index}`)));
    expect((await Promise.all(all)).every((executed) => executed?.ok === true)).toBe(true);
    expect((await store.state('s1'))?.queue.entries.live.size).toBe(61);
  });

  test('a writer that lost its lease writes nothing', async () => {
    const { log, store } = await opened();
    const first = await log.acquireLease({ name: 'l', owner: 'r1', ttlMs: 10_000 });
    if (first.kind !== 'acquired') throw new Error('not free');
    await log.releaseLease({ name: 'l', epoch: first.epoch });
    await log.acquireLease({ name: 'l', owner: 'r2', ttlMs: 10_000 });
    const fence = { lease: 'l', epoch: first.epoch };
    const claimed: SessionCommand = { type: 'claimed', epoch: first.epoch, runner: 'r1', at: 2_000, actor: 'r1' };
    expect(await store.execute('s1', claimed, { fence })).toEqual({ ok: false, error: { kind: 'fenced' } });
    const shown = await store.show('s1', { events: [{ type: 'turnComplete' }], journal: [] }, { at: 'now', fence });
    expect(shown).toBeUndefined();
    expect(await log.head('s1', 'domain')).toBe(2);
    expect(await log.head('s1', 'events')).toBe(2);
  });

  test('a store that has less than it acknowledged: wishes go on from there, what an owner reports does not', async () => {
    const { log, store } = await opened();
    const emptied = memoryEventLog({ now: () => 1_000 });
    let now = log;
    const put: EventLog = { ...log, read: (request) => now.read(request), append: (request) => now.append(request) };
    const owning = new SessionStore(put);
    let losses = 0;
    await owning.execute('s1', send('a'));
    const lease = { name: 'l', owner: 'r', ttlMs: 10_000 };
    await log.acquireLease(lease);
    const got = await emptied.acquireLease(lease);
    const epoch = got.kind === 'acquired' ? got.epoch : 0;
    const fence = { lease: 'l', epoch };
    owning.ownedHere('s1', {
      fence,
      actor: 'r',
      openCalls: () => [],
      owed: [],
      decided: () => {},
      lost: () => losses++,
    });
    expect((await new SessionStore(emptied).execute('s1', start)).ok).toBe(true);
    now = emptied;
    const claimed: SessionCommand = { type: 'claimed', epoch, runner: 'r', at: 3_000, actor: 'r' };
    expect(await owning.execute('s1', claimed, { fence })).toEqual({ ok: false, error: { kind: 'fenced' } });
    expect(losses).toBe(1);
    expect(await emptied.head('s1', 'domain')).toBe(2);
    expect((await owning.execute('s1', send('b'))).ok).toBe(true);
    expect([...((await owning.state('s1'))?.queue.entries.live.keys() ?? [])]).toEqual(['first', 'b']);
    expect(await store.state('s1')).toMatchObject({ id: 's1' });
  });

  test('what was read before a decision of our own was written is no store that has less', async () => {
    const { log } = await opened();
    let held: Promise<void> | undefined;
    const slow: EventLog = {
      ...log,
      read: async (request) => {
        const page = await log.read(request);
        await held;
        return page;
      },
    };
    const store = new SessionStore(slow);
    let losses = 0;
    expect((await store.execute('s1', send('a'))).ok).toBe(true);
    const lease = await log.acquireLease({ name: 'l', owner: 'r', ttlMs: 10_000 });
    const fence = { lease: 'l', epoch: lease.kind === 'acquired' ? lease.epoch : 0 };
    const owner = { fence, actor: 'r', openCalls: () => [], owed: [], decided: () => {} };
    store.ownedHere('s1', { ...owner, lost: () => losses++ });
    let letGo = (): void => {};
    held = new Promise((resolve) => {
      letGo = resolve;
    });
    const readers = [store.state('s1'), store.state('s1')];
    await Promise.resolve();
    const title: SessionCommand = { type: 'describe', title: 'Another', at: 3_000, actor: 'user' };
    expect((await store.execute('s1', title)).ok).toBe(true);
    letGo();
    for (const state of await Promise.all(readers)) expect(state).toMatchObject({ title: 'Another' });
    expect(losses).toBe(0);
  });

  test('events that may have got through are looked for before they are written again', async () => {
    const { log, store } = await opened();
    const lease = await log.acquireLease({ name: 'l', owner: 'r', ttlMs: 10_000 });
    const fence = { lease: 'l', epoch: lease.kind === 'acquired' ? lease.epoch : 0 };
    const events = [{ type: 'turnComplete' as const }, { type: 'finish' as const }];
    await store.show('s1', { events, journal: [] }, { at: 'T1', fence, after: { events: 2, journal: 0 } });
    await store.show('s1', { events, journal: [] }, { at: 'T1', fence, after: { events: 2, journal: 0 } });
    expect(await log.head('s1', 'events')).toBe(4);
    await store.show('s1', { events, journal: [] }, { at: 'T2', fence, after: { events: 2, journal: 0 } });
    expect(await log.head('s1', 'events')).toBe(6);
  });

  test('what is owned here stays known, however many others are looked at', async () => {
    const { log, store } = await opened();
    const lease = await log.acquireLease({ name: 'l', owner: 'r', ttlMs: 10_000 });
    const fence = { lease: 'l', epoch: lease.kind === 'acquired' ? lease.epoch : 0 };
    const owner = { fence, actor: 'runner:r', openCalls: () => [], owed: [], decided: () => {}, lost: () => {} };
    const gone = store.ownedHere('s1', owner);
    const looked = async (from: number): Promise<void> => {
      for (let number = from; number < from + 2_100; number++)
        await store.execute(`o${number}`, { ...start, sessionId: `o${number}` });
    };
    await looked(0);
    expect(store.known('s1')?.agent).toBe('echo');
    expect(store.known('o0')).toBeUndefined();
    gone();
    await looked(5_000);
    expect(store.known('s1')).toBeUndefined();
  });
});
