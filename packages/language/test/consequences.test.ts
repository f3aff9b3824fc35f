import { analyseProgram, positionAt } from '@concerto/language';
import { describe, expect, test } from 'vitest';

/** `LINE MESSAGE` of each error, and of each warning with `LINE warning: …`. */
function told(text: string): string[] {
  const { program, diagnostics } = analyseProgram({
    entry: 'main.conc',
    readFile: (path) => (path === 'main.conc' ? text : undefined),
  });
  return diagnostics.map(({ file, span, message, severity }) => {
    const source = program.files.get(file)?.source;
    const line = source === undefined ? 0 : positionAt(source, span.start).line;
    return `${line} ${severity === 'error' ? '' : 'warning: '}${message}`;
  });
}

const REST = `
fn show(p: Point) -> String { "\${p.x} \${p.y}" }

fn main() {
    emit("p", show(Point { x: 1, y: 2 }));
}
`;

/** One slip of the pen each, in a program that is right otherwise. */
const SLIPS: readonly (readonly [what: string, source: string, told: string])[] = [
  ['a struct without its `}`', `struct Point {\n    x: Int,\n    y: Int,\n${REST}`, '1 this `{` is never closed'],
  ['a struct without its `{`', `struct Point x: Int, y: Int }\n${REST}`, '1 expected `{`, found `x`'],
  ['a struct without its keyword', `Point { x: Int, y: Int }\n${REST}`, '1 expected `;` after the expression'],
  [
    'an agent without its `}`',
    `agent A {\n    connector: a\n${REST.replaceAll('Point', 'Any')}`,
    '1 this `{` is never',
  ],
  [
    'an enum without its `}`',
    'enum E {\n    A(Int),\n    B\n\nfn f(e: E) -> Int {\n    match e { E::A(n) => n, E::B => 0 }\n}\n\nfn main() { emit("x", f(E::B)); }',
    '1 this `{` is never closed',
  ],
  [
    'a `match` without its `}`',
    'fn f(n: Int) -> Int {\n    match n {\n        0 => 1,\n        _ => 2,\n}\n\nfn main() {\n    emit("x", f(1));\n}',
    '1 this `{` is never closed',
  ],
  [
    'an arrow that is missing',
    'fn half(n: Int) Result<Int, String> { Ok(n / 2) }\nfn main() -> Result<Nil, String> { emit("x", half(4)?); Ok(nil) }',
    '1 expected `->` before the result',
  ],
  [
    'a `match` without its `{`',
    'fn f(n: Int) -> Int {\n    match n\n        0 => 1,\n        _ => 2,\n    }\n}\nfn main() { emit("x", f(1)); }',
    '3 expected `{` after the value to match',
  ],
  [
    'a function without its `{`',
    'fn f(n: Int) -> Int\n    let m = n + 1;\n    m\n}\nfn main() { emit("x", f(1)); }',
    '2 expected `{`',
  ],
  ['a `=` that is missing', 'fn main() {\n    let x 5;\n    emit("x", x + 1);\n}', '2 expected `=` before the value'],
  [
    'a `)` that is missing',
    'fn f(a: Int, b: Int) -> Int { a + b }\nfn main() {\n    emit("x", f(1, 2);\n}',
    '3 expected `,` or `)`',
  ],
  ['a `}` too many', 'fn main() {\n    let x = 1;\n    }\n    emit("x", x);\n}', '5 this `}` closes nothing'],
  [
    '`base` beside its old name',
    'model M { provider: p, model: "a", base: "b" }\nfn main() { emit("m", M); }',
    '1 `model` is the old name',
  ],
];

describe('what only follows from a mistake is not told', () => {
  test.each(SLIPS)('%s', (_what, source, expected) => {
    const lines = told(source);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(expected);
  });
});

test('the mistakes of other functions are told beside one that cannot be read', () => {
  const source = `fn one() -> Int { "a" }
fn two() { emit("x" nothing); }
struct S { n: Int }
impl S {
    fn three(self) -> Int { self.oops }
    fn four(self) -> Int { self.n + ; }
}
fn main() { let unused = 1; two(); emit("x", one() + S { n: 1 }.four()); }`;
  const lines = told(source).map((line) => line.replace(/,.*/, ''));
  expect(lines.filter((line) => line.startsWith('1 '))).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith('2 '))).toHaveLength(1);
  expect(lines).toContain('5 no field `oops` in `S`');
  expect(lines.filter((line) => line.startsWith('6 '))).toHaveLength(1);
  expect(lines).toContain('8 warning: unused variable `unused`');
});

test('a `;` that is missing hides nothing', () => {
  const source = 'fn main() {\n    let a = 1\n    emit("x", nothing)\n    emit("y", a + "z");\n}';
  expect(told(source).map((line) => line.slice(0, 2))).toEqual(['2 ', '3 ', '3 ', '4 ']);
});
