import { buildProgram } from '@concerto/language';
import { createVm, run } from '@concerto/vm';
import { expect, test } from 'vitest';

/** The lines that the trace of what ended the program names, innermost first. */
function linesOfFailure(text: string): (number | undefined)[] {
  const { module, diagnostics } = buildProgram({
    entry: 'main.conc',
    readFile: (path) => (path === 'main.conc' ? text : undefined),
  });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  const result = run(createVm(module, { entry: 'main' }), 100_000);
  if (result.status !== 'failed') throw new Error(`it is ${result.status}`);
  return result.failure.trace.map(({ line }) => line);
}

const GUARDS = `
fn inner(n: Int) -> Int {
    [1, 2][n]
}
fn guard(f: fn() -> Int) -> Int {
    try {
        f()
    } catch CastError(e) { e.message.len() }
}
`;

test('a fault that no clause of a `try` catches is told where it was raised', () => {
  const main = `fn main() {
    emit("a", guard(|| inner(7)));
}`;
  expect(linesOfFailure(`${GUARDS}${main}`)).toEqual([3, 11, 7, 11]);
});

test('the same through several of them, and out of what runs at the same time', () => {
  const main = `fn main() {
    let all = try {
        parallel for n in [1] {
            guard(|| inner(n + 1))
        }
    } catch DivisionError(e) { [e.message.len()] };
    emit("a", all);
}`;
  expect(linesOfFailure(`${GUARDS}${main}`)).toEqual([3, 13, 7, 13, 12]);
});

test('a fault behind one that was caught is told where it is', () => {
  const main = `fn main() {
    let n = try { inner(5) } catch IndexError(_e) { 0 };
    emit("a", guard(|| 1 / n));
}`;
  expect(linesOfFailure(`${GUARDS}${main}`)).toEqual([12, 7, 12]);
});
