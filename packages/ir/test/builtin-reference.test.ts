import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { builtinReference } from './builtin-reference.ts';

const page = new URL('../../../docs/guide/builtins.md', import.meta.url);

test('the reference in the docs is what the table says', () => {
  const text = builtinReference();
  if (process.env.UPDATE !== undefined) writeFileSync(page, text);
  expect(readFileSync(page, 'utf8')).toBe(text);
});
