import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonFault } from './json-fault.ts';

describe('jsonFault', () => {
  test.each([
    ['', 0],
    ['[1,]', 3],
    ['[{"a":NaN}]', 6],
    ['[{"a" 1}]', 6],
    ['{"a":1,}', 7],
    ['[1] x', 4],
    ['[1', 2],
    ['["a\tb"]', 3],
    ['["\\x"]', 2],
    ['01', 1],
    ['[}', 1],
  ])('%j fails at %i', (text, at) => {
    expect(jsonFault(text)).toBe(at);
  });

  test('finds none in a JSON value, and what stands before a fault has none', () => {
    const fragment = fc.constantFrom(
      ...'[]{}:,"\\/ \n'.split(''),
      '"a"',
      '"b":',
      '1',
      '-0.5e3',
      'true',
      'null',
      'x',
      'é',
    );
    const broken = fc.array(fragment, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(broken, fc.json()), (text) => {
        const at = jsonFault(text);
        expect(isJson(text) && at !== text.length).toBe(false);
        // What stands before the fault is not to blame for it.
        expect(jsonFault(text.slice(0, at))).toBe(at);
      }),
      { numRuns: 2000 },
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
