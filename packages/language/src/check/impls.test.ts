import { expect, test } from 'vitest';
import { loadProgram } from '../modules/load-program.ts';
import { parseSource } from '../parser/parse-source.ts';
import { checkProgram } from './check-program.ts';
import { methodNames } from './find-method.ts';
import { INT } from './types.ts';

function checked(text: string) {
  const readFile = (path: string) => (path === 'main.conc' ? text : undefined);
  return checkProgram({ program: loadProgram({ entry: 'main.conc', readFile, parse: parseSource }).program });
}

test('what a program adds to a built-in type is its own, and stays so when another one is checked', () => {
  const shape = 'trait Shape { fn area(self) -> Int; }\nimpl Shape for Int { fn area(self) -> Int { self } }\n';
  const first = checked(`${shape}fn main() -> Int { 2.area() }`);
  const second = checked('fn main() -> Int { 2.area() }');
  expect(first.diagnostics).toEqual([]);
  expect(second.diagnostics.map(({ message }) => message)).toEqual([expect.stringContaining('area')]);
  expect(methodNames(first.context, INT)).toContain('area');
  expect(methodNames(second.context, INT)).not.toContain('area');
});
