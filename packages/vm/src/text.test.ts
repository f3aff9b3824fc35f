import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { characterAt, characterIndex, characters, length, slice } from './text.ts';

/** Texts of all lengths, with characters beyond U+FFFF among them. */
const texts = fc.string({ unit: 'grapheme', maxLength: 200 });

describe('characters of a text', () => {
  test('length, index and slice agree with the list of characters', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: -3, max: 220 }), fc.integer({ min: -3, max: 220 }), (text, from, to) => {
        const all = characters(text);
        expect(length(text)).toBe(all.length);
        expect(characterAt(text, from)).toBe(from < 0 ? undefined : all[from]);
        expect(slice(text, from, to)).toBe(all.slice(Math.max(0, from), Math.max(0, from, to)).join(''));
      }),
    );
  });

  test('a long text is measured anew when it has changed', () => {
    const plain = 'x'.repeat(100);
    expect([length(plain), length(`${plain}😀`), length(plain), characterAt(`${plain}😀`, 100)]).toEqual([
      100,
      101,
      100,
      '😀',
    ]);
  });

  test('the place of a part counts characters', () => {
    expect(characterIndex('😀😀a', '😀😀a'.indexOf('a'))).toBe(2);
  });
});
