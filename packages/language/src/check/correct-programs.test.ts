import { describe, expect, test } from 'vitest';
import { errorsOf } from './testing/check-source.ts';

const MANIFEST = { connections: new Set(['local']), agents: new Set(['echo']), mcp: new Set<string>() };

const UTIL = `pub fn open() -> Int { 1 }
pub struct S { a: Int }
impl S { pub fn get(self) -> Int { self.a } }
pub const K: Int = 3;
pub enum E { A, B(Int) }
`;

const PROGRAMS: readonly (readonly [name: string, source: string])[] = [
  [
    'let chain with options',
    `fn find(xs: Array<Int>, n: Int) -> Option<Int> { xs.find(|x| x == n) }
fn main() {
    let o: Option<Int> = 5;
    let p = find([1, 2], 2);
    let s = match p { Some(v) => v, None => 0 };
    if p.is_some() { emit("s", s); }
    let t = p ?? o ?? 3;
    emit("t", t + 1);
    let r: Result<Int, String> = Ok(1);
    let m = r.map(|x| x + 1).unwrap_or(0);
    emit("m", m);
}
`,
  ],
  [
    'struct generics',
    `struct Stack2<T> { items: Array<T> }
impl Stack2 {
    fn new() -> Stack2<T> { Stack2 { items: [] } }
    fn push(mut self, item: T) { self.items.push(item); }
    fn pop(mut self) -> Option<T> { self.items.pop() }
    fn len(self) -> Int { self.items.len() }
}
fn main() {
    let mut s = Stack2 { items: [1] };
    s.push(2);
    emit("p", s.pop() ?? 0);
    let mut t: Stack2<String> = Stack2::new();
    t.push("a");
    emit("n", t.len());
}
`,
  ],
  [
    'impl<T>',
    `struct Pair<A, B> { a: A, b: B }
impl<A, B> Pair<A, B> {
    fn swap(self) -> Pair<B, A> { Pair { a: self.b, b: self.a } }
    fn first(self) -> A { self.a }
}
fn main() {
    let p = Pair { a: 1, b: "x" };
    let q = p.swap();
    let s: String = q.a;
    emit("s", s + q.first());
}
`,
  ],
  [
    'trait object and generic',
    `trait Shape { fn area(self) -> Float; fn name(self) -> String { "shape" } }
struct Sq { s: Float }
struct Ci { r: Float }
impl Shape for Sq { fn area(self) -> Float { self.s * self.s } }
impl Shape for Ci { fn area(self) -> Float { 3.14 * self.r * self.r } fn name(self) -> String { "circle" } }
fn total(shapes: Array<Shape>) -> Float {
    let mut t = 0.0;
    for s in shapes { t += s.area(); }
    t
}
fn describe<T: Shape>(s: T) -> String { "\${s.name()} \${s.area()}" }
fn main() {
    emit("t", total([Sq { s: 1.0 }, Ci { r: 2.0 }]));
    emit("d", describe(Sq { s: 2 }));
    let a: Shape = Sq { s: 1.0 };
    emit("a", a.area());
}
`,
  ],
  [
    'closures',
    `fn apply<T, U>(x: T, f: fn(T) -> U) -> U { f(x) }
fn make() -> fn(Int) -> fn(Int) -> Int { |a: Int| |b: Int| a + b }
fn main() {
    emit("a", apply(2, |x| x + 1));
    emit("b", apply("s", |x| x.len()));
    emit("c", make()(1)(2));
    let fs = [|x: Int| x + 1, |x: Int| x * 2];
    for f in fs { emit("f", f(3)); }
    let compose = |f: fn(Int) -> Int, g: fn(Int) -> Int| { |x: Int| g(f(x)) };
    emit("d", compose(fs[0], fs[1])(3));
    let mut log = [];
    let add = |s: String| { log.push(s); };
    add("x");
    emit("log", log);
    let total = [1, 2, 3].reduce(0, |acc, x| acc + x);
    emit("total", total);
    let words = ["b", "a"].sort();
    emit("w", words);
}
`,
  ],
  [
    'maps',
    `fn main() {
    let mut m = {};
    m["a"] = 1;
    m["b"] = "x";
    let mut n = {"a": 1};
    n["b"] = "mixed";
    for (k, v) in n { emit(k, v); }
    let t: Map<String, Any> = {"a": 1, "b": [1, 2], "c": nil};
    emit("t", t.b);
    emit("x", t["a"] + 1);
    let deep = {"list": [{"n": 1}, {"n": 2}]};
    emit("d", deep.list[0].n);
    let counts: Map<String, Int> = {};
    emit("c", counts.get("a") ?? 0);
    let keyed: Map<Int, String> = {[1]: "a"};
    emit("k", keyed);
}
`,
  ],
  [
    'loops labels',
    `fn main() {
    let mut n = 0;
    'outer: for i in 0..10 {
        for j in 0..10 {
            if i * j > 20 { break 'outer; }
            if j == 5 { continue 'outer; }
            n += 1;
        }
    }
    let v = 'find: loop { n += 1; if n > 100 { break 'find n; } };
    emit("v", v);
    while true { break; }
    let r = loop { break "x"; };
    emit("r", r.len());
}
`,
  ],
  [
    'try forms',
    `fn risky(n: Int) -> Result<Int, String> { if n > 0 { Ok(n) } else { Err("neg") } }
fn main() {
    let a = try { risky(1)? } catch { 0 };
    let b = try { risky(-1)? };
    match b { Ok(v) => emit("ok", v), Err(e) => emit("err", e) }
    let c = try { let x = 1 / 0; x } catch DivisionError(e) { emit("d", e.message); 0 } catch Error(e) { emit("e", e.message); -1 };
    emit("sum", a + c);
    try { throw "boom"; } catch { emit("caught", 1); }
    try { risky(0); } catch String(e) { emit("caught", e); }
}
`,
  ],
  [
    'option question',
    `fn third(xs: Array<Int>) -> Option<Int> {
    let a = xs.get(2)?;
    if a > 2 { return a; }
    None
}
fn mixed(xs: Array<Int>) -> Result<Int, String> {
    let a = xs.get(0)?;
    Ok(a)
}
fn main() { emit("t", third([1, 2, 3])); emit("m", mixed([])); }
`,
  ],
  [
    'enum methods and nested patterns',
    `enum Expr { Num(Int), Add(Expr, Expr), Neg(Expr), Var { name: String } }
impl Expr {
    fn eval(self, env: Map<String, Int>) -> Result<Int, String> {
        match self {
            Expr::Num(n) => Ok(n),
            Expr::Add(Expr::Num(a), Expr::Num(b)) => Ok(a + b),
            Expr::Add(l, r) => Ok(l.eval(env)? + r.eval(env)?),
            Expr::Neg(e) => Ok(-e.eval(env)?),
            Expr::Var { name } => match env.get(name) { Some(v) => Ok(v), None => Err("unbound \${name}") },
        }
    }
}
fn main() {
    let e = Expr::Add(Expr::Num(1), Expr::Neg(Expr::Var { name: "x" }));
    emit("r", e.eval({"x": 3}));
}
`,
  ],
  [
    'const things',
    `const A: Int = B + 1;
const B: Int = 2;
const NAMES: Array<String> = ["a", "b\${B}"];
const M: Map<String, Int> = {"k": A};
const F: Float = 2;
struct P { x: Int, y: Int = 4 }
const ORIGIN: P = P { x: 0 };
enum C { Red, Other(Int) }
const RED: C = C::Red;
const OPT: Option<Int> = Some(A);
fn main() { emit("all", "\${A} \${NAMES} \${M} \${F} \${ORIGIN} \${RED} \${OPT}"); match 3 { A => emit("is", 1), _ => emit("not", 1) } }
`,
  ],
  [
    'modules',
    `mod util;
use util::{S, E, K as KK};
use util::open as o;
mod inner { use super::helper; pub fn go() -> Int { helper() + crate::helper() + super::inner::two() } pub fn two() -> Int { 2 } pub mod deep { pub fn up() -> Int { super::two() } } }
fn helper() -> Int { 1 }
fn main() {
    emit("a", util::open() + o() + KK + inner::go() + inner::deep::up());
    let s = S { a: 1 };
    emit("s", s.get());
    match E::B(2) { E::A => emit("a", 1), E::B(n) => emit("b", n) }
    let t: util::S = util::S { a: 2 };
    emit("t", t);
}
`,
  ],
  [
    'use variants',
    `enum Color { Red, Green, Rgb(Int, Int, Int) }
use Color::{Red, Rgb};
fn main() {
    let c = Rgb(1, 2, 3);
    match c { Red => emit("r", 1), Color::Green => emit("g", 1), Rgb(r, ..) => emit("rgb", r) }
    emit("x", Red);
}
`,
  ],
  [
    'tuples',
    `fn minmax(xs: Array<Int>) -> (Int, Int) {
    let mut lo = xs[0];
    let mut hi = xs[0];
    for x in xs { if x < lo { lo = x; } if x > hi { hi = x; } }
    (lo, hi)
}
fn main() {
    let (a, b) = minmax([1, 5]);
    let t = (1, ("a", 2.5));
    let (x, (y, z)) = t;
    emit("s", "\${a} \${b} \${x} \${y} \${z} \${t.1.0}");
    let mut p = (1, 2);
    p.0 = 5;
    emit("p", p);
    for (i, (k, v)) in [("a", 1)].enumerate() { emit(k, i + v); }
}
`,
  ],
  [
    'pipes',
    `fn add(a: Int, b: Int) -> Int { a + b }
fn main() {
    let r = 1 |> add(2) |> add(b: 3);
    r |> emit("r");
    [1, 2] |> len |> print;
    "a,b" |> std::string::split(",") |> emit("parts");
    let inc = |x: Int| x + 1;
    emit("i", 3 |> inc);
    5 |> |x: Int| x * 2 |> emit("c");
}
`,
  ],
  [
    'uninit',
    `fn main() {
    let x;
    if true { x = 1; } else { x = 2; }
    emit("x", x + 1);
    let y: String;
    y = "a";
    emit("y", y);
}
`,
  ],
  [
    'async',
    `async fn one() -> Int { 1 }
async fn fails() -> Result<Int, String> { Err("x") }
async fn main() {
    let xs = await (one(), one());
    emit("xs", xs.0 + xs.1);
    let r = fails().await;
    let v = race(one(), one());
    emit("v", v);
    let all = parallel for i in 0..3 { one() + i };
    emit("all", all);
    match r { Ok(n) => emit("n", n), Err(e) => emit("e", e) }
    let f = async_closure();
    emit("f", f);
}
fn async_closure() -> Int { let n = one(); n }
`,
  ],
  [
    'tools and state',
    `tool Counter {
    description: "counts",
    count: Int = 0,
    @describe("adds")
    @param("by", "how much")
    pub fn add(mut self, by: Int) -> Int { self.count += by; self.count }
    fn peek(self) -> Int { self.count }
}
fn main() {
    emit("a", Counter.add(2));
    emit("b", Counter::add(3));
    emit("c", Counter.peek());
}
`,
  ],
  [
    'models',
    `schema Out { a: Int, b?: String, level: "low" | "high", tags: Array<String> = [] }
memory mem: Memory = Memory::new(5);
tool T { description: "d", @describe("x") pub fn f(self, a: Int) -> Int { a } }
const SYS: String = "be nice";
@retry(max: 3, backoff: "none")
@timeout(seconds: 5)
model M { provider: local, base: "m", temperature: 0.5, system_prompt: "You \${SYS}", tools: [T], memory: mem, max_tokens: 10, top_p: 1, stop_sequences: ["x"] }
agent A { connector: echo, input_format: "text", output_format: "json", timeout: 5 }
fn main() {
    let r = M.execute_with_schema<Out>("q");
    match r { Ok(o) => { emit("a", o.a + 1); emit("b", o.b ?? "none"); match o.level { "low" => emit("l", 1), "high" => emit("h", 1) } }, Err(e) => emit("e", e.message) }
    let many = M.execute_with_schema<Array<Out>>("q").unwrap();
    emit("n", many.len());
    let b = M.with_memory(mem).with_tools([T]).with_context({"a": 1});
    emit("x", b.execute("q").is_ok());
    let x = A.with_context("c").execute("p");
    emit("y", x);
    emit("mem", mem.last(1));
}
`,
  ],
  [
    'listen variants',
    `schema Q { question: String, options?: Array<String> }
agent A { connector: "echo" }
fn helper(s: String) -> Result<String, String> { Ok(s) }
fn main() -> Result<Int, String> {
    let mut n = 0;
    let r = listen A.execute("x") {
        "question" => |q: Q| { n += 1; helper(q.question)? },
        "progress" | "log" => |m| { emit("m", m.message); },
        "approval" => || "yes",
        _ => |m| { for x in [1, 2] { if x == 2 { break; } } emit("t", m.type); },
    }?;
    emit("r", r.text);
    let t = r["text"];
    emit("t", t);
    Ok(n)
}
`,
  ],
  [
    'stores',
    `hashmap h: HashMap<String, Array<Int>> = HashMap::new();
ledger l: Ledger = Ledger::new();
fn main() {
    h.set("a", [1]);
    let xs = h.get("a") ?? [];
    emit("n", xs.len());
    for k in h.keys() { emit("k", k.to_uppercase()); }
    l.insert("x", ["k"], {"v": 1});
    for e in l.query().from_key("k") { emit("e", e.identifier + e.value.v); }
    let s = l.scope("a");
    emit("s", s.len());
}
`,
  ],
  [
    'pipelines',
    `pipeline P(input: String) -> Int {
    stage parse(s: String) -> Result<Int, String> { std::string::parse_int(s) }
    stage double(n: Int) -> Int { if n < 0 { throw "neg"; } n * 2 }
    @retry(max: 2)
    stage check(n: Int) -> Int { let m = Ok(n)?; m }
}
pipeline Q(text: String) {
    stage a = std::string::parse_int(text);
    stage b = a + 1;
    stage c(n: Int) -> String { "\${n}" }
}
fn main() {
    let n = P.run("3").unwrap();
    emit("n", n + 1);
    match Q.run("4") { Ok(s) => emit("s", s.len()), Err(e) => emit("e", e.message) }
}
`,
  ],
  [
    'items inside functions',
    `fn main() {
    fn fact(n: Int) -> Int { if n <= 1 { 1 } else { n * fact(n - 1) } }
    struct Local { v: Int }
    enum K { A, B }
    const Z: Int = 3;
    impl Local { fn get(self) -> Int { self.v + Z } }
    let l = Local { v: fact(3) };
    emit("l", l.get());
    match K::A { K::A => emit("a", 1), K::B => emit("b", 1) }
    if true { fn inner() -> Int { 7 } emit("i", inner()); }
}
`,
  ],
  [
    'top level statements',
    `let x = 5;
let mut total = 0;
fn add(n: Int) { total += n + x; }
add(1);
for i in 0..3 { add(i); }
emit("total", total);
if total > 3 { let y = 1; emit("y", y); }
let (a, b) = (1, 2);
emit("ab", a + b);
fn main() { emit("main", total); }
`,
  ],
  [
    'shadow in nested',
    `fn main() {
    let x = 1;
    let f = || x;
    let x = "s";
    emit("f", f() + 1);
    emit("x", x.len());
    for x in [1.5] { emit("x", x + 0.5); }
    match Some(3) { Some(x) => emit("x", x * 2), None => {} }
    emit("x", x);
}
`,
  ],
  [
    'string ops',
    `fn main() {
    let e = try { throw "x"; } catch { "y" };
    emit("e", e);
    let s = "abc";
    emit("a", s[0] + s[1..]);
    for c in s { emit("c", c.to_upper()); }
    let n = "5".parse_int().unwrap_or(0);
    emit("n", n + 1);
    emit("j", ["a", "b"].join(", ").len());
    emit("f", 3.7 as Int + "4" as Int);
    emit("t", 1.to_string() + 2.5.to_string());
    let b = 5 as String + "x";
    emit("b", b);
}
`,
  ],
  [
    'error values',
    `fn f() -> Result<Int, AgentError> { Err(AgentError::new("x")) }
fn g() -> Result<Int, String> { let v = f()?; Ok(v) }
fn h() -> Result<Int, Error> { throw RuntimeError::new("y"); }
struct MyErr { code: Int }
fn i() -> Result<Int, MyErr> { throw MyErr { code: 1 }; }
enum Err2 { A(String), B }
fn j() -> Result<Int, Err2> { Err(Err2::A("x")) }
fn main() {
    match f() { Ok(v) => emit("v", v), Err(e) => { let s: String = e; emit("s", s + e.message); } }
    match g() { Ok(v) => emit("v", v), Err(e) => emit("e", e) }
    match h() { Ok(v) => emit("v", v), Err(e) => emit("e", e.message) }
    match i() { Ok(v) => emit("v", v), Err(MyErr { code }) => emit("c", code) }
    match j() { Ok(v) => emit("v", v), Err(Err2::A(m)) => emit("m", m), Err(Err2::B) => emit("b", 1) }
    try { i()?; } catch MyErr(e) { emit("code", e.code); } catch { emit("other", 1); }
    try { j()?; } catch Err2::A(e) { emit("a", e); } catch Err2(e) { emit("b", e); } catch { }
}
`,
  ],
  [
    'nil handling',
    `fn maybe(m: Map<String, Any>) -> Any { m["x"] }
fn main() {
    let mut best = nil;
    for x in [1, 2] { best = x; }
    emit("best", best);
    if best == nil { emit("none", 1); }
    let v = maybe({"x": 1}) ?? 5;
    emit("v", v);
    let o: Option<String> = nil;
    emit("o", o);
    let r = if true { 1 };
    emit("r", r);
    let z = env("HOME") ?? "none";
    emit("z", z);
}
`,
  ],
  [
    'if else chains nil',
    `fn f(n: Int) -> Option<String> {
    if n > 1 { "a" } else if n == 1 { Some("b") } else { None }
}
fn g(n: Int) -> Float { if n > 0 { 1 } else { 2.5 } }
fn h(n: Int) -> Option<Float> { match n { 0 => None, 1 => 1, _ => 2.5 } }
fn main() { emit("f", f(1)); emit("g", g(1)); emit("h", h(1)); let x: Float = if true { 1 } else { 2 }; emit("x", x / 2); }
`,
  ],
  [
    'generic enum/opt',
    `enum Tree<T> { Leaf, Node(Tree<T>, T, Tree<T>) }
impl<T> Tree<T> {
    fn insert(self, v: T) -> Tree<T> {
        match self {
            Tree::Leaf => Tree::Node(Tree::Leaf, v, Tree::Leaf),
            Tree::Node(l, x, r) => if v < x { Tree::Node(l.insert(v), x, r) } else { Tree::Node(l, x, r.insert(v)) },
        }
    }
    fn to_list(self) -> Array<T> {
        match self {
            Tree::Leaf => [],
            Tree::Node(l, x, r) => { let mut out = l.to_list(); out.push(x); out.extend(r.to_list()); out }
        }
    }
}
fn main() {
    let t = Tree::Leaf.insert(3).insert(1);
    emit("t", t.to_list());
    let e: Tree<String> = Tree::Leaf;
    emit("e", e.to_list().len());
}
`,
  ],
  [
    'generic fns',
    `fn map_all<T, U>(xs: Array<T>, f: fn(T) -> U) -> Array<U> { let mut out = []; for x in xs { out.push(f(x)); } out }
fn keep<T>(xs: Array<T>, f: fn(T) -> Bool) -> Array<T> { let mut out: Array<T> = []; for x in xs { if f(x) { out.push(x); } } out }
fn largest<T>(xs: Array<T>) -> Option<T> { let mut best = None; for x in xs { match best { None => best = Some(x), Some(b) => if x > b { best = Some(x); } } } best }
fn zip<A, B>(a: Array<A>, b: Array<B>) -> Array<(A, B)> { let mut out = []; for (i, x) in a.enumerate() { out.push((x, b[i])); } out }
fn main() {
    emit("m", map_all([1, 2], |x| "n\${x}"));
    emit("k", keep(["a", "bb"], |s| s.len() > 1));
    emit("l", largest([1, 5, 2]) ?? 0);
    for (a, b) in zip([1], ["x"]) { emit(b, a + 1); }
    let total = map_all(["a", "bb"], |s| s.len()).reduce(0, |a, b| a + b);
    emit("t", total);
    emit("max", std::math::max(1, 2.5));
}
`,
  ],
  [
    'patterns of all kinds',
    `fn f(x: Option<Int>) -> Int { match x { Some(n) if n > 3 => n, Some(n) => n * 2, None => 0 } }
fn g(x: (Int, Bool)) -> Int { match x { (0, true) => 1, (_, false) => 2, (n, true) => n } }
fn h(xs: Array<Int>) -> Int { match xs { [] => 0, [a] => a, [a, b] => a + b, [a, .., z] => a * z } }
fn i(n: Int) -> String { match n { ..0 => "neg", 0 => "zero", 1..=9 => "digit", 10.. => "big" } }
fn j(s: String) -> Int { match s { "a" | "b" => 1, other => other.len() } }
fn k(x: Any) -> String { match x { 1 => "one", "s" => "text", Some(v) => "some \${v}", [a, b] => "\${a}\${b}", _ => "other" } }
fn l(e: Result<Int, String>) -> Int { match e { Ok(n @ 1..=5) => n, Ok(_) => 0, Err(msg) => msg.len() } }
fn main() { emit("x", "\${f(None)}\${g((1, true))}\${h([1])}\${i(5)}\${j("a")}\${k(1)}\${l(Ok(1))}"); }
`,
  ],
  [
    'json any flow',
    `fn main() {
    let v = std::json::parse("{\\"a\\": [1, {\\"b\\": 2}]}").unwrap();
    emit("a", v.a[1].b + 1);
    for x in v.a { emit("x", x); }
    let n: Int = v.a[0];
    emit("n", n * 2);
    if v.a.len() > 1 { emit("big", true); }
    match v.kind { "x" => emit("x", 1), nil => emit("nil", 1), _ => emit("?", 1) }
    let m: Map<String, Any> = v;
    emit("k", m.keys());
    let f: Float = v.a[0];
    emit("f", f / 2.0);
    let t = v["a"][0] == 1 && v.a[0] > 0;
    emit("t", t);
    let s = "n=" + v.a[0];
    emit("s", s);
}
`,
  ],
  [
    'method on builder etc',
    `model M { provider: local, base: "m" }
impl M { fn ask(self, q: String) -> Result<String, String> { let r = self.execute(q)?; Ok(r.text) } }
agent A { connector: echo }
fn who(m: ModelRef) -> String { m.execute("x").unwrap().text }
fn run(a: AgentRef) -> Result<String, Any> { a.execute("p") }
fn main() -> Result<Nil, String> {
    let t = M.ask("x")?;
    emit("t", t + who(M));
    let ms = [M, M];
    for m in ms { emit("m", m.execute("q")?.text); }
    let pick = if true { M } else { M };
    emit("p", pick("hello")?.text);
    let r = run(A)?;
    emit("r", r);
    Ok(nil)
}
`,
  ],
  [
    'emit forms',
    `async fn main() {
    emit("only");
    let a = await emit("ask", {"q": 1});
    emit("a", a.name);
    match a { Ok(v) => emit("v", v), Err(e) => emit("e", e), other => emit("o", other) }
    let r = emit("x", 1);
    emit("r", r);
}
`,
  ],
  [
    'nested closures and loops',
    `fn main() {
    let mut fs = [];
    for i in 0..3 { fs.push(|| i * 10); }
    for f in fs { emit("f", f()); }
    let mut n = 0;
    let inc = || { n += 1; n };
    inc();
    emit("n", inc());
    let make = |k: Int| { let mut c = k; || { c += 1; c } };
    let c1 = make(5);
    emit("c", c1() + c1());
    let rec = |x: Int| -> Int { if x > 3 { return x; } x * 2 };
    emit("r", rec(2));
    let pairs = [(1, "a"), (2, "b")].map(|p| p.1);
    emit("p", pairs);
    let sorted = [3, 1].sort_by(|a, b| a - b);
    emit("s", sorted);
}
`,
  ],
  [
    'sets etc',
    `use std::collections::Set;
use std::collections::{Queue, Stack};
fn main() {
    let mut s = Set::new();
    s.insert(1);
    s.insert(2);
    emit("s", s.contains(1));
    let t = Set::from([1, 2]).union(s);
    emit("t", t.len());
    let mut q: Queue<String> = Queue::new();
    q.enqueue("a");
    emit("q", q.dequeue() ?? "none");
    let mut st = Stack::new();
    st.push(1.5);
    emit("st", st.pop());
    for x in t { emit("x", x + 1); }
    let u = std::collections::Set::new();
    emit("u", u);
}
`,
  ],
  [
    'impl on builtin',
    `trait Double { fn double(self) -> Int; }
impl Double for Int { fn double(self) -> Int { self * 2 } }
impl Double for String { fn double(self) -> Int { self.len() * 2 } }
fn f<T: Double>(x: T) -> Int { x.double() }
fn main() { emit("a", 4.double() + "ab".double() + f(3)); }
`,
  ],
  [
    'static methods, Self',
    `struct P { x: Int, y: Int }
impl P {
    fn new(x: Int, y: Int = 0) -> Self { Self { x, y } }
    fn origin() -> P { P::new(0) }
    fn add(self, o: P) -> P { P { x: self.x + o.x, ..self } }
    fn dist(self, o: Self) -> Float { std::math::sqrt(((self.x - o.x) ** 2 + (self.y - o.y) ** 2) as Float) }
}
fn main() {
    let p = P::new(1, y: 2);
    emit("p", P::add(p, P::origin()));
    emit("d", p.dist(P::origin()));
    let f = P::new;
    emit("f", f(1, 2));
}
`,
  ],
  [
    'trait static + generic trait',
    `trait Default2 { fn make() -> Self; fn name(self) -> String; }
struct A { n: Int }
impl Default2 for A { fn make() -> A { A { n: 1 } } fn name(self) -> String { "A\${self.n}" } }
trait Conv<T> { fn conv(self) -> T; }
impl Conv<String> for A { fn conv(self) -> String { "a" } }
fn main() { let a = A::make(); emit("n", a.name()); emit("c", a.conv()); }
`,
  ],
  [
    'aliases',
    `type Id = Int;
type Pair<T> = (T, T);
type Handler = fn(Id) -> String;
type Level = "low" | "high";
type Tree2 = Map<String, Array<Id>>;
fn run(h: Handler, id: Id) -> String { h(id) }
fn lvl(l: Level) -> Int { match l { "low" => 0, "high" => 1 } }
fn main() {
    let p: Pair<Int> = (1, 2);
    emit("p", p.0 + p.1);
    emit("r", run(|i| "id \${i}", 3));
    emit("l", lvl("low"));
    let t: Tree2 = {"a": [1]};
    emit("t", t.a[0]);
}
`,
  ],
  [
    'visibility',
    `mod shapes {
    pub struct Circle { pub r: Float, name: String }
    impl Circle { pub fn new(r: Float) -> Circle { Circle { r, name: "c" } } fn secret(self) -> Int { 1 } pub fn open(self) -> Int { self.secret() } }
    pub enum Kind { Big, Small(Int) }
    pub trait Area { fn area(self) -> Float; }
    impl Area for Circle { fn area(self) -> Float { PI * self.r * self.r } }
    const PI: Float = 3.14;
    pub mod more { pub use super::Kind; pub fn k() -> Kind { Kind::Small(2) } }
}
use shapes::{Circle, Area, more::{self, k}};
fn main() {
    let c = Circle::new(2);
    emit("a", c.area() + c.r);
    emit("o", c.open());
    match k() { more::Kind::Big => emit("b", 1), shapes::Kind::Small(n) => emit("n", n) }
    emit("k", more::k());
}
`,
  ],
  [
    'mcp',
    `mcp Files { transport: "stdio", command: "npx files", @describe("reads") @param("path", "p") fn read(path: String) -> String; }
model M { provider: local, base: "m", tools: [Files] }
fn main() { emit("x", M.with_tools([Files]).execute("q").is_ok()); }
`,
  ],
  [
    'schema as values',
    `schema Person { name: String, age?: Int, tags: Array<String> = ["x"], boss?: Person }
fn main() {
    let p = Person { name: "a" };
    emit("p", p.age ?? 3);
    match p.boss { Some(b) => emit("b", b.name), None => emit("none", 1) }
    let r = parse_schema<Person>("{\\"name\\": \\"x\\"}");
    match r { Ok(q) => emit("q", q.name), Err(e) => emit("e", e.message) }
    let s = std::json::parse_as<Person>("{}");
    emit("s", s.is_err());
    emit("sch", Person);
}
`,
  ],
  [
    'compound places',
    `struct In { v: Array<Int> }
struct Out { i: In, m: Map<String, In> }
fn main() {
    let mut o = Out { i: In { v: [1] }, m: {} };
    o.i.v[0] += 2;
    o.i.v.push(3);
    o.m["k"] = In { v: [] };
    o.m["k"].v.push(5);
    o.m.k.v.push(6);
    let mut t = [(1, "a")];
    t[0].0 = 4;
    t.push((2, "b"));
    emit("o", "\${o} \${t}");
}
`,
  ],
  [
    'defaults and nil results',
    `fn area(w: Int, h: Int = w * 2) -> Int { w * h }
fn nothing() -> Nil { nil }
fn done() -> Result<Nil, String> { Ok(nil) }
fn done2() -> Result<Nil, String> { Ok() }
fn done3() -> Result<(), String> { Ok(()) }
fn main() -> Result<Nil, String> {
    emit("a", area(2));
    nothing();
    done()?;
    done2()?;
    done3()?;
    let _ = done();
    let (mut a, b) = (1, 2);
    a += b;
    emit("a", a);
    let mut (c, d) = (1, 2);
    c = d;
    emit("c", c + d);
    Ok(nil)
}
`,
  ],
  [
    'fields with closures',
    `struct B { f: fn(Int) -> Int, name: String }
fn main() {
    let b = B { f: |x| x + 1, name: "n" };
    emit("a", b.f(2));
    emit("b", (b.f)(3));
    let m = {"inc": |x: Int| x + 1, "dec": |x: Int| x - 1};
    emit("c", m["inc"](2));
    let table = [("a", |x: Int| x * 2)];
    for (name, f) in table { emit(name, f(4)); }
    let g = b.f;
    emit("g", g(1));
}
`,
  ],
  [
    'various',
    `enum Op { Add, Sub }
struct Item { name: String, price: Float, qty: Int }
fn apply(op: Op, a: Int, b: Int) -> Int { match op { Op::Add => a + b, Op::Sub => a - b } }
fn find(items: Array<Item>, name: String) -> Option<Item> { for i in items { if i.name == name { return Some(i); } } None }
fn main() {
    let items = [Item { name: "a", price: 1, qty: 2 }, Item { name: "b", price: 2.5, qty: 1 }];
    let total = items.map(|i| i.price * i.qty).reduce(0.0, |a, b| a + b);
    emit("t", total);
    let cheap = items.filter(|i| i.price < 2.0).map(|i| i.name).join(",");
    emit("c", cheap);
    match find(items, "b") { Some(Item { price, .. }) if price > 2.0 => emit("p", price), Some(_) => emit("s", 1), None => emit("n", 1) }
    let sorted = items.sort_by(|a, b| b.qty - a.qty);
    emit("s", sorted[0].name);
    let by = items.group_by(|i| i.name);
    emit("g", by.keys());
    if apply(Op::Add, 1, 2) == 3 && Op::Add != Op::Sub { emit("ok", typeof(items[0]) == "Item"); }
    let xs: Array<Int> = [];
    emit("e", xs == []);
    let n: Option<Int> = None;
    if n == None { emit("none", true); }
    if n != nil { emit("never", 1); }
    let z = match n { Some(v) => v, None => { emit("d", 1); 0 } };
    emit("z", z);
    emit("r", (1..=3).map(|i| i * i));
    let o: Option<Option<Int>> = Some(None);
    emit("o", o);
    let s = "v=\${match n { Some(v) => "\${v}", None => "none" }}";
    emit("s", s);
    let k: Map<Int, String> = {[1]: "x"};
    emit("k", k[1]);
    let words = "the cat the".split(" ");
    let mut counts: Map<String, Int> = {};
    for w in words { counts[w] = (counts.get(w) ?? 0) + 1; }
    emit("counts", counts);
    let nested = [[1, 2], [3]].flatten();
    emit("n", nested.sum());
    for (i, w) in words.enumerate() { if i > 0 { emit("w", "\${i}\${w}"); } }
    let mut i = 0;
    while i < 3 && !(i == 2) { i += 1; }
    emit("max", [3, 1, 2].max() ?? 0);
    assert_eq(i, 2);
    assert(i > 0, "positive");
}
`,
  ],
  [
    'traits more',
    `trait Animal { fn name(self) -> String; fn speak(self) -> String { "\${self.name()} speaks" } fn twice(self) -> String { self.speak() + self.speak() } }
struct Dog { n: String }
impl Animal for Dog { fn name(self) -> String { self.n } }
trait Compare { fn less(self, other: Self) -> Bool; }
impl Compare for Int { fn less(self, other: Int) -> Bool { self < other } }
fn smaller<T: Compare>(a: T, b: T) -> T { if a.less(b) { a } else { b } }
fn both<T: Animal + Compare2>(x: T) -> String { x.name() + x.tag() }
trait Compare2 { fn tag(self) -> String; }
impl Compare2 for Dog { fn tag(self) -> String { "!" } }
fn show(a: Animal) -> String { a.speak() }
fn main() {
    let d = Dog { n: "rex" };
    emit("s", d.twice());
    emit("m", smaller(3, 2));
    emit("b", both(d));
    emit("sh", show(d));
    let zoo: Array<Animal> = [d, Dog { n: "b" }];
    for a in zoo { emit("z", a.name()); }
    emit("f", Animal::speak(d));
}
`,
  ],
  [
    'mutation inside',
    `struct Inner { n: Int }
impl Inner { fn bump(mut self) { self.n += 1; } }
struct Outer { inner: Inner, list: Array<Inner> }
impl Outer {
    fn go(mut self) -> Int { self.inner.bump(); self.list[0].bump(); self.list.push(Inner { n: 9 }); self.total() }
    fn total(self) -> Int { let mut t = self.inner.n; for i in self.list { t += i.n; } t }
}
fn change(mut_me: Array<Int>) -> Array<Int> { mut_me.push(4); mut_me }
fn main() {
    let mut o = Outer { inner: Inner { n: 0 }, list: [Inner { n: 5 }] };
    emit("g", o.go());
    emit("o", o);
    emit("c", change([1]));
    let mut arr = [Inner { n: 1 }];
    arr[0].bump();
    arr[0].n += 5;
    emit("a", arr);
}
`,
  ],
  [
    'error conversions',
    `struct AppError { msg: String }
fn parse(s: String) -> Result<Int, String> { s.parse_int() }
fn load(s: String) -> Result<Int, AppError> { let n = parse(s).map_err(|e| AppError { msg: e })?; Ok(n) }
fn ctx(s: String) -> Result<Int, RuntimeError> { let n = parse(s).context("loading")?; Ok(n) }
fn opt(s: String) -> Option<Int> { let n = parse(s).ok()?; Some(n) }
fn req(m: Map<String, Int>) -> Result<Int, String> { let v = m.get("a").ok_or("missing")?; Ok(v) }
fn main() {
    emit("l", load("x"));
    emit("c", ctx("y").is_err());
    emit("o", opt("3"));
    emit("r", req({}));
    let r = parse("5").and_then(|n| if n > 3 { Ok(n) } else { Err("small") });
    emit("r", r);
    let x = parse("z").unwrap_or_else(|e| e.len());
    emit("x", x);
    let y = try { parse("q")? } catch String(e) { emit("e", e); -1 } catch { -2 };
    emit("y", y);
}
`,
  ],
  [
    'locals use',
    `fn main() {
    use std::math::{abs, max as biggest};
    emit("a", abs(-3) + biggest(1, 2));
    const LIMIT: Int = 3;
    type Num = Int;
    let n: Num = LIMIT;
    emit("n", n);
    let f = std::string::to_upper;
    emit("f", f("a"));
    emit("m", ["a"].map(std::string::to_upper));
    let p = print;
    p("x");
}
`,
  ],
  [
    'async more',
    `async fn get(n: Int) -> Result<Int, String> { if n > 2 { Err("big") } else { Ok(n) } }
async fn all() -> Result<Int, String> {
    let a = get(1).await?;
    let b = await get(2)?;
    let (c, d) = await (get(1), get(2));
    let rs = parallel for i in [1, 2] { get(i)? };
    Ok(a + b + c? + d? + rs.sum())
}
async fn main() { match all().await { Ok(n) => emit("n", n), Err(e) => emit("e", e) } let r = race(get(1), get(2)); emit("r", r); }
`,
  ],
  [
    'generics with constraint struct',
    `struct Cache<K, V> { data: Map<K, V>, hits: Int = 0 }
impl<K, V> Cache<K, V> {
    fn new() -> Cache<K, V> { Cache { data: {} } }
    fn get(mut self, k: K, f: fn(K) -> V) -> V {
        match self.data.get(k) {
            Some(v) => { self.hits += 1; v },
            None => { let v = f(k); self.data.set(k, v); v },
        }
    }
}
fn main() {
    let mut c: Cache<String, Int> = Cache::new();
    emit("a", c.get("x", |k| k.len()));
    emit("b", c.get("x", |k| 0));
    emit("h", c.hits);
    let mut d = Cache<String, Float>::new();
    emit("d", d.get("a", |_k| 1.5));
}
`,
  ],
  [
    'top level listen / seed',
    `schema AgentQuestion { question: String, context?: String, options?: Array<String> }
agent ClaudeCode { connector: claude_code, output_format: "json", timeout: 600 }
model Architect { provider: local, base: "gpt-4o", system_prompt: "You are a senior architect." }
memory supervision_log: Memory = Memory::new();
let result = listen ClaudeCode.execute("Refactor") {
    "progress" => |msg| { emit("agent:progress", msg); },
    "question" => |q: AgentQuestion| {
        if q.question.contains("security") || q.question.contains("auth") {
            let answer = Architect.with_memory(supervision_log).execute("Answer: \${q.question}")?;
            answer.text
        } else { let answer = Architect.execute("x")?; answer.text }
    },
};
emit("decisions", supervision_log.messages());
emit("r", result);
pipeline BuildAndTest(spec: String) {
    stage implement = listen ClaudeCode.execute("Implement: \${spec}") { "question" => |q: AgentQuestion| { let answer = Architect.execute("Answer: \${q.question}")?; answer.text }, };
    stage test = listen ClaudeCode.execute("Test: \${implement}") { };
}
let out = ClaudeCode.execute("Do something");
emit("o", out);
`,
  ],
  [
    'tests',
    `fn add(a: Int, b: Int) -> Int { a + b }
@test("adds :: numbers")
fn t1() { assert_eq(add(1, 2), 3); let xs = test_emits(); assert(xs.is_empty()); }
@test
@expect_fail("boom")
fn t2() { throw "boom"; }
@test
fn t3() { let e = test_emits(); for x in e { assert_eq(x.channel, "a"); } await std::time::now(); }
`,
  ],
  [
    'comparisons',
    `struct E2 { m: String }
fn f() -> Result<Int, ToolError> { Err(ToolError::new("x")) }
fn main() {
    match f() { Err(e) => { if e.message == "x" { emit("a", 1); } if e == "x" { emit("b", 1); } emit("c", "got " + e); }, Ok(_) => {} }
    let a: Any = 5;
    if a == 5 { emit("a", a); }
    if a == "x" { emit("no", 1); }
    let b = a as Int + 1;
    emit("b", b);
    let s: String = a as String;
    emit("s", s);
    let t = (1, "a") == (1, "a");
    emit("t", t);
    let big = 3 > 2.5;
    emit("big", big);
    emit("m", 7 % 2.5);
    emit("neg", -(3) ** 2);
    let mut f2 = 1.0;
    f2 += 1;
    f2 = 3;
    emit("f2", f2);
}
`,
  ],
  [
    're-exports',
    `mod a { pub mod b { pub fn f() -> Int { 1 } pub fn g() -> Int { 2 } pub struct S { x: Int } } pub use b::*; }
mod c { pub use super::a::{b::{f as ff, g}, S}; }
use c::*;
use a::b::{self};
fn main() { emit("x", ff() + g() + b::f() + a::g()); emit("s", S { x: 1 }); }
`,
  ],
  [
    'outward',
    `const K: Int = 2;
fn helper() -> Int { K }
mod a { pub fn f() -> Int { helper() + K } mod b { pub fn g() -> Int { f() + helper() } } pub fn h() -> Int { b::g() + json_len() } fn json_len() -> Int { json::stringify([1]).len() } }
fn main() { emit("x", a::f() + a::h()); }
`,
  ],
  [
    'local shadows import & module name',
    `use std::string::to_upper as up;
mod b { pub fn f() -> Int { 1 } }
fn main() { let b = 5; emit("x", b::f() + b); let up = |s: String| s + "!"; emit("u", up("a")); }
`,
  ],
  [
    'types from modules',
    `mod shapes { pub struct P<T> { v: T } impl P { pub fn get(self) -> T { self.v } } pub type Id = Int; pub trait Named { fn name(self) -> String { "n" } } pub enum Dir { Up, Down } impl Dir { pub fn flip(self) -> Dir { match self { Dir::Up => Dir::Down, Dir::Down => Dir::Up } } } }
struct Own { n: shapes::Id }
impl shapes::Named for Own { }
impl shapes::Named for shapes::Dir { fn name(self) -> String { "dir" } }
fn f(p: shapes::P<Int>) -> shapes::Id { p.get() }
fn main() { emit("x", f(shapes::P { v: 1 })); emit("n", Own { n: 1 }.name() + shapes::Dir::Up.flip().name()); match shapes::Dir::Up { shapes::Dir::Up => emit("u", 1), shapes::Dir::Down => emit("d", 1) } }
`,
  ],
  [
    'models etc in modules',
    `mod ai { pub model M { provider: local, base: "m" } pub agent A { connector: echo } pub hashmap h: HashMap<String, Int> = HashMap::new(); pub tool T { description: "d", @describe("x") pub fn f(self, a: Int) -> Int { a } } pub pipeline P { stage a(n: Int) -> Int { n } } pub memory mm: Memory = Memory::new(); pub schema S { a: Int } }
use ai::{M, A};
fn main() { emit("x", M.execute("q").is_ok()); ai::h.set("a", 1); emit("t", ai::T.f(1) + ai::T::f(2)); emit("p", ai::P.run(1)); let r = listen A.execute("x") { "log" => |s: ai::S| { emit("s", s.a); } }; emit("r", r); emit("m", ai::mm.len()); }
`,
  ],
  [
    'old',
    `connect openai { api_key: env("OPENAI_API_KEY"), default_model: "gpt-4o" }
agent Writer { provider: openai, model: "gpt-4o", temperature: 0.7, system_prompt: "x" }
host Claude { connector: echo, output_format: "json" }
db notes: Database<String, Int> = Database::new();
fn ask(h: HostRef) -> Result<String, Any> { h.execute("x") }
fn main() { notes.set("a", 1); emit("x", Writer.execute("q").is_ok()); emit("y", ask(Claude)); }
test "adds" { assert_eq(1 + 1, 2); }
`,
  ],
  [
    'decorators on things',
    `@deprecated("use other") fn old() -> Int { 1 }
@cache(ttl: 60) @log model M { provider: local, base: "m" }
@coerce @strict schema S { @describe("the name") name: String, @validate(min: 1) age: Int }
@timeout(seconds: 3) agent A { connector: echo }
fn main() { emit("x", old()); }
`,
  ],
  [
    'numeric config',
    `model M { provider: "local", base: "m", temperature: 0, max_tokens: 100, timeout: 30, top_p: 0.9 }
agent A { connector: "echo", timeout: 1.5, idle_timeout: 10, instances: 2, plain_text: "log", on_invalid: "skip" }
const T: Int = 5;
agent B { connector: echo, timeout: T * 2 }
fn main() { emit("x", 1); }
`,
  ],
  [
    'mocks',
    `model M { provider: local, base: "m" }
agent A { connector: echo }
@test fn a() { mock M { responses: ["a", "b"] } mock A { script: [{"type": "question", "question": "q?"}, {"type": "result", "text": "done"}] } let r = listen A.execute("x") { "question" => |q| { "yes" } }?; assert_eq(r.text, "done"); assert_eq(M.execute("q")?.text, "a"); }
@test fn b() { for i in 0..2 { mock M { error: "e\${i}" } } assert(M.execute("x").is_err()); }
`,
  ],
  [
    'tuple index/await/array',
    `async fn f(n: Int) -> (Int, String) { (n, "x") }
async fn main() { let r = f(1).await.0; let [a, b] = await [f(1), f(2)]; emit("x", r + a.0 + b.0); let (x, y) = f(3); emit("y", "\${x}\${y}"); }
`,
  ],
  [
    'interpolations',
    `fn main() { let p = {"a": {"b": [1, 2]}}; emit("x", "\${p.a.b[0]} \${p["a"]["b"].len()} \${if p.a.b.len() > 1 { "many" } else { "one" }} \${[1, 2].map(|x| "\${x}!").join(",")}"); }
`,
  ],
  [
    'nested generics results',
    `fn f(xs: Array<Result<Int, String>>) -> Result<Array<Int>, String> { let mut out = []; for x in xs { out.push(x?); } Ok(out) }
fn g(m: Map<String, Array<(Int, Option<String>)>>) -> Array<String> { let mut out = []; for (k, vs) in m { for (n, s) in vs { out.push("\${k}\${n}\${s ?? "-"}"); } } out }
fn main() { emit("f", f([Ok(1), Err("x")])); emit("g", g({"a": [(1, None), (2, Some("z"))]})); }
`,
  ],
  [
    'while let like',
    `fn main() { let mut stack = [1, 2, 3]; loop { match stack.pop() { Some(x) => emit("x", x), None => break } } let mut n: Option<Int> = Some(3); while n.is_some() { let v = n.unwrap(); n = if v > 0 { Some(v - 1) } else { None }; } emit("n", n); }
`,
  ],
  [
    'recursion types',
    `struct Node { v: Int, next: Option<Node> }
impl Node { fn sum(self) -> Int { match self.next { Some(n) => self.v + n.sum(), None => self.v } } }
fn main() { let n = Node { v: 1, next: Node { v: 2, next: None } }; emit("s", n.sum()); let m = Node { v: 1, next: Some(n) }; emit("m", m.next.unwrap().v); }
`,
  ],
  [
    'shadow builtin',
    `fn len(x: Int) -> Int { x }
struct Message { text: String }
enum Response { Good, Bad }
fn print(s: String) { emit("p", s); }
fn main() { emit("l", len(3)); print("x"); emit("m", Message { text: "a" }.text); match Response::Good { Response::Good => emit("g", 1), Response::Bad => emit("b", 1) } }
`,
  ],
  [
    'big ints / ops',
    `fn main() { let a = 7 / 2; let b = 7.0 / 2; let c = 2 ** 3; let d = 2 ** 0.5; let e = 10 % 3; let f: Float = a; emit("x", [b, d, f]); emit("y", [a, c, e]); let g = -a; let h = !(a > b); emit("z", "\${g}\${h}"); let i = a as Float * 1.5; emit("i", i); }
`,
  ],
  [
    'any branches',
    `fn f(n: Int) -> Any { if n > 0 { 1 } else { "a" } }
fn g(n: Int) -> Any { match n { 0 => "z", 1 => 2.5, _ => [1] } }
fn h(n: Int) -> Any { if n > 1 { return 1; } "x" }
fn i(n: Int) -> Any { try { n / 0 } catch { "inf" } }
fn main() {
    emit("a", if f(1) == 1 { 1 } else { "b" });
    emit("b", match g(1) { 1 => true, _ => "n" });
    let x: Any = if true { 1 } else { "s" };
    let m: Map<String, Any> = {"k": if true { 1 } else { "s" }};
    let xs: Array<Any> = [if true { 1 } else { "s" }, match 1 { 1 => 1, _ => "x" }];
    emit("c", "\${h(1)}\${i(1)}\${x}\${m}\${xs}");
}
`,
  ],
  [
    'builtin values',
    `enum Sh { Circle(Int), Sq(Int) }
struct P { n: Int }
impl P { fn get(self) -> Int { self.n } fn make(n: Int) -> P { P { n } } }
fn twice<T>(x: T) -> Array<T> { [x, x] }
fn main() {
    emit("a", [1, 2].map(Some));
    emit("b", [1].map(Sh::Circle));
    emit("c", [1, 2].map(P::make).map(P::get));
    emit("d", ["a"].map(twice));
    emit("e", [1].map(Ok));
    ["x"].for_each(print);
    let fs: Array<fn(Int) -> Int> = [|x| x + 1, |x| x * 2];
    emit("f", fs.map(|f| f(3)));
    let op: fn(Int, Int) -> Int = |a, b| a * b;
    emit("g", op(2, 3));
    let id = |x| x;
    emit("h", id(3));
}
`,
  ],
  [
    'coalesce',
    `fn main() {
    let m: Map<String, Int> = {"a": 1};
    let v = m["zz"] ?? 7;
    emit("v", v + 1);
    let n = m["q"];
    if n == nil { emit("nil", 1); }
    let o = m.get("a") ?? m.get("b") ?? 0;
    emit("o", o + 1);
    let s: Option<String> = None;
    let t = s ?? "d";
    emit("t", t.len());
    let x = std::env::get("NOPE") ?? "default";
    emit("x", x);
    let deep = {"a": nil};
    emit("d", deep.a ?? "none");
    let r: Result<Int, String> = Err("x");
    emit("r", r.ok() ?? 0);
}
`,
  ],
  [
    'methods without types for their parameters',
    `struct P { x: Int }
impl P { fn scaled(self, k) -> Any { self.x * k } }
tool T { description: "d", @describe("x") pub fn search(self, query) -> String { "\${query}" } }
fn main() { emit("x", P { x: 2 }.scaled(3)); emit("y", T.search("q")); }
`,
  ],
];

describe('correct programs', () => {
  test.each(PROGRAMS)('%s', (_name, source) => {
    expect(errorsOf(source, { manifest: MANIFEST, files: { 'util.conc': UTIL } })).toEqual([]);
  });
});
