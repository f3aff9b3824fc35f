import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isWellFormed } from './text-input.ts';

const lone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Mostly what the quick search passes over, with every kind of unit it has to stop at. */
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('plain text, ', 'naïve ', '— ', '東京', 'x'.repeat(90)) },
  { weight: 2, arbitrary: fc.constantFrom('😀', '\ue000', '\uffff', '\ud7ff', '\u{10ffff}') },
  { weight: 1, arbitrary: fc.constantFrom('\ud800', '\udbff', '\udc00', '\udfff') },
);

test('text of any length is well formed exactly when it has no lone surrogate', () => {
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(text, (sample) => {
      expect(isWellFormed(sample)).toBe(!lone.test(sample));
    }),
    { numRuns: 2000 },
  );
});

test('a lone surrogate is found wherever it stands in a long text', () => {
  for (const base of ['a'.repeat(200), '…'.repeat(200), `${'a'.repeat(199)}…`, '😀'.repeat(100)]) {
    expect(isWellFormed(base)).toBe(true);
    for (let at = 0; at <= base.length; at++) {
      const high = `${base.slice(0, at)}\ud83d${base.slice(at)}`;
      expect(isWellFormed(high)).toBe(false);
      const low = `${base.slice(0, at)}\udc00${base.slice(at)}`;
      expect(isWellFormed(low)).toBe(false);
    }
  }
});
