import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { streamNames } from '../event-log.ts';
import { decodeRecent, encodeRecent, type Recent } from './recent-text.ts';

const text = fc.string({ unit: fc.constantFrom('{', '"', '\n', '§', '😀', 'x', '\\') });
const entry = fc.record({ type: text, data: text });
const stream = fc
  .record({
    session: text,
    stream: fc.constantFrom(...streamNames),
    after: fc.nat(),
    entries: fc.array(entry, { maxLength: 4 }),
    asides: fc.array(fc.record({ position: fc.nat(), place: fc.nat(), type: text, data: text }), { maxLength: 2 }),
  })
  .map(({ entries, ...rest }) => ({
    ...rest,
    entries: entries.map((found, index) => ({ position: rest.after + index + 1, ...found })),
  }));
const document = fc.record(
  {
    collection: text,
    key: text,
    value: fc.option(text, { nil: undefined }),
    sort: fc.double({ noNaN: true, noDefaultInfinity: true }).map((sort) => (sort === 0 ? 0 : sort)),
    tag: text,
    expiresAt: fc.nat(),
  },
  { requiredKeys: ['collection', 'key', 'value', 'sort'] },
);
const recent: fc.Arbitrary<Recent> = fc.record({
  streams: fc.array(stream, { maxLength: 3 }),
  documents: fc.array(document, { maxLength: 3 }),
});

function encoded(given: Recent): string {
  const body = encodeRecent(given);
  if (body === undefined) throw new Error('it was not taken');
  return body;
}

describe('a row of what was written last', () => {
  test('[L43] comes back as it was', () => {
    fc.assert(
      fc.property(recent, (given) => {
        expect(decodeRecent(encoded(given))).toEqual(given);
      }),
    );
  });

  test('[L45] that was cut, or holds more, does not add up', () => {
    fc.assert(
      fc.property(recent, fc.nat(), (given, seed) => {
        const body = encoded(given);
        expect(decodeRecent(body.slice(0, seed % body.length))).toBeUndefined();
        expect(decodeRecent(`${body}x`)).toBeUndefined();
      }),
    );
  });

  test.each([
    '',
    'no JSON\n',
    'null\n',
    '[]\n',
    '{"streams":[]}\n',
    '{"streams":[["s","events",0,[],[]]],"documents":{}}\n',
    '{"streams":[["s","nonsense",0,[],[]]],"documents":[]}\n',
    '{"streams":[["s","events",-1,[],[]]],"documents":[]}\n',
    '{"streams":[["s","events",0,[[1]],[]]],"documents":[]}\nx',
    '{"streams":[["s","events",0,[[-1,2]],[]]],"documents":[]}\nx',
    '{"streams":[[7,"events",0,[],[]]],"documents":[]}\n',
    '{"streams":[],"documents":[["c","k",0,"0",null,null]]}\n',
    '{"streams":[],"documents":[["c","k",0,0,null,1.5]]}\n',
  ])('[L45] of another shape does not add up: %j', (body) => {
    expect(decodeRecent(body)).toBeUndefined();
  });

  test('[L43] is not made of what the database would give back otherwise', () => {
    const of = (data: string, session = 's'): Recent => ({
      streams: [{ session, stream: 'domain', after: 0, entries: [{ position: 1, type: 't', data }], asides: [] }],
      documents: [],
    });
    expect(encodeRecent(of('{"a":"😀"}'))).toBeDefined();
    for (const bad of ['\0', '\ud83d', '\ude00']) {
      expect(encodeRecent(of(bad))).toBeUndefined();
      expect(encodeRecent(of('{}', bad))).toBeUndefined();
    }
  });

  test('[L43] is not made of numbers that the tables refuse, or that JSON does not have', () => {
    const of = (numbers: { sort?: number; expiresAt?: number }): Recent => ({
      streams: [],
      documents: [{ collection: 'c', key: 'k', value: '{}', ...numbers }],
    });
    expect(encodeRecent(of({ sort: -2.5, expiresAt: 0 }))).toBeDefined();
    for (const sort of [Number.NaN, Number.POSITIVE_INFINITY]) expect(encodeRecent(of({ sort }))).toBeUndefined();
    for (const expiresAt of [1.5, -1, 2 ** 60]) expect(encodeRecent(of({ expiresAt }))).toBeUndefined();
  });
});
