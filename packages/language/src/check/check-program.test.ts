import { describe, expect, test } from 'vitest';
import type { ManifestNames } from './check-program.ts';
import { checkSource, diagnose, errorsOf } from './testing/check-source.ts';

const MANIFEST: ManifestNames = {
  connections: new Set(['local']),
  agents: new Set(['echo']),
  mcp: new Set(),
};

const MODEL = 'model M { provider: local, base: "m" }\n';
const AGENT = 'agent A { connector: echo }\n';

/** One mistake each: the code it has, where it is told, and what the message must name. */
const MISTAKES: readonly (readonly [code: string, line: number, mention: string, source: string])[] = [
  ['C0247', 1, '"ask"', 'tool T { description: "d", @describe("x") @permission("aks") pub fn f(self) -> Int { 1 } }'],
  ['C0247', 1, 'needs a value', 'tool T { description: "d", @describe("x") @permission pub fn f(self) -> Int { 1 } }'],
  ['C0247', 1, 'no model can call', 'tool T { description: "d", @permission("ask") fn f(self) -> Int { 1 } }'],
  ['C0247', 1, 'methods of tools', '@permission("ask") fn f() -> Int { 1 }'],
  [
    'C0201',
    1,
    'two',
    'tool T { description: "d", @describe("x") @permission("ask") @permission("deny") pub fn f(self) -> Int { 1 } }',
  ],
  ['C0313', 1, 'one parameter', '@supervisor fn guard(x: Int) { emit("x", x); }'],
  ['C0200', 2, 'totle', 'fn main() {\n  emit("t", totle);\n}'],
  ['C0200', 1, 'Bxo', 'fn size(b: Bxo) -> Int { 1 }'],
  ['C0200', 1, 'Missing', 'impl Missing { fn f(self) -> Int { 1 } }'],
  ['C0200', 1, 'Nope', 'struct S { x: Int } impl Nope for S { }'],
  ['C0200', 2, 'Blue', 'enum Color { Red }\nfn main() { emit("c", Color::Blue); }'],
  ['C0200', 1, 'prse', 'fn main() { emit("x", std::json::prse("1")); }'],
  ['C0200', 1, 'missing', 'use missing::thing;'],
  ['C0200', 2, 'nope', 'mod a { pub use super::*; }\nuse a::*; fn main() { emit("x", nope); }'],
  ['C0201', 2, 'twice', 'fn twice() {}\nfn twice() {}'],
  ['C0201', 1, 'a', 'fn f(a: Int, a: Int) -> Int { a }'],
  ['C0202', 1, '-', 'fn main() { emit("x", 1 - "x"); }'],
  ['C0202', 1, 'Int', 'fn main() { emit("x", "n: " + 1); }'],
  ['C0202', 1, '!', 'fn main() { emit("x", !3); }'],
  ['C0202', 1, '&&', 'fn main() { emit("x", 1 && true); }'],
  ['C0202', 1, 'range', 'fn main() { emit("x", 1.5..2); }'],
  ['C0203', 1, 'String', 'fn main() { emit("x", 1 == "one"); }'],
  ['C0204', 1, 'Int', 'fn main() { if 1 { emit("x", 1); } }'],
  ['C0204', 1, 'String', 'fn main() { while "go" { emit("x", 1); } }'],
  ['C0205', 1, 'Int', 'fn main() { let n: Int = "text"; emit("n", n); }'],
  ['C0205', 1, 'String', 'fn name() -> String { 42 }'],
  ['C0205', 2, 'Int', 'fn f() -> Int {\n  return "x";\n}'],
  ['C0205', 2, '`n`', 'fn inc(n: Int) -> Int { n + 1 }\nfn main() { emit("x", inc("one")); }'],
  ['C0205', 1, 'ends without a value', 'fn f() -> Int { let _x = 1; }'],
  ['C0205', 1, 'Result', 'fn f() -> Result<Int, String> { 5 }'],
  ['C0205', 2, 'String', 'fn id<T>(x: T) -> T { x }\nfn main() { let b: String = id(2); emit("b", b); }'],
  ['C0205', 1, 'Int', 'fn f() -> Result<Int, Int> { throw "text"; }'],
  ['C0205', 1, 'Int', 'fn main() { let mut xs = [1]; xs.push(2.5); emit("x", xs); }'],
  ['C0205', 1, 'Int', 'fn main() { let mut s = std::collections::Set::from([1]); s.insert(2.5); emit("s", s); }'],
  [
    'C0205',
    1,
    'Int',
    'struct B<T> { v: T } fn f<T>(b: B<T>, v: T) -> T { v } fn main() { emit("x", f(B { v: 1 }, 2.5)); }',
  ],
  ['C0205', 2, 'Int', 'hashmap h: HashMap<String, Int> = HashMap::new();\nfn main() { h.set_many({"a": "text"}); }'],
  ['C0205', 2, 'Int', 'hashmap h: HashMap<Int, Int> = HashMap::new();\nfn main() { emit("x", h.get_many(["a"])); }'],
  ['C0205', 1, 'needs numbers', 'fn main() { emit("x", ["a", "b"].sum()); }'],
  ['C0205', 1, 'Float', 'fn f() -> Int { 2 ** -1 }'],
  ['C0206', 1, 'total', 'fn main() { let total = 1; total = 2; emit("t", total); }'],
  ['C0206', 1, 'xs', 'fn main() { let xs = [1]; xs.push(2); emit("x", xs); }'],
  ['C0206', 2, 'p', 'struct P { x: Int }\nfn main() { let p = P { x: 1 }; p.x = 2; emit("p", p); }'],
  ['C0206', 1, 'item', 'fn main() { for item in [1] { item = 3; emit("i", item); } }'],
  ['C0206', 2, 'LIMIT', 'const LIMIT: Int = 3;\nfn main() { LIMIT = 4; }'],
  ['C0206', 1, 'self', 'struct C { n: Int } impl C { fn f(self) { self.n = 2; } }'],
  ['C0206', 1, 'assign', 'fn main() { 1 + 1 = 2; }'],
  ['C0207', 1, 'break', 'fn main() { break; }'],
  ['C0207', 1, 'continue', 'fn main() { continue; }'],
  ['C0207', 1, 'nope', "fn main() { 'a: loop { break 'nope; } }"],
  ['C0207', 2, 'break', `${AGENT}fn main() { loop { let _ = listen A.execute("x") { "log" => |m| { break; } }; } }`],
  ['C0207', 2, 'continue', `${AGENT}fn main() { let _ = listen A.execute("x") { "log" => |m| { continue; } }; }`],
  [
    'C0207',
    2,
    'break',
    `${AGENT}fn main() { let _ = listen A.execute("x") { "log" => |m| { let f = || { break 1; }; f() } }; }`,
  ],
  [
    'C0207',
    2,
    'out',
    `${AGENT}fn main() { 'out: loop { let _ = listen A.execute("x") { "log" => |m| { break 'out 1; } }; } }`,
  ],
  ['C0205', 2, 'Int', `${AGENT}fn main() { let _ = listen A.execute("x") as Int { "log" => |m| { break "one"; } }; }`],
  ['C0208', 1, 'throw', 'fn fail() -> Int { throw "no"; }'],
  ['C0208', 1, 'throw', 'fn main() { try { throw "x"; } catch Int(e) { emit("e", e); } }'],
  ['C0209', 2, '?', 'fn get() -> Result<Int, String> { Ok(1) }\nfn main() { let n = get()?; emit("n", n); }'],
  ['C0209', 1, '?', 'fn main() -> Result<Int, String> { Ok(5?) }'],
  ['C0209', 1, 'Option', 'fn f() -> Option<Int> { let r: Result<Int, String> = Ok(1); Some(r?) }'],
  ['C0210', 2, 'await', 'async fn one() -> Int { 1 }\nfn main() { emit("n", await one()); }'],
  ['C0211', 2, 'add', 'fn add(a: Int, b: Int) -> Int { a + b }\nfn main() { emit("x", add(1)); }'],
  ['C0211', 2, 'add', 'fn add(a: Int, b: Int) -> Int { a + b }\nfn main() { emit("x", add(1, 2, 3)); }'],
  ['C0212', 1, 'Int', 'fn main() { for x in 5 { emit("x", x); } }'],
  ['C0213', 2, 'check_it', '@test fn check_it() { assert(true); }\nfn main() { check_it(); }'],
  ['C0214', 1, 'expect_fail', '@expect_fail fn f() { }'],
  ['C0215', 1, 'Nobody', '@test fn t() { mock Nobody { response: "x" } }'],
  ['C0215', 2, 'mock', `${MODEL}fn main() { mock M { response: "x" } }`],
  ['C0215', 2, 'helper', 'fn helper() {}\n@test fn t() { mock helper { response: "x" } }'],
  ['C0216', 1, 'thing', 'fn show(thing) { emit("t", thing); }'],
  ['C0217', 1, 'check_it', '@test fn check_it(n: Int) { assert_eq(n, 1); }'],
  ['C0218', 1, 'provider', 'model M { base: "m" }'],
  ['C0219', 1, 'description', 'tool T { @describe("x") pub fn f(self) -> Int { 1 } }'],
  ['C0219', 1, 'describe', 'tool T { description: "d", pub fn f(self) -> Int { 1 } }'],
  ['C0219', 1, 'describe', 'tool T { description: "d", @describe() pub fn f(self) -> Int { 1 } }'],
  ['C0219', 1, 'describe', 'tool T { description: "d", @describe pub fn f(self) -> Int { 1 } }'],
  ['C0220', 1, 'x', 'struct P { x: Int, x: String }'],
  ['C0221', 1, 'result type', 'pipeline P { stage only(n: Int) { n } }'],
  ['C0221', 1, 'two', 'pipeline P { stage one(_n: Int) -> String { "x" } stage two(n: Int) -> Int { n } }'],
  ['C0221', 1, 'String', 'pipeline P(input: Int) -> String { stage one(n: Int) -> Int { n } }'],
  ['C0221', 1, '2 parameters', 'pipeline P { stage one(a: Int, b: Int) -> Int { a + b } }'],
  ['C0224', 2, 'depth', 'struct P { x: Int, depth: Int }\nfn main() { emit("p", P { x: 1 }); }'],
  ['C0225', 1, 'Int', 'fn main() { let n = 5; emit("x", n(1)); }'],
  ['C0226', 2, 'constant', 'fn now() -> Int { 1 }\nconst START: Int = now();'],
  ['C0226', 1, 'division', 'const D: Int = 1 / 0;'],
  ['C0227', 2, 'secret', 'mod m { fn secret() -> Int { 2 } }\nfn main() { emit("no", m::secret()); }'],
  ['C0228', 1, 'nowhere', 'mod nowhere;'],
  ['C0229', 1, 'temprature', 'model M { provider: local, temprature: 0.5 }'],
  ['C0229', 1, 'timeuot', 'agent A { connector: echo, timeuot: 5 }'],
  ['C0230', 1, 'retyr', '@retyr(max: 2) fn work() { }'],
  [
    'C0231',
    3,
    'perimeter',
    'trait M { fn area(self) -> Int; fn perimeter(self) -> Int; }\nstruct S { s: Int }\nimpl M for S { fn area(self) -> Int { self.s } }',
  ],
  [
    'C0231',
    3,
    'area',
    'trait M { fn area(self) -> Int; }\nstruct S { s: Int }\nimpl M for S { fn area(self) -> String { "${self.s}" } }',
  ],
  ['C0232', 2, 'Blue', 'enum C { Red, Blue }\nfn f(c: C) -> Int { match c { C::Red => 1 } }'],
  ['C0232', 1, 'None', 'fn f(o: Option<Int>) -> Int { match o { Some(n) => n } }'],
  ['C0232', 1, 'false', 'fn f(b: Bool) -> Int { match b { true => 1, false if b => 2 } }'],
  ['C0232', 1, '"mid"', 'fn f(l: "low" | "mid") -> Int { match l { "low" => 1 } }'],
  ['C0233', 1, 'String', 'fn main() { let xs = [1, "two"]; emit("x", xs); }'],
  ['C0234', 1, 'Bool', 'fn f(n: Int) -> Int { match n { true => 1, _ => 2 } }'],
  ['C0234', 1, 'every alternative', 'fn f(o: Option<Int>) -> Int { match o { Some(_n) | None => 1 } }'],
  ['C0234', 1, '3 elements', 'fn main() { let (_a, _b, _c) = (1, 2); }'],
  [
    'C0235',
    3,
    'Area',
    'trait Area { fn area(self) -> Int; }\nfn f<T: Area>(x: T) -> Int { x.area() }\nfn main() { emit("x", f(1)); }',
  ],
  ['C0236', 2, 'Box', 'struct Box<T> { v: T }\nfn f(b: Box<Int, Int>) -> Int { b.v }'],
  ['C0237', 1, 'A', 'const A: Int = B;\nconst B: Int = A;'],
  ['C0237', 1, 'A', 'type A = B;\ntype B = A;'],
  ['C0238', 1, 'elsewhere', 'model M { provider: elsewhere, base: "m" }'],
  ['C0239', 1, 'x', 'fn main() { let x; emit("x", x); x = 1; }'],
  ['C0240', 2, 'c', 'fn f(a: Int) -> Int { a }\nfn main() { emit("x", f(c: 2)); }'],
  ['C0240', 2, 'twice', 'fn f(a: Int) -> Int { a }\nfn main() { emit("x", f(1, a: 2)); }'],
  ['C0241', 2, 'model', `${MODEL}fn main() { let _ = listen M.execute("x") { }; }`],
  [
    'C0241',
    3,
    'model',
    `${MODEL}memory m: Memory = Memory::new();\nfn main() { let _ = listen M.with_memory(m).execute("x") { }; }`,
  ],
  ['C0241', 2, 'Int', `${AGENT}fn main() { let _ = listen A.execute("x") { "log" => |_n: Int| { } }; }`],
  ['C0241', 2, 'name', `${AGENT}fn main() { let _ = listen A.execute("x") { "log" (parallel) => |_m| { } }; }`],
  ['C0241', 2, 'shutdown', `${AGENT}fn main() { let _ = listen A.shutdown() { }; }`],
  ['C0241', 2, '`paralel`', `${AGENT}fn main() { let _ = listen A.execute("x") { _ (paralel: true) => |_m| { } }; }`],
  ['C0241', 2, 'name', `${AGENT}fn main() { let _ = listen A.execute("x") { _ (true) => |_m| { } }; }`],
  ['C0241', 2, 'true', `${AGENT}fn main() { let _ = listen A.execute("x") { _ (parallel: 1) => |_m| { } }; }`],
  [
    'C0241',
    2,
    'twice',
    `${AGENT}fn main() { let _ = listen A.execute("x") { _ (parallel: true, parallel: false) => |_m| { } }; }`,
  ],
  [
    'C0241',
    2,
    '`result`',
    `${AGENT}fn main() { let _ = listen A.execute("x") { "log" | "result" (parallel: true) => |_m| { } }; }`,
  ],
  ['C0229', 1, '`parallel`', 'agent A { connector: "a", parallel: true }'],
  ['C0241', 2, 'log', `${AGENT}fn main() { let _ = listen A.execute("x") { "log" => |_a| { }, "log" => |_b| { } }; }`],
  ['C0242', 1, 'Array', 'fn main() { emit("x", [1] as Int); }'],
  ['C0243', 1, 'k', 'fn main() { let k = 2; fn g() -> Int { k } emit("g", g()); }'],
  ['C0244', 1, 'index', 'fn main() { emit("x", [1]["a"]); }'],
  ['C0245', 1, 'type', 'struct S { x: Int } fn main() { emit("x", S); }'],
  ['C0247', 1, 'mx', '@retry(mx: 2) model M { provider: local }'],
  ['C0248', 1, 'temperature', 'model M { provider: local, temperature: "hot" }'],
  ['C0249', 2, 'huge', 'fn f(l: "low" | "high") -> String { l }\nfn main() { emit("x", f("huge")); }'],
  ['C0250', 2, 'widht', 'struct P { x: Int }\nfn main() { emit("x", P { x: 1 }.widht); }'],
  ['C0250', 2, 'yy', 'struct P { x: Int }\nfn main() { emit("p", P { x: 1, yy: 2 }); }'],
  ['C0251', 1, 'oops', 'fn f(n: Int) -> Int { n.oops() }'],
  ['C0251', 1, 'go', 'fn f<T>(x: T) -> Int { x.go() }'],
  ['C0252', 1, 'fn(Int)', 'schema S { f: fn(Int) -> Int }'],
  ['C0248', 2, 'not a tool', 'fn helper() { }\nmodel M { provider: local, tools: [helper] }'],
  [
    'C0227',
    2,
    'hidden',
    'mod m { pub struct S { x: Int } impl S { pub fn open(self) -> Int { self.x } fn hidden(self) -> Int { 1 } } }\nfn main() { emit("b", m::S { x: 1 }.hidden()); }',
  ],
  ['C0205', 1, 'without `else`', 'fn h(x: Int) -> String { if x > 1 { "a" } }'],
  ['C0205', 1, 'numbers', 'fn main() { emit("x", std::math::abs("a")); }'],
  ['C0235', 2, 'Int', 'trait A { fn a(self) -> Int; }\nfn main() { emit("x", A::a(5)); }'],
];

