import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { StderrLines } from './stderr-lines.ts';

function linesOf(chunks: readonly Buffer[]): string[] {
  const lines: string[] = [];
  const stderr = new StderrLines(
    (line) => lines.push(line),
    (text) => text.replaceAll('hunter2', '***'),
  );
  for (const chunk of chunks) stderr.push(chunk);
  stderr.end();
  return lines;
}

describe('lines on stderr', () => {
  test('are the same however the text is cut, in the middle of a character too', () => {
    const text = 'größe\r\n\npassword hunter2\n日本語 without an end';
    fc.assert(
      fc.property(fc.array(fc.nat(Buffer.byteLength(text))), (cuts) => {
        const bytes = Buffer.from(text);
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        expect(linesOf(chunks)).toEqual(['größe', '', 'password ***', '日本語 without an end']);
      }),
    );
  });

  test('a line without end is passed on in pieces, and nothing is lost', () => {
    const lines = linesOf([Buffer.from('x'.repeat(50_000)), Buffer.from('y\nz')]);
    expect(lines.join('')).toBe(`${'x'.repeat(50_000)}yz`);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(16 * 1024);
  });
});
