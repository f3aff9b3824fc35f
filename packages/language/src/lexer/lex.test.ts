import { describe, expect, test } from 'vitest';
import { createSourceFile } from '../source/source-file.ts';
import { lex } from './lex.ts';

function lexText(text: string) {
  const { tokens, diagnostics } = lex(createSourceFile('main.conc', text));
  const kinds = tokens.kinds.slice(0, -1);
  return {
    kinds,
    tokens,
    errors: diagnostics.map(({ code, span }) => ({ code, at: text.slice(span.start, span.end) })),
  };
}

function stringOf(text: string): string | undefined {
  return lexText(text).tokens.texts.get(0);
}

describe('tokens', () => {
  test('longest punctuation wins', () => {
    expect(lexText('..= .. . |> || | ?? ? ** *= -> => :: >=').kinds.join(' ')).toBe(
      '..= .. . |> || | ?? ? ** *= -> => :: >=',
    );
  });

  test('a dot needs a digit to make a float, so ranges and methods of numbers work', () => {
    expect(lexText('1..5 2.5 x.0.1 1.abs()').kinds).toEqual([
      'Int',
      '..',
      'Int',
      'Float',
      'Identifier',
      '.',
      'Int',
      '.',
      'Int',
      'Int',
      '.',
      'Identifier',
      '(',
      ')',
    ]);
  });

  test.each([
    ['0xFF', 255],
    ['0X1f', 31],
    ['0b1010', 10],
    ['0o17', 15],
    ['1_000_000', 1_000_000],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['2.5e3', 2500],
    ['1.5E-2', 0.015],
    ['1e3', 1000],
  ])('%s is %d', (text, value) => {
    const { tokens, errors } = lexText(text);
    expect(tokens.numbers.get(0)).toBe(value);
    expect(errors).toEqual([]);
  });

  test.each(['9007199254740992', '0x', '0b12', '1e999', '12abc'])('%s is no number', (text) => {
    expect(lexText(text).errors).toEqual([{ code: 'C0005', at: text }]);
  });
});

describe('strings', () => {
  test('escapes are resolved', () => {
    expect(stringOf('"\\n\\t\\r\\\\\\"\\0\\$\\u{1F600}"')).toBe('\n\t\r\\"\0$😀');
  });

  test.each(['"\\q"', '"\\u"', '"\\u{}"', '"\\u{D800}"', '"\\u{1234567}"', '"\\u{12"'])(
    '%s has a bad escape',
    (text) => {
      expect(lexText(text).errors.map(({ code }) => code)).toEqual(['C0004']);
    },
  );

  test('interpolations nest and count braces', () => {
    expect(lexText('"a ${f({"k": "${x}"})} b"').kinds).toEqual([
      'InterpolationStart',
      'Identifier',
      '(',
      '{',
      'String',
      ':',
      'InterpolationStart',
      'Identifier',
      'InterpolationEnd',
      '}',
      ')',
      'InterpolationEnd',
    ]);
  });

  test('a dollar without a brace, and an escaped one, are text', () => {
    expect(stringOf('"\\${x} costs $5"')).toBe('${x} costs $5');
  });

  test('raw strings end at their own number of hashes', () => {
    expect(stringOf('r##"a "# ${x} \\n"##')).toBe('a "# ${x} \\n');
  });

  test('single quotes make strings without interpolation', () => {
    expect(stringOf("'say \"${x}\" it\\'s'")).toBe('say "${x}" it\'s');
  });
});

describe('triple-quoted strings', () => {
  test('lose the first line break and the indentation of the closing quotes', () => {
    expect(stringOf('"""\n    a\n      b\n\n    c\n    """')).toBe('a\n  b\n\nc\n');
  });

  test('keep what stands on the line of the quotes', () => {
    expect(stringOf('"""a\n  b"""')).toBe('a\n  b');
  });

  test('are dedented around interpolations, whose line breaks are not theirs', () => {
    const { tokens } = lexText('"""\n  a ${\nx} b\n  c\n  """');
    expect([...tokens.texts.values()]).toEqual(['a ', ' b\nc\n']);
  });

  test('an escaped line break is not dedented', () => {
    expect(stringOf('"""\n    a\\n    b\n    """')).toBe('a\n    b\n');
  });

  test('have LF line breaks whatever the file has', () => {
    expect(stringOf('"""\r\n  a\r\n  """')).toBe('a\n');
  });
});

describe('labels', () => {
  test.each([
    ["'outer: for x in y {}", ['Label', ':', 'for']],
    ["'outer : while", ['Label', ':', 'while']],
    ["break 'outer;", ['break', 'Label', ';']],
    ["break 'outer x; } continue 'outer;", ['break', 'Label', 'Identifier']],
    ["break 'outer 'text';", ['break', 'Label', 'String']],
    ["break 'some text';", ['break', 'String', ';']],
    ["f('a', 'b')", ['Identifier', '(', 'String']],
  ])('%s', (text, start) => {
    expect(lexText(text).kinds.slice(0, 3)).toEqual(start);
  });
});

describe('comments', () => {
  test('nest, and doc comments belong to the token behind them', () => {
    const { kinds, tokens } = lexText('/* a /* b */ c */ x // d\n/// one\n/// two\n//// no doc\nfn');
    expect(kinds).toEqual(['Identifier', 'fn']);
    expect(tokens.comments.map(({ kind }) => kind)).toEqual(['block', 'line', 'doc', 'doc', 'line']);
    expect(tokens.docs.get(1)).toBe('one\ntwo');
  });

  test('a first line for the shell is one', () => {
    expect(lexText('#!/usr/bin/env concerto\nx').kinds).toEqual(['Identifier']);
  });
});

describe('what is wrong', () => {
  test('does not end the reading', () => {
    expect(lexText('a # b ¿ c')).toMatchObject({
      kinds: ['Identifier', 'Identifier', 'Identifier'],
      errors: [
        { code: 'C0001', at: '#' },
        { code: 'C0001', at: '¿' },
      ],
    });
  });

  test('one foreign word is one error', () => {
    expect(lexText('größe')).toMatchObject({ errors: [{ code: 'C0001' }] });
    expect(lexText('größe').errors).toHaveLength(1);
  });

  test('a string ends at its line', () => {
    expect(lexText('"abc;\nx')).toMatchObject({
      kinds: ['String', 'Identifier'],
      errors: [{ code: 'C0003', at: '"abc;' }],
    });
  });

  test('a missing brace in a string does not swallow the file', () => {
    expect(lexText('f("a ${x");\ng()')).toMatchObject({
      kinds: [
        'Identifier',
        '(',
        'InterpolationStart',
        'Identifier',
        'InterpolationEnd',
        ')',
        ';',
        'Identifier',
        '(',
        ')',
      ],
      errors: [{ code: 'C0105', at: '${' }],
    });
  });

  test.each([
    ['/* a', 'C0003'],
    ['"""a', 'C0003'],
    ['r#"a', 'C0003'],
    ["'a b", 'C0003'],
    ['"${', 'C0105'],
    ['a & b', 'C0002'],
  ])('%s', (text, code) => {
    expect(lexText(text).errors.map((error) => error.code)).toContain(code);
  });
});
