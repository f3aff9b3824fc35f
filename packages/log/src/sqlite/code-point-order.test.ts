import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byCodePoint } from './code-point-order.ts';

test('texts are in the order of their bytes in the database', () => {
  const text = fc.string({
    unit: fc.constantFrom('', 'a', 'b', 'é', '\ud7ff', '\ue000', '\uffff', '😀', '\u{10ffff}'),
  });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(byCodePoint(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});
