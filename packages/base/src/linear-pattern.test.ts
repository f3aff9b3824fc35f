import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePattern } from './linear-pattern.ts';

function matches(source: string, text: string): boolean {
  const compiled = compilePattern(source);
  if (!compiled.ok) throw new Error(compiled.error);
  return compiled.value.matches(text);
}

const builtIn = (source: string, text: string): boolean => new RegExp(`^(?:${source})$`, 'u').test(text);

/** Of what begins at the first place where anything fits. */
function longest(source: string, text: string): number | undefined {
  for (let start = 0; start <= text.length; start++) {
    for (let end = text.length; end >= start; end--) {
      if (builtIn(source, text.slice(start, end))) return end - start;
    }
  }
  return undefined;
}

describe('a pattern', () => {
  test.each([
    ['[a-z]+', 'abc', true],
    ['[a-z]+', 'abC', false],
    ['a|bc|', '', true],
    ['a|bc|', 'bc', true],
    ['(?:ab){2,3}', 'ababab', true],
    ['(?:ab){2,3}', 'ab', false],
    ['(?<year>\\d{4})-\\d\\d', '2024-05', true],
    ['^a$', 'a', true],
    ['a$b', 'ab', false],
    ['\\bfoo\\b.*', 'foo bar', true],
    ['foo\\B.*', 'foo bar', false],
    ['[\\]\\\\a-]+', ']\\a-', true],
    ['\\p{L}+', 'äß', true],
    ['\\u{1F600}|\\uD83D\\uDE01', '😀', true],
    ['.', '😀', true],
    ['.', '\n', false],
    ['(a*)*', 'aaa', true],
    ['(?:a?){0}', '', true],
    ['a{2,}?', 'aaaa', true],
    ['\\x41\\.\\/', 'A./', true],
  ])('%s and %j: %s', (source, text, expected) => {
    expect(matches(source, text)).toBe(expected);
    expect(builtIn(source, text)).toBe(expected);
  });

  test('says what the built-in engine says', () => {
    const letter = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\w', '\\d');
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { maxDepth: 4 },
        letter,
        fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
        fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
        fc.tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{0,2}', '{1,}')).map(([a, q]) => `(${a})${q}`),
      ),
    }));
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1'), maxLength: 7 });
    fc.assert(
      fc.property(pattern, text, (source, subject) => {
        expect(matches(source, subject)).toBe(builtIn(source, subject));
      }),
    );
  });

  test('finds the first part that fits, and of those that begin there the longest', () => {
    const find = (source: string, text: string): string | undefined => {
      const compiled = compilePattern(source);
      const found = compiled.ok ? compiled.value.find(text) : undefined;
      return found === undefined ? undefined : text.slice(found.start, found.end);
    };
    for (const [source, text, expected] of [
      ['\\d+', 'at 12:345', '12'],
      ['a|ab|abc', 'xxabcabc', 'abc'],
      ['b+', 'aaa', undefined],
      ['', 'abc', ''],
      ['^b', 'ab', undefined],
      ['b$', 'abab', 'b'],
      ['\\bfoo\\b', 'foobar foo', 'foo'],
      ['.b', '😀b', '😀b'],
      ['x*', 'aax', ''],
    ] as const) {
      expect([source, find(source, text)]).toEqual([source, expected]);
    }
    const letter = fc.constantFrom('a', 'b', '[ab]', '.');
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(letter, fc.constantFrom('', '*', '+', '{2}')), { maxLength: 4 }),
        text,
        (parts, of) => {
          const source = parts.map(([one, times]) => one + times).join('');
          expect(find(source, of)?.length).toBe(longest(source, of));
        },
      ),
    );
    expect(find('(a+)+b', 'a'.repeat(20_000))).toBeUndefined();
  });

  test('that a backtracking engine would never finish is matched at once', () => {
    const subject = `${'a'.repeat(50_000)}!`;
    for (const source of ['(a+)+', '(a|aa)+', '(.*)*b', '(?:a?){100}a{100}', '([a-z]+)*$']) {
      expect(matches(source, subject)).toBe(false);
    }
  });

  test.each([
    ['a(', 'this is not a regular expression'],
    ['(a)\\1', 'back references'],
    ['(?=a)b', 'lookahead'],
    ['(?<!a)b', 'lookahead and lookbehind'],
    ['(?:a{100}){100}', 'states'],
    ['a{100000}', 'states'],
    [`${'('.repeat(200)}a${')'.repeat(200)}`, 'deep'],
  ])('%s is refused', (source, why) => {
    const compiled = compilePattern(source);
    expect(compiled.ok ? '' : compiled.error).toContain(why);
  });
});
