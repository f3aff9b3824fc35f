import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeFolder } from './make-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'concerto-make-folder-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a folder is made with those above it, and for whom it is', () => {
  const deep = join(folder, 'a', 'b');
  makeFolder(deep, { mode: 0o700, advice: '' });
  makeFolder(deep, { advice: '' });
  expect(statSync(deep).mode & 0o777).toBe(0o700);
});

test('what is in the way is named, with what to do', () => {
  writeFileSync(join(folder, 'file'), '');
  expect(() => makeFolder(join(folder, 'file', 'src'), { advice: 'take another place' })).toThrow(
    /file\/src cannot be made: \S+file is a file; take another place$/,
  );
});
