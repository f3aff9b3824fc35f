import { type EventLog, LazyEntry, LogError, memoryEventLog } from '@concerto/log';
import { type SuspendEvent, textContent } from '@concerto/protocol';
import { describe, expect, test } from 'vitest';
import { settle, VirtualClock } from '../../test/virtual-clock.ts';
import { SessionStore } from '../session/session-store.ts';
import { storePatienceMs } from '../session/store-patience.ts';
import { Tenure } from '../session/tenure.ts';
import { OwnerWriter } from './owner-writer.ts';

const away = new LogError('unavailable', 'the store is away');

/** A store that fails on demand, before or after it has written. */
async function stage() {
  const clock = new VirtualClock();
  const real = memoryEventLog({ now: () => clock.now() });
  const faults: ('before' | 'after')[] = [];
  const appends: string[][] = [];
  const log: EventLog = {
    ...real,
    append: async (append) => {
      appends.push(append.streams.flatMap(({ stream, entries }) => (stream === 'domain' ? entries : [])).map(typeOf));
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
  return { clock, log, store, faults, appends, writer, epoch, tenure, types, wait };
}

function typeOf({ type }: { readonly type: string }): string {
  return type;
}

/** With a question that was answered and an agent that has the answer. */
async function answered() {
  const stood = await stage();
  const { writer, epoch, store, appends } = stood;
  const speaker = { epoch, incarnation: 1 };
  await writer.tell({ type: 'claimed', epoch, runner: 'r' });
  await writer.tell({ type: 'agent-ready', ...speaker, capabilities: [] });
  const event: SuspendEvent = {
    type: 'waitForInput',
    requestId: 'q1',
    prompt: textContent('Go on?', 'model'),
    inputType: 'text',
  };
  await writer.tell({ type: 'request-opened', ...speaker, requestId: 'q1', event });
  await store.execute('s1', { type: 'answer', requestId: 'q1', response: 'yes', at: 5_000, actor: 'user' });
  appends.length = 0;
  writer.tellSoon({ type: 'answer-delivered', ...speaker, requestId: 'q1' });
  return { ...stood, speaker, event: { ...event, requestId: 'q2' } };
}

/** The program s1, which has heard ahead what its agent s2 asks; both have their owners here. */
async function heardAhead() {
  const stood = await stage();
  const { store, log, clock, writer, epoch } = stood;
  await writer.tell({ type: 'claimed', epoch, runner: 'r' });
  const start = { kind: 'agent', agent: 'echo', title: 't', once: false, slot: 'held' } as const;
  await store.execute('s2', { type: 'start', sessionId: 's2', ...start, at: 1_000, actor: 'program:s1' });
  const lease = await log.acquireLease({ name: 'l2', owner: 'r', ttlMs: 10_000 });
  const childEpoch = lease.kind === 'acquired' ? lease.epoch : 0;
  const fence = { lease: 'l2', epoch: childEpoch };
  const tenure = new Tenure({ session: 's2', runner: 'r', fence, clock, report: () => {} });
  const child = new OwnerWriter({ store, clock, tenure, log });
  await child.begin();
  const speaker = { epoch: childEpoch, incarnation: 1 };
  await child.tell({ type: 'claimed', epoch: childEpoch, runner: 'r' });
  await child.tell({ type: 'agent-ready', ...speaker, capabilities: [] });
  store.ahead.listen('s2', {
    hear: ({ secured }) => {
      writer.heardAhead('s2', secured);
      return true;
    },
    room: () => undefined,
  });
  const value = { type: 'message', request: 'q', message: { type: 'question', question: 'Go on?' } };
  const event: SuspendEvent = {
    type: 'waitForInput',
    requestId: 'q',
    prompt: textContent('Go on?', 'model'),
    inputType: 'text',
  };
  const asked = { type: 'request-opened', ...speaker, requestId: 'q', event } as const;
  const ask = async (requestId: string): Promise<void> => {
    const question = { ...asked, requestId, event: { ...event, requestId } };
    await child.tellAhead(question, { value, place: child.keep(new LazyEntry(value)) });
  };
  await ask('q');
  const answer = async (): Promise<unknown> =>
    await writer.writeAndFollow([{ type: 'turnComplete' }], {
      session: 's2',
      command: () => ({ type: 'answer', requestId: 'q', response: 'yes', at: 3_000, actor: 'program:s1' }),
    });
  const recorded = async (session: string): Promise<string[]> => {
    const { entries } = await log.read({ session, stream: 'domain', after: 0, limit: 100 });
    return entries.map(typeOf).filter((type) => type.startsWith('request-'));
  };
  return { ...stood, ask, childTenure: tenure, answer, recorded };
}

describe('what was heard ahead', () => {
  test('goes with what follows from it, once, however the store fails', async () => {
    for (const fault of [undefined, 'before', 'after'] as const) {
      const { answer, recorded, faults, wait, log, types } = await heardAhead();
      expect(await recorded('s2')).toEqual([]);
      if (fault !== undefined) faults.push(fault);
      await wait(answer());
      expect(await recorded('s2')).toEqual(['request-opened', 'request-answered']);
      expect(await log.head('s2', 'journal')).toBe(1);
      expect((await types()).filter((type) => type === 'turnComplete')).toHaveLength(1);
    }
  });

  test('is written before what follows from it where somebody else decides in its session', async () => {
    const { answer, recorded, wait, log } = await heardAhead();
    const other = new SessionStore(log);
    await other.execute('s2', { type: 'describe', title: 'Other', at: 2_000, actor: 'user' });
    await wait(answer());
    expect(await recorded('s2')).toEqual(['request-opened', 'request-answered']);
    expect(await log.head('s2', 'journal')).toBe(1);
  });

  test('is on record before anything else of whoever heard it is', async () => {
    const { writer, recorded } = await heardAhead();
    await writer.show([{ type: 'turnComplete' }]);
    expect(await recorded('s2')).toEqual(['request-opened']);
  });

  test('is on record in a moment, whatever the program does', async () => {
    const { clock, recorded } = await heardAhead();
    clock.pass(1_000);
    await expect.poll(() => recorded('s2')).toEqual(['request-opened']);
  });

  test('is on record at the latest with the sixteenth', async () => {
    const { ask, recorded, log } = await heardAhead();
    for (let n = 2; n <= 15; n++) await ask(`q${n}`);
    expect(await recorded('s2')).toEqual([]);
    await ask('q16');
    expect(await recorded('s2')).toHaveLength(16);
    expect(await log.head('s2', 'journal')).toBe(16);
  });

  test('and never will be on record is not heard: the next owner goes on without it', async () => {
    const { answer, types, tenure, childTenure, recorded } = await heardAhead();
    const before = await types();
    childTenure.end('lost');
    expect(await answer()).toBeUndefined();
    expect([tenure.isOver, tenure.how]).toEqual([true, 'lost']);
    expect(await types()).toEqual(before);
    expect(await recorded('s2')).toEqual([]);
  });
});

describe('an owner writes', () => {
  test('what nobody waits for goes with the next decision, or by itself in a moment', async () => {
    const first = await answered();
    await settle(3);
    expect(first.appends).toEqual([]);
    await first.writer.tell({ type: 'request-opened', ...first.speaker, requestId: 'q2', event: first.event });
    expect(first.appends).toEqual([['answer-delivered', 'request-opened']]);
    const second = await answered();
    second.clock.pass(1_000);
    await expect.poll(() => second.appends).toEqual([['answer-delivered']]);
  });

  test('what is owed while something else is being written goes by itself in a moment too', async () => {
    const { writer, clock, appends, speaker, epoch, event } = await answered();
    const told = writer.tell({ type: 'request-opened', ...speaker, requestId: 'q2', event });
    while (appends.length === 0) await Promise.resolve();
    writer.tellSoon({ type: 'usage', epoch, usage: { inputTokens: 1, outputTokens: 1 } });
    await told;
    expect(appends).toEqual([['answer-delivered', 'request-opened']]);
    for (let moment = 0; moment < 3; moment++) {
      clock.pass(1_000);
      await settle(3);
    }
    expect(appends.at(-1)).toEqual(['usage-reported']);
    const younger = await answered();
    younger.clock.pass(3);
    await younger.writer.tell({ type: 'request-opened', ...younger.speaker, requestId: 'q2', event: younger.event });
    younger.writer.tellSoon({ type: 'answer-delivered', ...younger.speaker, requestId: 'q1' });
    younger.clock.pass(3);
    await settle(3);
    expect(younger.appends).toHaveLength(1);
    const third = await answered();
    // A user's wish too, which is decided in the owner's place.
    await third.store.execute('s1', { type: 'describe', title: 'Other', at: 6_000, actor: 'user' });
    expect(third.appends).toEqual([['answer-delivered', 'described']]);
    const fourth = await answered();
    await fourth.writer.show([{ type: 'turnComplete' }]);
    expect(fourth.appends).toEqual([['answer-delivered'], []]);
  });

  test('what nobody waits for is written once, however the store fails', async () => {
    const { writer, faults, wait, speaker, event, log } = await answered();
    faults.push('after', 'before', 'after');
    await wait(writer.tell({ type: 'request-opened', ...speaker, requestId: 'q2', event }));
    const { entries } = await log.read({ session: 's1', stream: 'domain', after: 0, limit: 100 });
    expect(entries.map(typeOf).slice(-2)).toEqual(['answer-delivered', 'request-opened']);
  });

  test('what follows in another session is written with what it follows from, and after it', async () => {
    const { writer, store, faults, log, wait, epoch } = await stage();
    await writer.tell({ type: 'claimed', epoch, runner: 'r' });
    const start = { kind: 'agent', agent: 'echo', title: 't', once: false, slot: 'held' } as const;
    await store.execute('s2', { type: 'start', sessionId: 's2', ...start, at: 1_000, actor: 'program:s1' });
    const command = (messageId: string) => (seq: number) =>
      ({ ...said, messageId, content: String(seq), at: 2_000, actor: 'program:s1' }) as const;
    const said = { type: 'enqueue', priority: 'queued', source: 'program' } as const;
    const shown = [{ type: 'turnComplete' }] as const;
    expect(await writer.writeAndFollow(shown, { session: 's2', command: command('a') })).toMatchObject({ ok: true });
    // Somebody else was there first, without our knowledge.
    const other = new SessionStore(log);
    await other.execute('s2', { ...said, messageId: 'x', content: 'x', at: 2_000, actor: 'user' });
    expect(await writer.writeAndFollow(shown, { session: 's2', command: command('b') })).toMatchObject({ ok: true });
    faults.push('before');
    await wait(writer.writeAndFollow(shown, { session: 's2', command: command('c') }));
    faults.push('after');
    await wait(writer.writeAndFollow(shown, { session: 's2', command: command('d') }));
    await log.releaseLease({ name: 'l', epoch });
    expect(await writer.writeAndFollow(shown, { session: 's2', command: command('e') })).toBeUndefined();
    const { entries } = await log.read({ session: 's2', stream: 'domain', after: 0, limit: 100 });
    const heard = entries.flatMap(({ type, data }) => (type === 'message-enqueued' ? [JSON.parse(data)] : []));
    expect(heard.map(({ messageId, content }) => `${messageId} ${content}`)).toEqual([
      'a 4',
      'x x',
      'b 5',
      'c 6',
      'd 7',
    ]);
  });

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
