import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ProgramCompiler } from '../src/serve/program-compiler.ts';

const folder = mkdtempSync(join(tmpdir(), 'concerto-compiler-'));
const flags = ['--import', createRequire(import.meta.url).resolve('tsx'), '--conditions=@concerto/source'];
const withinMs = 2_000;
const compiler = new ProgramCompiler({ withinMs, flags });
afterAll(() => {
  compiler.close();
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const plain = write('plain.conc', 'fn main() -> Int { 1 }\n');

test('a program that takes too long to check is refused, whoever waits behind it is not, and nothing else stands still', {
  timeout: 120_000,
}, async () => {
  const many = Array.from(
    { length: 60_000 },
    (_, n) => `fn f${n}(a: Int) -> Int { let b = a + ${n}; match b { 1 => b, _ => b * 2 } }\n`,
  );
  const long = write('long.conc', `${many.join('')}fn main() -> Int { 1 }\n`);
  expect((await compiler.compile(plain)).ok).toBe(true);
  let [last, longest] = [performance.now(), 0];
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 10);
  const [refused, behind] = await Promise.all([compiler.compile(long), compiler.compile(plain)]);
  clearInterval(timer);
  const help = 'write out the types of what takes long, or divide it';
  expect(refused).toEqual({ ok: false, error: `${long} is not run: to check it takes more than 2 s; ${help}` });
  expect(behind.ok).toBe(true);
  expect(longest).toBeLessThan(withinMs / 2);
});

test('what is wrong with a program is said as if it had been checked here', { timeout: 60_000 }, async () => {
  const wrong = write('wrong.conc', 'fn main() -> Int { "one" }\n');
  expect(await compiler.compile(wrong)).toEqual({
    ok: false,
    error: `${wrong} has errors; \`concerto check ${wrong}\` shows them`,
  });
  expect(await compiler.check('program.wrong', wrong, false)).toMatchObject({
    ok: true,
    value: { check: 'program.wrong', status: 'fail', message: expect.stringContaining('wrong.conc:1:20') },
  });
  expect(await compiler.sources(folder, 'plain.conc')).toMatchObject({ ok: true, value: [{ path: 'plain.conc' }] });
});

test('a process that cannot be started is not started for ever', { timeout: 60_000 }, async () => {
  const broken = new ProgramCompiler({ flags: ['--no-such-flag'] });
  expect(await broken.compile(plain)).toEqual({
    ok: false,
    error: `${plain} is not run: the process that should check it is not there`,
  });
});
