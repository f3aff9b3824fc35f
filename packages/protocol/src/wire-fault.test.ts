import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { wireFaults } from './wire-fault.ts';

test('a value that is too small or too large is told as any other fault', () => {
  const shape = z.object({
    id: z.string().check(z.minLength(1)),
    line: z.number().check(z.nonnegative()),
    list: z.array(z.string()).check(z.maxLength(2)),
  });
  const raw = { id: '', line: -3, list: ['a', 'b', 'c'] };
  const { error } = shape.safeParse(raw);
  expect(wireFaults(raw, error?.issues ?? [])).toBe(
    'field `id`: expected a string of at least 1 character, found the string ""; ' +
      'field `line`: expected a number of at least 0, found the number -3; ' +
      'field `list`: expected an array of at most 2 elements, found the array ["a","b","c"]',
  );
});

test('a number that no number can hold is not told as null', () => {
  const { error } = z.object({ percent: z.number() }).safeParse({ percent: Number.POSITIVE_INFINITY });
  expect(wireFaults({ percent: Number.POSITIVE_INFINITY }, error?.issues ?? [])).toBe(
    'field `percent`: expected a number, found the number Infinity',
  );
});
