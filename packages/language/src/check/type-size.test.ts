import { expect, test } from 'vitest';
import { errorsOf } from './testing/check-source.ts';

const STEPS = Array.from({ length: 60 }, (_, index) => index);

/** Without a limit each of these takes the checker 2^60 steps. */
test.each([
  [
    'calls',
    `fn pair<A, B>(a: A, b: B) -> (A, B) { (a, b) }\nfn main() { let x0 = 1; ${STEPS.map((n) => `let x${n + 1} = pair(x${n}, x${n});`).join(' ')} emit("x", x60); }`,
  ],
  [
    'nested calls',
    `fn dup<T>(x: T) -> (T, T) { (x, x) }\nfn main() { emit("x", ${'dup('.repeat(60)}1${')'.repeat(60)}); }`,
  ],
  [
    'struct literals',
    `struct P<A, B> { a: A, b: B }\nfn main() { let x0 = 1; ${STEPS.map((n) => `let x${n + 1} = P { a: x${n}, b: x${n} };`).join(' ')} emit("x", x60); }`,
  ],
  [
    'aliases',
    `struct P<A, B> { a: A, b: B }\ntype T0 = Int;\n${STEPS.map((n) => `type T${n + 1} = P<T${n}, T${n}>;`).join(' ')}\nfn main() { let f = |x: T60| 1; emit("x", f); }`,
  ],
])('a type that doubles with each step is refused: %s', (_, source) => {
  expect(errorsOf(source)[0]).toContain('more than 20000 parts');
});