describe('mistakes', () => {
  test.each(MISTAKES)('%s on line %d, naming %s', (code, line, mention, source) => {
    const told = errorsOf(source, { manifest: MANIFEST });
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(new RegExp(`^${line} error ${code} `));
    expect(told[0]).toContain(mention);
  });
});

const WARNINGS: readonly (readonly [code: string, line: number, mention: string, source: string])[] = [
  ['C0300', 1, 'leftover', 'fn main() { let leftover = 1; let _ignored = 2; }'],
  ['C0300', 1, 'n', 'fn f(n: Int) -> Int { 1 }'],
  ['C0301', 1, '..=0', 'fn f(n: Int) -> Int { match n { 1 => 1, 2.. => 2 } }'],
  [
    'C0302',
    1,
    'add',
    'tool T { description: "d", @describe("x") @param("a", "t") pub fn add(self, a: Int, b: Int) -> Int { a + b } }',
  ],
  ['C0303', 1, 'Nothing', 'pipeline Nothing { }'],
  ['C0304', 2, 'Result', 'fn save() -> Result<Int, String> { Ok(1) }\nfn main() { save(); }'],
  ['C0305', 1, 'json', 'use std::json;'],
  ['C0306', 1, 'never reached', 'fn f() -> Int { return 1; emit("x", 1); }'],
  ['C0307', 1, 'arm', 'fn f(b: Bool) -> Int { match b { true => 1, false => 2, _ => 3 } }'],
  [
    'C0308',
    2,
    'question',
    `${AGENT}fn main() { let _ = listen A.execute("x") { "question" => |q| { emit("q", q); } }; }`,
  ],
  ['C0309', 2, 'result', `${AGENT}fn main() { let _ = listen A.execute("x") { "result" => |m| { 5 } }; }`],
  ['C0309', 2, 'exit', `${AGENT}fn main() { let _ = listen A.execute("x") { "exit" => |m| { 5 } }; }`],
  ['C0311', 1, 'dropped', 'fn f() { 42 }'],
  ['C0310', 1, 'AgentRef', 'fn f(h: HostRef) -> Bool { h.execute("x").is_ok() }'],
  ['C0312', 1, 'nobody', 'agent B { connector: nobody }'],
  ['C0313', 1, 'retry', '@retry(max: 2) fn f() -> Int { 1 }'],
  ['C0313', 2, 'log', `${AGENT}@log fn main() { let _ = A.execute("x"); }`],
  ['C0312', 1, 'Files', 'mcp Files { transport: "stdio" }'],
  ['C0313', 2, '@test', 'struct S { x: Int }\nimpl S { @test fn adds() { assert(true); } }'],
  ['C0313', 1, '@test', 'pipeline P { @test stage a(n: Int) -> Int { n } }'],
];

