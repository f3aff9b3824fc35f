import { expect, test } from 'vitest';
import { LazyDocument } from '../lazy-document.ts';
import { LazyEntry } from '../lazy-entry.ts';
import { eventLogContract } from '../testing/event-log-contract.ts';
import { memoryEventLog } from './memory-event-log.ts';

eventLogContract('memory', async () => {
  let time = 1_700_000_000_000;
  const log = memoryEventLog({ now: () => time });
  return {
    log,
    now: () => time,
    advance: (ms) => {
      time += ms;
    },
    dispose: () => log.close(),
  };
});

test('with a bound it holds the last of what was shown and commanded, and all of what was decided and said', async () => {
  const log = memoryEventLog({ now: () => 0, recentChars: 1_000 });
  const entry = (n: number, length = 90) => ({ type: 'e', data: JSON.stringify({ n, text: 'x'.repeat(length) }) });
  const names = ['domain', 'commands', 'events', 'journal'] as const;
  const all = 200;
  for (let n = 1; n <= all; n++) {
    const streams = names.map((stream) => ({ stream, entries: [entry(n)] }));
    await log.append({ session: 's', streams });
  }
  const heldOf = async (stream: (typeof names)[number]) => {
    const { entries, head, oldest } = await log.read({ session: 's', stream, after: 0, limit: 1_000 });
    expect(head).toBe(all);
    expect(entries.map(({ position }) => position)).toEqual(
      Array.from({ length: all + 1 - oldest }, (_, index) => oldest + index),
    );
    return entries.length;
  };
  expect(await heldOf('domain')).toBe(all);
  expect(await heldOf('journal')).toBe(all);
  for (const stream of ['events', 'commands'] as const) {
    const held = await heldOf(stream);
    expect(held).toBeGreaterThanOrEqual(9);
    expect(held).toBeLessThanOrEqual(20);
  }
  await log.append({ session: 's', streams: [{ stream: 'events', entries: [entry(201, 5_000)] }] });
  const { entries, oldest } = await log.read({ session: 's', stream: 'events', after: 0, limit: 10 });
  expect(entries).toHaveLength(1);
  expect(oldest).toBe(all + 1);
});

test('the text of an entry is made when it is read, and what a journal says can be had without it', async () => {
  const log = memoryEventLog({ now: () => 0, recentChars: 1_000 });
  let made = 0;
  const value = { type: 'said', toJSON: () => ({ type: 'said', n: ++made }) };
  const streams = (['events', 'journal'] as const).map((stream) => ({ stream, entries: [new LazyEntry(value)] }));
  await log.append({ session: 's', streams });
  const journal = await log.read({ session: 's', stream: 'journal', after: 0, limit: 1 });
  expect(journal.entries[0]?.value).toBe(value);
  expect(made).toBe(0);
  const events = await log.read({ session: 's', stream: 'events', after: 0, limit: 1 });
  expect(events.entries.map((entry) => [entry.value, entry.data, entry.data])).toEqual([
    [undefined, '{"type":"said","n":1,"seq":1}', '{"type":"said","n":1,"seq":1}'],
  ]);
  expect(await log.size()).toBeGreaterThan(0);
});

test('with a bound, entries whose text was not made are forgotten alike', async () => {
  const log = memoryEventLog({ now: () => 0, recentChars: 1_000 });
  const said = { type: 'said', parts: [{ text: 'x'.repeat(90) }] };
  for (let n = 1; n <= 200; n++) {
    const entries = [new LazyEntry(said, '2026-01-01T00:00:00.000Z')];
    await log.append({ session: 's', streams: [{ stream: 'events', entries }] });
  }
  const { entries, oldest, head } = await log.read({ session: 's', stream: 'events', after: 0, limit: 1_000 });
  expect(head).toBe(200);
  expect(entries[0]?.position).toBe(oldest);
  expect(entries.length).toBeGreaterThan(3);
  expect(entries.length).toBeLessThan(20);
});

test('the text of a document is made when it is read, once', async () => {
  const log = memoryEventLog({ now: () => 0 });
  let made = 0;
  const place = { collection: 'rows', key: 'a', sort: 0, tag: 't' };
  await log.append({
    session: 's',
    streams: [],
    documents: [new LazyDocument(place, () => `{"n":${++made}}`)],
  });
  expect(made).toBe(0);
  expect((await log.listDocuments({ collection: 'rows', limit: 1 })).documents[0]?.value).toBe('{"n":1}');
  expect((await log.getDocument('rows', 'a'))?.value).toBe('{"n":1}');
});
