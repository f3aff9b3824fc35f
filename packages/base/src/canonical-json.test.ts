import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

test('equal values have equal texts, whatever the order of their keys', () => {
  const one = { b: [1, { y: null, x: 'ü' }], a: true };
  const other = { a: true, b: [1, { x: 'ü', y: null }] };
  expect(canonicalJson(one)).toBe(canonicalJson(other));
  expect(canonicalJson(one)).toBe('{"a":true,"b":[1,{"x":"ü","y":null}]}');
});

test('other values have other texts', () => {
  const texts = [{ a: 1 }, { a: '1' }, { a: [1] }, [1], ['a', 1], {}, [], '', 0, null, false].map(canonicalJson);
  expect(new Set(texts).size).toBe(texts.length);
});

test('__proto__ is a key like any other', () => {
  expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"z":1}}'))).toBe('{"__proto__":{"z":1},"b":1}');
});