describe('warnings', () => {
  test.each(WARNINGS)('%s on line %d, naming %s', (code, line, mention, source) => {
    const told = diagnose(source, { manifest: MANIFEST });
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(new RegExp(`^${line} warning ${code} `));
    expect(told[0]).toContain(mention);
  });
});

describe('several at once', () => {
  test('one mistake does not hide another, and its consequences are not told', () => {
    const source = [
      'fn one() -> Int { "a" }',
      'fn two() -> Int { nothing.field + nothing.other() }',
      'fn three(n: Int) -> Int { n.oops().more().and_more }',
      'fn main() { emit("x", one() + two() + three(1)); }',
    ].join('\n');
    expect(errorsOf(source).map((line) => line.slice(0, 13))).toEqual([
      '1 error C0205',
      '2 error C0200',
      '2 error C0200',
      '3 error C0251',
    ]);
  });

  test('the order is that of the source, whatever the order of checking', () => {
    const source = 'fn main() { a(); }\nconst C: Int = "x";\nstruct S { y: Nope }\n';
    expect(errorsOf(source).map((line) => line[0])).toEqual(['1', '2', '3']);
  });
});

describe('help', () => {
  const helpOf = (source: string) => checkSource(source, { manifest: MANIFEST }).diagnostics.map(({ help }) => help);

  test.each([
    ['fn main() { emit("x", 1 == null); }', 'nothing is `nil`'],
    ['fn main() { console.log(1); }', '`print(value)`'],
    ['fn main() { while true { brek; } }', 'did you mean `break`?'],
    ['fn main() { emit("n", [1].length); }', 'write `.len()`'],
    ['fn f(l: List<Int>) -> Int { l.len() }', 'write `Array<T>`'],
    ['fn f(n: number) -> Int { 1 }', 'write `Int` or `Float`'],
    ['fn main() { for (let i = 0; i < 3; i++) { } }', 'for i in 0..n'],
    ['fn main() { let total = 1; emit("t", totel + total); }', '`total`'],
    ['struct P { width: Int }\nfn main() { emit("x", P { width: 1 }.widht); }', '`width`'],
    ['fn main() { emit("x", [1].pussh(2)); }', '`push`'],
    ['model M { provider: lokal }', '`local`'],
    ['fn main() { let o: Option<Int> = 1; let n: Int = o; emit("n", n); }', '??'],
    ['fn f() -> Result<Int, String> { 5 }', 'Ok('],
    ['fn f() -> Int { 42; }', 'remove the last `;`'],
    ['fn f() { return 42; }', '`-> Type`'],
    ['fn main() { let xs = [1]; if xs { emit("x", 1); } }', '`.is_empty()`'],
    ['fn main() { let n = 1; emit("x", !n); }', '`n != 0`'],
    ['fn main() { let n = 1; emit("x", n && true); }', '`n != 0`'],
    ['fn main() { emit("x", [1] + 1); }', '`.push(x)`'],
    ['fn main() { emit("x", "a" * 3); }', '`.repeat(n)`'],
    ['fn main() { let n: Int = "1"; emit("x", n); }', '`.parse_int()`'],
    ['struct P { x: Int }\nfn main() { let p: P = { x: 1 }; emit("x", p); }', '`P { … }`'],
    [
      'struct B<T> { v: T }\nfn f(b: B<Float>) { emit("b", b); }\nfn main() { let b = B { v: 1 }; f(b); }',
      'keeps its type',
    ],
    ['fn main() { emit("x", [1].reduce(|a, b| a + b, 0)); }', 'at the end'],
    ['fn main() { for i in range(3) { emit("i", i); } }', '`0..n`'],
    ['enum E { A, B(Int, Int) }\nfn main() { emit("x", E::B(1)); }', 'missing: argument 2'],
    ['enum E { A, B }\nfn f(e: E) -> Int { match e { A => 1, _ => 2 } }', 'write `E::A`'],
    [
      'struct E { c: Int }\nfn f() -> Result<Int, E> { Err(E { c: 1 }) }\nfn main() { try { f()?; } catch E(e) { emit("e", e); } }',
      'end them with `catch { … }`',
    ],
    ['pipeline P { stage a(x: Int) -> Int { x } }\nfn main() { emit("x", 4 |> P.run); }', 'write `.run(…)`'],
  ])('%s', (source, text) => {
    expect(helpOf(source).join('\n')).toContain(text);
  });

  test('a second place explains the first', () => {
    const { diagnostics } = checkSource('fn twice() {}\nfn twice() {}');
    expect(diagnostics[0]?.labels.map((label) => label.message)).toEqual(['first defined here']);
  });

  test('a large program full of unknown names is checked in a moment', () => {
    const names = Array.from({ length: 1500 }, (_, index) => `fn function_${index}() { }`);
    const calls = Array.from({ length: 1500 }, (_, index) => `functoin_${index}();`);
    const { diagnostics } = checkSource(`${names.join('\n')}\nfn main() { ${calls.join('\n')} }`);
    expect(diagnostics).toHaveLength(1500);
    expect(diagnostics[0]?.help).toContain('function_0');
  });
});
