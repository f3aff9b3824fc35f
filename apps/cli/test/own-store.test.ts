import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runConcerto } from '../../../tests/support/run-concerto.ts';

test('where the store of a folder cannot be made, the start says where, why, and what to do', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-own-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, '.concerto'), 'in the way');
  const { code, err } = await runConcerto(['serve', '--port', '0'], {}, folder).ended;
  expect(code).toBe(1);
  expect(err).toMatch(/\.concerto cannot be made: .*\.concerto is a file/);
  expect(err).toContain('name a store elsewhere with --store');
});
