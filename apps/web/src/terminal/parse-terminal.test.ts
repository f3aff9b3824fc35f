import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTerminal, terminalText } from './parse-terminal.ts';

const esc = '\u001b';
const read = (text: string): string => terminalText(parseTerminal(text));

describe('what a program printed', () => {
  test('colours of all three palettes, and their end', () => {
    const [line] = parseTerminal(
      `${esc}[1;31mred${esc}[0m ${esc}[38;5;196mlarge${esc}[39m${esc}[48;2;1;2;3mall${esc}[m`,
    );
    expect(line?.map(({ text, style }) => [text, style.color ?? style.background, style.isBold])).toEqual([
      ['red', 1, true],
      [' ', undefined, undefined],
      ['large', 'rgb(255 0 0)', undefined],
      ['all', 'rgb(1 2 3)', undefined],
    ]);
  });

  test('a style goes on over line ends', () => {
    const lines = parseTerminal(`${esc}[32mone\ntwo${esc}[0m`);
    expect(lines.map((runs) => runs[0]?.style.color)).toEqual([2, 2]);
  });

  test('a line that is written over shows what it ended as', () => {
    expect(read('10 %\r20 %\r100 %\ndone')).toBe('100 %\ndone');
    expect(read(`downloading${esc}[2K\rready`)).toBe('ready');
    expect(read('abc\b\bX')).toBe('aXc');
    expect(read('windows\r\nline')).toBe('windows\nline');
  });

  test('titles, links and cursor movements leave no trace', () => {
    expect(read(`${esc}]0;title\u0007a${esc}]8;;https://x.test${esc}\\b${esc}]8;;${esc}\\${esc}[2;5Hc${esc}(Bd`)).toBe(
      'abcd',
    );
  });

  test('any text can be read, and no escape is left in it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', esc, '[', '3', ';', 'm', '\r', '\n', ']', '\u0007', 'K') }),
        (text) => {
          expect(read(text)).not.toContain(esc);
          expect(parseTerminal(text)).toHaveLength(text.split('\n').length);
        },
      ),
    );
  });
});
