import { readFileSync } from 'node:fs';
import { OPCODE_NAMES, OPERANDS, opcode } from '@concerto/ir';
import { describe, expect, test } from 'vitest';
import { DISPATCHED } from './dispatched-opcodes.ts';

const source = readFileSync(new URL('interpreter.ts', import.meta.url), 'utf8');

describe('the dispatch switch', () => {
  test('has a case for each opcode, under its number', () => {
    const cases = [...source.matchAll(/case (\d+):\s*(?:\{\s*)?\/\/ (\w+)/g)].map(([, number, name]) => [
      name,
      Number(number),
    ]);
    const expected = OPCODE_NAMES.map((name) => [name, opcode(name)]);
    expect(new Map(cases as [string, number][])).toEqual(new Map(expected as [string, number][]));
  });

  test('is compiled against the numbers of the table', () => {
    expect(DISPATCHED).toEqual(Object.fromEntries(OPCODE_NAMES.map((name) => [name, opcode(name)])));
  });

  test('names the opcode wherever a number stands for one', () => {
    for (const [, number, name] of source.matchAll(/=== (\d+) \/\* (\w+) \*\//g)) {
      expect([name, Number(number)]).toEqual([name, OPCODE_NAMES.findIndex((candidate) => candidate === name)]);
    }
  });

  test('no bare number is compared with the opcode', () => {
    expect(source).not.toMatch(/code\[pc\] === \d+\b(?! \/\*)/);
    expect(OPERANDS.length).toBe(OPCODE_NAMES.length);
  });
});
