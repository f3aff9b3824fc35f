import { expect, test } from 'vitest';
import { createSourceFile, lineText, positionAt } from './source-file.ts';

test('columns count characters, not UTF-16 units', () => {
  const file = createSourceFile('a', 'x😀y\nz');
  expect(positionAt(file, 3)).toEqual({ line: 1, column: 3 });
  expect(positionAt(file, 5)).toEqual({ line: 2, column: 1 });
});

test('every kind of line break ends a line', () => {
  const file = createSourceFile('a', 'a\r\nb\rc\nd');
  expect([1, 2, 3, 4, 5].map((line) => lineText(file, line))).toEqual(['a', 'b', 'c', 'd', '']);
  expect(positionAt(file, 99)).toEqual({ line: 4, column: 2 });
});
