import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as check from '../src/language/check-command.ts';
import * as tests from '../src/language/test-command.ts';
import * as program from '../src/run/run-command.ts';
import { type } from './type-command.ts';

/** What a clone or a program brings: it would clear the line and write the clipboard. */
const evil = '\\u{d}\\u{1b}[2K\\u{1b}]52;c;ZQ==\\u{7}\\u{9b}2J\\u{202e}';
// oxlint-disable-next-line no-control-regex -- they are what must not be left
const acting = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u202a-\u202e]|\u001b(?!\[[\d;]*m)/;

let directory: string;
let isTerminal: boolean;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'concerto-foreign-'));
  isTerminal = process.stdout.isTTY;
  process.stdout.isTTY = true;
});
afterEach(() => {
  process.stdout.isTTY = isTerminal;
  rmSync(directory, { recursive: true, force: true });
});

const source = `@test("named ${evil}")
fn fails() { std::log::warn("said ${evil}"); panic("failed ${evil}"); }

fn main() -> Result<String, String> {
    print("printed ${evil}");
    emit("news", "emitted ${evil}");
    Err("ended ${evil}")
}
`;

test.each([
  ['test', tests, []],
  ['test --json', tests, ['--json']],
  ['test --debug', tests, ['--debug']],
  ['run', program, []],
  ['run --json', program, ['--json']],
  ['check --json', check, ['--json']],
] as const)('%s: nothing that a program says acts on the terminal', async (_, command, flags) => {
  const file = join(directory, 'a.conc');
  writeFileSync(file, source);
  const { out, err } = await type(command, ...flags, file);
  expect(out + err).not.toBe('');
  expect(acting.exec(out + err)).toBeNull();
});
