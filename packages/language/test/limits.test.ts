import { buildProgram } from '@concerto/language';
import { createVm, type Limits, run } from '@concerto/vm';
import { expect, test } from 'vitest';

/** Runs until it ends, a slice at a time; what it emitted, and why it failed. */
function runLimited(source: string, limits: Partial<Limits>) {
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => source });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  const vm = createVm(module, { entry: 'main', limits });
  let emits = 0;
  for (let slices = 0; slices < 10_000; slices++) {
    const ran = run(vm, 10_000);
    emits += ran.effects.filter(({ kind }) => kind === 'emit').length;
    if (ran.status === 'done') return { emits, problem: undefined };
    if (ran.status === 'failed') return { emits, problem: ran.failure.message };
  }
  return { emits, problem: 'still running' };
}

const MEMORY = { memory: 4 * 1024 * 1024 };
const FULL = /^the program's values take more than 4 MiB, its limit `memory` \(main\.conc:\d+\)$/;

test('a loop that never ends is an error that names its line, and cannot be caught', () => {
  const source = 'fn main() {\n  let mut n = 0; loop {\n    try {\n      loop { n += 1; }\n    } catch { }\n  }\n}';
  expect(runLimited(source, { steps: 100_000 }).problem).toBe(
    'more than 100000 steps without an effect, its limit `steps`: a loop that never ends (main.conc:4)',
  );
});

test.each(['while true { }', 'loop { }'])('one with nothing in it names its line too: %s', (loop) => {
  expect(runLimited(`fn main() {\n    ${loop}\n}\n`, { steps: 1_000 }).problem).toMatch(/never ends \(main\.conc:2\)$/);
});

test('steps count from one effect to the next', () => {
  const source = 'fn main() { for i in 0..50 { for j in 0..9000 { } emit("i", i); } }';
  expect(runLimited(source, { steps: 100_000 })).toEqual({ emits: 50, problem: undefined });
});

test.each([
  ['an array of numbers', 'let mut xs = []; loop { xs.push(1); }'],
  ['an array that doubles', 'let mut xs = [1]; loop { xs = xs.concat(xs); }'],
  [
    'copies of an array',
    'let big = (0..100000).to_array(); let mut all = []; loop { let mut one = big; one.push(1); all.push(one); }',
  ],
  ['slices of an array', 'let big = (0..100000).to_array(); let mut all = []; loop { all.push(big.slice(0, 90000)); }'],
  [
    'lists out of an Any',
    'let any: Any = (0..50000).to_array(); let mut all = []; loop { let fs: Array<Float> = any; all.push(fs); }',
  ],
  ['strings', 'let mut all = []; let mut n = 0; loop { n += 1; all.push("${n}".repeat(10000)); }'],
  ['a map', 'let mut m = {"a": 1}; let mut n = 0; loop { n += 1; m["${n}"] = n; }'],
  ['structs', 'let mut all = []; loop { all.push(P { x: 1, y: 2 }); }'],
  ['closures', 'let mut all = []; let mut n = 0; loop { n += 1; let k = [n, n]; all.push(|| k); }'],
])('memory that grows without end ends the program: %s', (_, body) => {
  expect(runLimited(`struct P { x: Int, y: Int }\nfn main() { try { ${body} } catch { } }`, MEMORY).problem).toMatch(
    FULL,
  );
});

test('what is no longer held does not count, nor does the same text twice', () => {
  const source = `fn main() {
    let text = "x".repeat(100000);
    let mut all = [];
    for i in 0..200 { all.push(text); }
    for i in 0..300 { let xs = (0..10000).to_array(); emit("n", xs.len()); }
  }`;
  expect(runLimited(source, MEMORY)).toEqual({ emits: 300, problem: undefined });
});
