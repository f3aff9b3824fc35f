import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sortFromText, sortText } from './sort-text.ts';

const number = fc.double({ noNaN: true });

test('[L11] numbers as texts keep their order and come back', () => {
  fc.assert(
    fc.property(number, number, (a, b) => {
      expect(sortText(a) < sortText(b)).toBe(a < b);
      expect(sortFromText(sortText(a)) === a).toBe(true);
    }),
  );
});
