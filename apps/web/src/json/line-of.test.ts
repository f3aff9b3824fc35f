import { expect, test } from 'vitest';
import { lineOf } from './line-of.ts';

test('an object is known by its first scalars, a list by its length, and a bare value is itself', () => {
  expect(lineOf({ part: 'page', files: [1, 2], more: { a: 1 } })).toBe('part: page  files: [2]  more: {…}');
  expect(lineOf([1, 2])).toBe('2 items');
  expect(lineOf({ value: 'Empty the build cache' })).toBe('Empty the build cache');
  expect(lineOf({ value: 1, unit: 'ms' })).toBe('value: 1  unit: ms');
});
