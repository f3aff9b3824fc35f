import { describe, expect, test } from 'vitest';
import { type Append, type EventLog, MAX_ENTRY_LENGTH, type NewEntry, type StreamName } from '../event-log.ts';
import { LazyEntry } from '../lazy-entry.ts';
import type { SubjectOf } from './event-log-contract.ts';

export const entry = (type: string, fields: object = {}): NewEntry => ({ type, data: JSON.stringify(fields) });

export function put(log: EventLog, session: string, stream: StreamName, ...entries: NewEntry[]): Promise<unknown> {
  return log.append({ session, streams: [{ stream, entries }] });
}

export async function texts(log: EventLog, session: string, stream: StreamName): Promise<string[]> {
  const page = await log.read({ session, stream, after: 0, limit: 1_000_000 });
  return page.entries.map((found) => found.data);
}

export function appendContract(subject: SubjectOf): void {
  describe('append', () => {
    test('[L1] writes several streams and documents together and tells their heads', async () => {
      const { log } = subject();
      const appended = await log.append({
        session: 's1',
        streams: [
          { stream: 'domain', entries: [entry('started'), entry('prompted')] },
          { stream: 'commands', entries: [entry('prompt', { text: 'hi' })] },
          { stream: 'events', entries: [] },
        ],
        documents: [{ collection: 'sessions', key: 's1', value: '{"status":"running"}' }],
      });
      expect(appended).toEqual({ kind: 'appended', positions: { domain: 2, commands: 1, events: 0 } });
      expect(await texts(log, 's1', 'domain')).toEqual(['{}', '{}']);
      expect(await texts(log, 's1', 'commands')).toEqual(['{"text":"hi"}']);
      expect((await log.getDocument('sessions', 's1'))?.value).toBe('{"status":"running"}');
    });

    test('[L57] what follows from an append is made with its heads, comes after it, and never without it', async () => {
      const { log } = subject();
      const first: Append = { session: 's1', streams: [{ stream: 'events', entries: [entry('said')] }] };
      const follows = (expected: number): Append => ({
        ...first,
        next: ({ events }) => ({
          session: 's2',
          streams: [{ stream: 'domain', expected, entries: [entry('heard', { seq: events })] }],
        }),
      });
      const both = await log.append(follows(0));
      expect(both).toMatchObject({ kind: 'appended', next: { kind: 'appended', positions: { domain: 1 } } });
      expect(await log.append(follows(0))).toMatchObject({ kind: 'appended', next: { kind: 'conflict', actual: 1 } });
      const refused = { ...follows(1), fence: { lease: 'nobody has it', epoch: 1 } };
      expect(await log.append(refused)).toMatchObject({ kind: 'fenced' });
      expect(await texts(log, 's2', 'domain')).toEqual(['{"seq":1}']);
      expect(await log.append({ ...first, next: () => undefined })).toEqual({
        kind: 'appended',
        positions: { events: 3 },
      });
    });

    test('[L58] a store that joins writes both or neither, where that is asked for', async () => {
      const { log } = subject();
      if (!log.joins) return;
      const joined = (next: Append['next']): Append => ({
        session: 's1',
        streams: [
          { stream: 'events', entries: [entry('said'), { ...entry('ack'), aside: true }] },
          { stream: 'journal', entries: [entry('line'), entry('line')] },
        ],
        documents: [{ collection: 'sessions', key: 's1', value: '{}' }],
        joined: true,
        ...(next === undefined ? {} : { next }),
      });
      const heard = (expected: number): NonNullable<Append['next']> => {
        return (positions) => ({
          session: 's2',
          streams: [{ stream: 'domain', expected, entries: [entry('heard', { ...positions })] }],
        });
      };
      expect(await log.append(joined(undefined))).toEqual({ kind: 'unjoined' });
      expect(await log.append(joined(() => undefined))).toEqual({ kind: 'unjoined' });
      expect(await log.append(joined(heard(3)))).toEqual({ kind: 'unjoined' });
      expect(await log.head('s1', 'events')).toBe(0);
      expect(await log.getDocument('sessions', 's1')).toBeUndefined();
      expect(await log.append(joined(heard(0)))).toMatchObject({ kind: 'appended', next: { kind: 'appended' } });
      expect(await texts(log, 's2', 'domain')).toEqual(['{"events":1,"journal":2}']);
      expect(await log.head('s1', 'journal')).toBe(2);
    });

    test('[L2] an expected position that is not the head refuses everything', async () => {
      const { log } = subject();
      await put(log, 's1', 'domain', entry('a'), entry('b'));
      const attempt: Append = {
        session: 's1',
        streams: [
          { stream: 'events', entries: [entry('seen')] },
          { stream: 'domain', expected: 1, entries: [entry('late')] },
        ],
        documents: [{ collection: 'sessions', key: 's1', value: '{}' }],
      };
      expect(await log.append(attempt)).toEqual({ kind: 'conflict', stream: 'domain', actual: 2 });
      expect(await log.head('s1', 'events')).toBe(0);
      expect(await log.head('s1', 'domain')).toBe(2);
      expect(await log.getDocument('sessions', 's1')).toBeUndefined();
      expect(
        (await log.append({ session: 's1', streams: [{ stream: 'domain', expected: 2, entries: [entry('c')] }] })).kind,
      ).toBe('appended');
    });

    test('[L2] expected 0 takes only the first writer; a check without entries is a check', async () => {
      const { log } = subject();
      const first = { stream: 'domain', expected: 0, entries: [entry('created')] } as const;
      expect((await log.append({ session: 'n', streams: [first] })).kind).toBe('appended');
      expect(await log.append({ session: 'n', streams: [first] })).toEqual({
        kind: 'conflict',
        stream: 'domain',
        actual: 1,
      });
      const check = { stream: 'domain', expected: 0, entries: [] } as const;
      expect((await log.append({ session: 'n', streams: [check] })).kind).toBe('conflict');
    });

    test('[L3] a writer that lost its lease writes nothing', async () => {
      const { log, advance } = subject();
      const fenced = (epoch: number): Append => ({
        session: 's1',
        fence: { lease: 'session:s1', epoch },
        streams: [{ stream: 'events', entries: [entry('x')] }],
        documents: [{ collection: 'c', key: 'k', value: '{}' }],
      });
      expect(await log.append(fenced(1))).toEqual({ kind: 'fenced', epoch: 0 });
      await log.acquireLease({ name: 'session:s1', owner: 'a', ttlMs: 1_000 });
      expect((await log.append(fenced(1))).kind).toBe('appended');
      advance(1_001);
      // Past its time but taken by nobody: nobody wrote in between, so its holder may.
      expect((await log.append(fenced(1))).kind).toBe('appended');
      await log.putDocument({ collection: 'c', key: 'k', value: undefined });
      await log.acquireLease({ name: 'session:s1', owner: 'b', ttlMs: 1_000 });
      expect(await log.append(fenced(1))).toEqual({ kind: 'fenced', epoch: 2 });
      expect(await log.head('s1', 'events')).toBe(2);
      expect(await log.getDocument('c', 'k')).toBeUndefined();
      await log.releaseLease({ name: 'session:s1', epoch: 2 });
      expect(await log.append(fenced(2))).toEqual({ kind: 'fenced', epoch: 2 });
    });

    test('[L4] asides take no position and no cursor meets them', async () => {
      const { log } = subject();
      const aside = (type: string): NewEntry => ({ ...entry(type, { requestId: 'r' }), aside: true });
      await put(log, 's1', 'events', aside('message_ack'), aside('pause_ack'));
      expect(await log.head('s1', 'events')).toBe(0);
      await put(log, 's1', 'events', entry('a'), aside('pause_ack'), entry('b'), aside('x'), aside('y'));
      await put(log, 's1', 'events', aside('z'), entry('c'));
      const page = await log.read({ session: 's1', stream: 'events', after: 0, limit: 10 });
      expect(page.entries.map(({ position, type }) => [position, type])).toEqual([
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
      ]);
      expect(page.head).toBe(3);
      const second = await log.read({ session: 's1', stream: 'events', after: 1, limit: 1 });
      expect(second.entries.map(({ type }) => type)).toEqual(['b']);
    });

    test('[L5] events carry their position in their text; other streams are stored as they are', async () => {
      const { log } = subject();
      const data = ['{"a":1}', '{}', '{ }', '{"a":{}}', '{"t":"}"}', '{"t":"{"}', '{"a":1} '];
      await put(log, 's1', 'events', ...data.map((text) => ({ type: 't', data: text })));
      await put(log, 's1', 'domain', ...data.map((text) => ({ type: 't', data: text })));
      const events = await texts(log, 's1', 'events');
      expect(events.slice(0, 2)).toEqual(['{"a":1,"seq":1}', '{"seq":2}']);
      expect(events.map((text) => JSON.parse(text))).toEqual(
        data.map((text, index) => ({ ...JSON.parse(text), seq: index + 1 })),
      );
      expect(await texts(log, 's1', 'domain')).toEqual(data);
    });

    test('[L16] text comes back as it was given: unicode, escapes, quotes', async () => {
      const { log } = subject();
      const fields = { emoji: '👩‍💻 §THINK:', nul: '\u0000', lone: '\ud800', sep: '\u2028', quote: `'"\\\n\r` };
      await put(log, 'unicode', 'events', { type: 'typ§👩', data: JSON.stringify(fields) });
      const page = await log.read({ session: 'unicode', stream: 'events', after: 0, limit: 1 });
      expect(page.entries[0]?.type).toBe('typ§👩');
      expect(JSON.parse(page.entries[0]?.data ?? '')).toEqual({ ...fields, seq: 1 });
    });

    test('[L16] takes an entry of 9 million characters and refuses one over the limit without harm', async () => {
      const { log } = subject();
      const large = 'ü'.repeat(9_000_000);
      await put(log, 's1', 'events', entry('large', { large }));
      const page = await log.read({ session: 's1', stream: 'events', after: 0, limit: 1 });
      expect(JSON.parse(page.entries[0]?.data ?? '').large === large).toBe(true);
      const tooLarge = entry('large', { x: 'x'.repeat(MAX_ENTRY_LENGTH) });
      await expect(put(log, 's1', 'events', tooLarge)).rejects.toMatchObject({ code: 'too-large' });
      await put(log, 's1', 'events', entry('after'));
      expect(await log.head('s1', 'events')).toBe(2);
    });

    test('[L59] an entry whose text is made when it is read is as any other', async () => {
      const { log } = subject();
      const at = '2026-01-01T00:00:00.000Z';
      const said = { type: 'content', text: 'é "x"\n' };
      await put(log, 's1', 'events', new LazyEntry(said, at), new LazyEntry({ type: 'ack' }, undefined, true));
      await put(log, 's1', 'events', new LazyEntry(said, at));
      await put(log, 's1', 'journal', new LazyEntry(said), entry('plain', { n: 1 }));
      const events = (await texts(log, 's1', 'events')).map((text) => JSON.parse(text));
      expect(events).toEqual([1, 2].map((seq) => ({ ...said, at, seq })));
      const { entries } = await log.read({ session: 's1', stream: 'journal', after: 0, limit: 10 });
      expect(entries.map(({ position, type, data }) => ({ position, type, data: JSON.parse(data) }))).toEqual([
        { position: 1, type: 'content', data: said },
        { position: 2, type: 'plain', data: { n: 1 } },
      ]);
      for (const { value, data } of entries) expect(value ?? JSON.parse(data)).toEqual(JSON.parse(data));
      const tooLarge = { type: 'large', lines: ['x'.repeat(MAX_ENTRY_LENGTH)] };
      await expect(put(log, 's1', 'journal', new LazyEntry(tooLarge))).rejects.toMatchObject({ code: 'too-large' });
      expect(await log.head('s1', 'journal')).toBe(2);
    });

    test('[L15] 64 concurrent writers with expected positions lose and double nothing', async () => {
      const { log } = subject();
      const writers = 64;
      const each = 3;
      const write = async (writer: number): Promise<void> => {
        for (let n = 0; n < each; n++) {
          for (;;) {
            const expected = await log.head('busy', 'domain');
            const streams = [
              { stream: 'domain', expected, entries: [entry('w', { writer, n })] },
              { stream: 'events', entries: [entry('w', { writer, n })] },
            ] as const;
            if ((await log.append({ session: 'busy', streams })).kind === 'appended') break;
          }
        }
      };
      await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
      const domain = (await texts(log, 'busy', 'domain')).map((text) => JSON.parse(text));
      const seen = new Map<number, number>();
      for (const { writer, n } of domain) {
        expect(n).toBe(seen.get(writer) ?? 0);
        seen.set(writer, n + 1);
      }
      expect(domain).toHaveLength(writers * each);
      const events = (await texts(log, 'busy', 'events')).map((text) => JSON.parse(text));
      expect(events).toEqual(domain.map((fields, index) => ({ ...fields, seq: index + 1 })));
    });

    test('[L15] appends of one caller are written in the order of their calls', async () => {
      const { log } = subject();
      const calls = Array.from({ length: 500 }, (_, n) =>
        put(log, n % 3 === 0 ? 'a' : 'b', 'events', entry('t', { n })),
      );
      await Promise.all(calls);
      for (const session of ['a', 'b']) {
        const order = (await texts(log, session, 'events')).map((text) => JSON.parse(text).n);
        expect(order).toEqual([...order].sort((x, y) => x - y));
      }
    });
  });
}
