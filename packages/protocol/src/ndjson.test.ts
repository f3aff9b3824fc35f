import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Line, LineError, LineSplitter, lineLengthMax } from './ndjson.ts';

const encoder = new TextEncoder();

function split(chunks: readonly (string | Uint8Array)[], limit?: number): Line[] {
  const splitter = new LineSplitter(limit);
  const lines = chunks.flatMap((chunk) => splitter.push(typeof chunk === 'string' ? encoder.encode(chunk) : chunk));
  return [...lines, ...splitter.end()];
}

function codes(lines: readonly Line[]): string[] {
  return lines.map((line) => (line instanceof LineError ? `<${line.code}>` : line));
}

describe('LineSplitter', () => {
  test.each<[string, string[], string[]]>([
    ['nothing', [], []],
    ['lines', ['a\nb\n'], ['a', 'b']],
    ['a last line without LF', ['a\nb'], ['a', 'b']],
    ['empty lines', ['\n\na\n'], ['', '', 'a']],
    ['CRLF', ['a\r\nb\r\n'], ['a', 'b']],
    ['CRLF cut between its bytes', ['a\r', '\nb\r\n'], ['a', 'b']],
    ['a CR that ends no line', ['a\rb\n\r\n'], ['a\rb', '']],
    ['a byte order mark', ['\uFEFFa\nb\n'], ['a', 'b']],
    ['only the first byte order mark', ['\uFEFF\uFEFFa\n\uFEFFb\n'], ['\uFEFFa', '\uFEFFb']],
    ['one line from many chunks', ['a', 'b', '', 'c\nd', 'e'], ['abc', 'de']],
    ['line separators that are not LF', ['a\u2028b\u0085c\n'], ['a\u2028b\u0085c']],
  ])('%s', (_, chunks, lines) => {
    expect(split(chunks)).toEqual(lines);
  });

  test('gives the same lines however the bytes are cut', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '漢', '😀', '\n', '\r\n', '"'), maxLength: 60 });
    fc.assert(
      fc.property(text, fc.array(fc.nat(12), { minLength: 1 }), (whole, sizes) => {
        const bytes = encoder.encode(whole);
        const chunks: Uint8Array[] = [];
        for (let start = 0, turn = 0; start < bytes.length; turn++) {
          const size = Math.max(1, sizes[turn % sizes.length] ?? 1);
          chunks.push(bytes.subarray(start, start + size));
          start += size;
        }
        const expected = whole.split('\n').map((line) => line.replace(/\r$/, ''));
        if (whole === '' || whole.endsWith('\n')) expected.pop();
        expect(split(chunks)).toEqual(expected);
        expect(split([bytes])).toEqual(expected);
      }),
    );
  });

  test('keeps nothing of a chunk that its owner may write over', () => {
    const splitter = new LineSplitter();
    const chunk = encoder.encode('abc');
    splitter.push(chunk);
    chunk.fill(120);
    expect(splitter.push(encoder.encode('d\n'))).toEqual(['abcd']);
  });

  describe('limit', () => {
    test.each([
      ['in one chunk', ['12345\n123456\nok\n']],
      ['across chunks', ['123', '45\n123', '456', '789\nok\n']],
      ['byte by byte', '12345\n123456789\nok\n'.split('')],
      ['at the end', ['12345\n', 'ok\n', '123456']],
    ])('is inclusive, reports once and goes on at the next LF: %s', (_, chunks) => {
      expect(codes(split(chunks, 5)).toSorted()).toEqual(['12345', '<line-too-long>', 'ok']);
    });

    test.each([[['12345\r\n']], [['12345\r', '\n']], [['12345', '\r\n']]])(
      'does not count the line end: %j',
      (chunks) => {
        expect(split(chunks, 5)).toEqual(['12345']);
      },
    );

    test('a CR that turns out to be content does count', () => {
      expect(codes(split(['12345\r', '6\nok\n'], 5))).toEqual(['<line-too-long>', 'ok']);
    });

    test('counts bytes, not letters', () => {
      expect(codes(split(['éé\n', 'ééé\n'], 5))).toEqual(['éé', '<line-too-long>']);
    });

    test('is named in the error', () => {
      const [error] = split(['123456\n'], 5);
      expect(error).toBeInstanceOf(LineError);
      expect((error as LineError).message).toContain('5 bytes');
    });

    test('is 8 MiB unless told otherwise', () => {
      const longest = 'x'.repeat(lineLengthMax);
      expect(lineLengthMax).toBe(8_388_608);
      expect(codes(split([`${longest}\n${longest}y\nok\n`]))).toEqual([longest, '<line-too-long>', 'ok']);
    });
  });

  describe('invalid UTF-8', () => {
    const bad = Uint8Array.from([0x61, 0xff, 0x62]);

    test('is reported with the line as far as it is text, and its neighbours do not suffer', () => {
      const bytes = Uint8Array.from([...encoder.encode('é\n'), ...bad, ...encoder.encode('\n漢\n')]);
      const lines = split([bytes]);
      expect(codes(lines)).toEqual(['é', '<invalid-utf8>', '漢']);
      expect((lines[1] as LineError).text).toBe('a\uFFFDb');
    });

    test('is found at the end and across chunks', () => {
      expect(codes(split([bad, '\n', Uint8Array.from([0xe6, 0xbc])]))).toEqual(['<invalid-utf8>', '<invalid-utf8>']);
    });
  });
});
