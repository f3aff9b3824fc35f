import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { harmless, harmlessDeep, harmlessJson, harmlessLine, withoutStyles } from './harmless-text.ts';

// oxlint-disable-next-line no-control-regex -- they are what must not be left
const acting = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/;

describe('foreign text', () => {
  test.each([
    ['a line that hides itself', 'rm -rf /\r\u001b[2KRead README', 'rm -rf /␍␛[2KRead README'],
    ['a write to the clipboard', '\u001b]52;c;ZXZpbA==\u0007', '␛]52;c;ZXZpbA==␇'],
    ['C1 for ESC [', '\u009b2J', '‹U+009B›2J'],
    ['a bidi override', 'report\u202efdp.exe', 'report‹U+202E›fdp.exe'],
    ['a bidi isolate', '\u2066x\u2069', '‹U+2066›x‹U+2069›'],
    ['a backspace and DEL', 'a\bb\u007f', 'a␈b␡'],
    ['invisible tags', 'a\u{e0041}b', 'a‹U+E0041›b'],
    ['half a pair', 'a\ud800b', 'a\ufffdb'],
    ['lines, tabs, emoji and accents stay', 'ä\tb\r\nc 👩‍💻', 'ä\tb\nc 👩‍💻'],
  ])('%s', (_what, text, shown) => {
    expect(harmless(text)).toBe(shown);
  });

  test('nothing that acts is left, whatever it was', () => {
    const pieces = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\u001b[2J', '\u009d', '\r', '\u2067'));
    fc.assert(
      fc.property(fc.array(pieces), (list) => {
        const text = list.join('');
        expect(harmless(text)).not.toMatch(acting);
        expect(harmless(harmless(text))).toBe(harmless(text));
        expect(harmlessLine(text)).not.toMatch(/[\n\t]/);
      }),
    );
  });

  test('within a value', () => {
    const value = { 'a\u001b': ['\r', 1, null, { b: '\u202e' }], c: true };
    expect(harmlessDeep(value)).toEqual({ 'a␛': ['␍', 1, null, { b: '‹U+202E›' }], c: true });
  });

  test('as JSON it means the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(undefined, 2), (text, indent) => {
        const json = harmlessJson({ text }, indent);
        expect(json).not.toMatch(acting);
        expect(JSON.parse(json)).toEqual({ text });
      }),
    );
  });

  test('colours of a program are left out, what else it does is shown', () => {
    expect(harmless(withoutStyles('\u001b[1;31mred\u001b[0m\u001b[H'))).toBe('red␛[H');
  });
});
