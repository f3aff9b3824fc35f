import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { beginningOf, beginningOfText } from './beginning.ts';
import type { Json } from './json.ts';

test('a text that fits is as it was, a longer one ends with …', () => {
  expect(beginningOfText('abc', 3)).toBe('abc');
  expect(beginningOfText('abcd', 3)).toBe('abc…');
});

test('no character is cut in two', () => {
  expect(beginningOfText('a😀b', 2)).toBe('a…');
  expect(beginningOfText('a😀b', 3)).toBe('a😀…');
});

test('of a value the first that fits is kept', () => {
  const value = { text: 'x'.repeat(30), more: ['one', 'two', 'three'], last: true };
  expect(beginningOf(value, 1_000)).toEqual(value);
  expect(beginningOf(value, 50)).toEqual({ text: 'x'.repeat(30), more: ['one', 't…'] });
  expect(beginningOf(value, 20)).toEqual({ text: `${'x'.repeat(12)}…` });
  expect(beginningOf('x'.repeat(9), 4)).toBe('xxxx…');
});

test('of any value no more is left than was asked for, and a small one is as it was', () => {
  const json = fc.jsonValue({ maxDepth: 5 }).map((value): Json => JSON.parse(JSON.stringify(value)));
  fc.assert(
    fc.property(json, fc.nat({ max: 60 }), (value, characters) => {
      const length = JSON.stringify(value).length;
      const begun = beginningOf(value, characters);
      expect(JSON.stringify(begun).length).toBeLessThanOrEqual(8 * (characters + 16));
      expect(length * 2 >= characters || isDeepStrictEqual(begun, value)).toBe(true);
    }),
  );
});

test('of a million fields only those that fit are looked at', () => {
  const read: string[] = [];
  const fields = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`field ${n}`, n]));
  const watched = new Proxy(fields, {
    get: (target, key) => {
      read.push(String(key));
      return Reflect.get(target, key);
    },
  });
  expect(beginningOf(watched, 30)).toEqual({ 'field 0': 0, 'field 1': 1 });
  expect(read).toEqual(['field 0', 'field 1']);
});
