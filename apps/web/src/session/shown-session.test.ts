import { expect, test } from 'vitest';
import { pathFrom } from './shown-session.ts';

test.each([
  ['/a/b', '/a/b/c.ts', 'c.ts'],
  ['/a/b', '/a/b', '.'],
  ['/a/b', '/a/bc/d.ts', '/a/bc/d.ts'],
  ['/a/b', 'c.ts', 'c.ts'],
  ['C:\\a', 'C:\\a\\b.ts', 'b.ts'],
  [undefined, '/a/b', '/a/b'],
])('from %s the path %s is %s', (folder, path, shown) => {
  expect(pathFrom(folder, path)).toBe(shown);
});
