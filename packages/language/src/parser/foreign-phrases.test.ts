import { describe, expect, test } from 'vitest';
import { buildProgram } from '../build-program.ts';
import { applyFixes } from '../diagnostics/apply-fixes.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';

const errorsOf = (text: string): readonly Diagnostic[] =>
  buildProgram({ entry: 'main.conc', readFile: () => text }).diagnostics.filter(({ severity }) => severity === 'error');

const STRUCT = 'struct P { x: Int, y: Int }\n';

describe('what people write who come from another language', () => {
  test.each([
    ['function main() { emit("x", 1); }', 'there is no `function`', '`fn`'],
    ['export fn f() { }', 'there is no `export`', '`pub`'],
    ['var x = 5; emit("x", x);', 'there is no `var`', '`let`'],
    ['interface P { x: Int }', 'there is no `interface`', '`struct`'],
    ['class P { constructor(x) { this.x = x; } }', 'there is no `class`', '`struct`'],
    ['fn f(a: Int): Int { a }', 'expected `->`', ''],
    ['fn f(a: Int[]) -> Int { a[0] }', 'an array type', '`Array<Int>`'],
    ['fn f(a: &Int) -> Int { a }', 'there are no references', 'leave `&` out'],
    ['fn f(a: Int) -> Int { *a }', 'there are no references', 'leave `*` out'],
    [`${STRUCT}impl P { fn f(&mut self) { self.x = 1; } }`, 'there are no references', 'leave `&` out'],
    ['struct Q { x: Int; y: Int }', 'a comma stands here', ''],
    ['trait Tr { }\nfn f<T extends Tr>(a: T) -> T { a }', 'expected `:`', ''],
    ['let n = 5; emit("x", `n = ${n} of ${n + 1}`);', 'double quotes', '"…${value}…"'],
    ['let n = 5; emit("x", n === 5);', 'there is no `===`', 'write `==`'],
    ['let n = 5; emit("x", n !== 5);', 'there is no `!==`', 'write `!=`'],
    ['let n = 5; emit("x", n > 3 ? "a" : "b");', 'there is no `? :`', '`if condition { a } else { b }`'],
    ['for (let i = 0; i < 3; i++) { emit("x", i); }', 'no parentheses', '`for i in 0..n'],
    ['for (const x of [1, 2]) { emit("x", x); }', 'no parentheses', '`for x in xs'],
    ['for x of [1, 2] { emit("x", x); }', 'expected `in`', ''],
    ['println!("hello {}", 1);', 'there are no macros', '`println(a, b)`'],
    ['let v = vec![1, 2]; emit("x", v);', 'there are no macros', '`[a, b]`'],
    ['let o = Some("a"); emit("x", o!.is_some());', '`!` means "not"', '`?? default`'],
    [`${STRUCT}let p = new P(1, 2); emit("x", p);`, 'there is no `new`', '`Name { field: value }`'],
    [`${STRUCT}let p = P(1, 2); emit("x", p);`, 'a type, not a value', '`P { x: …, y: … }`'],
    ['enum C { Red, Green }\nemit("x", C.Red);', 'a type, not a value', '`C::Red`'],
    ['let mut x = 1; x++; emit("x", x);', 'there is no `++`', '`+= 1`'],
    ['let mut x = 1; ++x; emit("x", x);', 'there is no `++`', '`x += 1`'],
    ['let mut x = 1; x--; emit("x", x);', 'there is no `--`', '`-= 1`'],
    ['emit("x", +5);', 'there is no `+`', 'leave it out'],
    ['emit("x", 1 << 2);', 'there is no `<<`', 'bits'],
    ['emit("x", 1 ^ 2);', 'unexpected character', '`a ** b`'],
    ['let x: Any = 1; if x is Int { emit("x", 1); }', 'there is no `is`', 'typeof(x)'],
    ['let x: Any = 1; if typeof x == "Int" { emit("x", x); }', '`typeof` is a function', '`typeof(x)`'],
    ['let xs = [1]; if 1 in xs { emit("x", 1); }', 'there is no `in`', '`xs.contains(x)`'],
    ['let a = [1]; emit("x", [...a, 2]);', 'there is no `...`', '`a + b`'],
    ['let a = {"b": 1}; emit("x", {...a, c: 2});', 'there is no `...`', '`a.merge(b)`'],
    ['import { foo } from "./foo";', 'brought in with `use`', '`use name::{a, b};`'],
    ['use std.math;', 'expected `;`', '`::`'],
    ['switch (1) { case 1: break; }', 'there is no `switch`', '`match value'],
    ['let xs = [1]; emit("x", xs.length());', 'no method `length`', '`.len(…)`'],
    ['let xs = ["a"]; emit("x", xs[0].toUpperCase());', 'no method', 'to_uppercase'],
    ['let xs = [1]; emit("x", xs.iter());', 'no method `iter`', 'values are copied'],
    ['fn f(x: Int) -> Int { if x > 1 { return 2; } }', 'expected `Int`, found `Nil`', 'add `else'],
    [
      'if true { emit("x", 1); } elif false { emit("x", 2); } else { emit("x", 3); }',
      'there is no `elif`',
      '`else if`',
    ],
    ['fn main() { if true emit("x", 1); }', 'expected `{`', 'between braces'],
    ['fn main() { for i in 0..3 emit("x", i); }', 'expected `{`', 'between braces'],
    ['fn f(a Int) -> Int { a }', 'expected `:`', '`name: Type`'],
    ['try { emit("x", 1); } catch e { emit("x", e); }', 'alone between parentheses', '`catch (e)`'],
    ['try { emit("x", 1); } catch (Error e) { emit("x", e); }', 'alone between parentheses', '`catch Error(e)`'],
    ['try { emit("x", 1); } catch { } finally { emit("x", 2); }', 'there is no `finally`', 'behind the `try`'],
    ['emit("x", [1].map(x -> x + 1));', 'stand between `|`', '`|x| …`'],
    ['emit("x", [1].map(|x| => x + 1));', 'without `=>`', ''],
    ['emit("x", [1, 2][0:1]);', 'with a range', '`xs[from..to]`'],
    ['# a comment of Python\nemit("x", 1);', 'unexpected character', '`//`'],
    ['#[test]\nfn f() { }', 'unexpected character', 'a decorator with `@`'],
    ['let a = Array::new(); emit("x", a);', 'no function `new`', '`[]`'],
    ['emit("x", Option::Some(1));', 'no function `Some`', '`Some` alone'],
    ['emit("x", Int::parse("1"));', 'no function `parse`', '.parse_int()'],
    ['agent A { connector: "a", command: "x" }', 'no field `command`', 'Concerto.toml'],
  ])('%s is one error', (text, message, help) => {
    const errors = errorsOf(text);
    expect(errors.map((error) => error.message)).toEqual([expect.stringContaining(message)]);
    expect(errors[0]?.help ?? '').toContain(help);
  });

  test.each([
    ['let n = 5; emit("x", n > 3 ? 1 : 2);', 'let n = 5; emit("x", if n > 3 { 1 } else { 2 });'],
    ['export function f() -> Int { 1 }', 'pub fn f() -> Int { 1 }'],
    ['fn f(a: Int[]): Int { a[0] }', 'fn f(a: Array<Int>) -> Int { a[0] }'],
    ['struct Q { x: Int; y: Int }', 'struct Q { x: Int, y: Int }'],
    [
      'try { emit("x", 1); } catch (Error e) { emit("x", e); }',
      'try { emit("x", 1); } catch Error(e) { emit("x", e); }',
    ],
    ['emit("x", [1].map((x) -> x + 1));', 'emit("x", [1].map(|x| x + 1));'],
    ['if true { } elif false { } else { emit("x", 3); }', 'if true { } else if false { } else { emit("x", 3); }'],
    ['emit("x", [1, 2][0:1]);', 'emit("x", [1, 2][0..1]);'],
    [
      'let o = Some(1); if let Some(x) = o { emit("x", x); }',
      'let o = Some(1); match o { Some(x) => { emit("x", x); }, _ => { } }',
    ],
    [
      'let o = Some(1); emit("x", if let Some(x) = o { x } else { 0 });',
      'let o = Some(1); emit("x", match o { Some(x) => { x }, _ => { 0 } });',
    ],
    [
      'let mut xs = [1]; while let Some(x) = xs.pop() { emit("x", x); }',
      'let mut xs = [1]; loop { match xs.pop() { Some(x) => { emit("x", x); }, _ => break } }',
    ],
  ])('%s has a fix that leaves nothing to say', (text, fixed) => {
    const result = applyFixes(
      text,
      errorsOf(text).flatMap(({ fix }) => fix ?? []),
    );
    expect(result.text).toBe(fixed);
    expect(errorsOf(result.text)).toEqual([]);
  });

  test.each([
    ['fn f() -> Option<Int> { None }\nfn g() -> Option<Int> { Some(f()? + 1) }\nemit("x", g());'],
    ['let new = 1; let import = 2; let class = 3; emit("x", new + import + class);'],
    ['let function = |x: Int| x; emit("x", function(1));'],
    ['let x = 1 - -1; emit("x", x);'],
    ['let is = 1; let of = 2; emit("x", [is, of]);'],
    ['for (k, v) in {"a": 1} { emit(k, v); }'],
    ['let typeof_x = typeof(1); emit("x", typeof_x);'],
    [
      'fn f() -> Result<Int, String> { Ok(1) }\nfn g() -> Result<Any, String> { Ok({a: f()?, b: f()?}) }\nemit("x", g());',
    ],
  ])('%s is as it was', (text) => {
    expect(errorsOf(text)).toEqual([]);
  });
});
