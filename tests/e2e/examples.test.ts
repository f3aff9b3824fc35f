import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtConcerto, root } from '../support/built-concerto.ts';

const folder = join(root, 'examples');
const names = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

/** Each command is a process of its own, and examples start further ones. */
const withinMs = 120_000;

test('there are examples', () => {
  expect(names.length).toBeGreaterThan(0);
});

/** Whoever likes an example copies it: nothing in it may need the clone around it, but for what that one is about. */
const needsTheClone = new Set(['middleware-ts']);
let copies: string;
beforeAll(() => {
  copies = mkdtempSync(join(tmpdir(), 'concerto-examples-'));
  for (const name of names) cpSync(join(folder, name), join(copies, name), { recursive: true });
});
afterAll(() => rmSync(copies, { recursive: true, force: true }));

describe.each(names)('the example %s', (name) => {
  let cwd: string;
  beforeAll(() => {
    cwd = join(needsTheClone.has(name) ? folder : copies, name);
  });
  const answers = existsSync(join(folder, name, 'answers.jsonl')) ? ['--input', 'answers.jsonl'] : [];

  test('is complete: a README, an expected output, and no problem that the checker or the formatter would name', {
    timeout: withinMs,
  }, async () => {
    for (const file of ['README.md', 'Concerto.toml', 'src/main.conc', 'expected.txt']) {
      expect(existsSync(join(cwd, file)), `${name} has no ${file}`).toBe(true);
    }
    const checked = await builtConcerto(['check'], cwd);
    expect(checked).toMatchObject({ code: 0, stderr: expect.not.stringContaining('warning') });
    expect(await builtConcerto(['fmt', '--check'], cwd)).toMatchObject({ code: 0 });
  });

  test('has tests, and they pass', { timeout: withinMs }, async () => {
    const tested = await builtConcerto(['test'], cwd);
    expect(tested).toMatchObject({ code: 0 });
    expect(tested.stdout).toMatch(/^[1-9]\d* passed, 0 failed$/m);
  });

  test('prints what expected.txt says', { timeout: withinMs }, async () => {
    const ran = await builtConcerto(['run', ...answers], cwd);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(comparable(ran.stdout)).toBe(readFileSync(join(cwd, 'expected.txt'), 'utf8'));
  });
});

/**
 * What a program says, without what differs from run to run: how long things took, and the runtime's notes about
 * sessions, which interleave when several run at once.
 */
function comparable(output: string): string {
  return output.replaceAll(/^\[emit:listen:.*\n/gm, '').replaceAll(/"duration_ms": \d+/g, '"duration_ms": 0');
}
