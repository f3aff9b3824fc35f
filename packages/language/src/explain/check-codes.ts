import type { Explanation } from './explanation.ts';

/** Of the checker: names, types and what belongs together. */
export const CHECK_CODES = {
  C0200: {
    title: 'A name that nothing has',
    text: 'It is declared nowhere that can be seen from here: misspelt, in another module (`use`), or in a block that has ended.',
    wrong: 'fn main() { emit("x", missing); }',
    right: 'fn main() { let missing = 1; emit("x", missing); }',
  },
  C0201: {
    title: 'A name that is declared twice',
    text: 'Each name of a module, type or pipeline stands for one thing.',
    wrong: 'fn f() { }\nfn f() { }\nfn main() { f(); }',
  },
  C0202: {
    title: 'An operator that does not take these values',
    text: 'Both sides of `+` are numbers, texts or lists. A template turns any value into text: `"${a}${b}"`.',
    wrong: 'fn main() { emit("x", 1 + true); }',
  },
  C0203: {
    title: 'Values that cannot be compared',
    text: 'Only values of one type can be equal or less.',
    wrong: 'fn main() { emit("x", 1 == "a"); }',
  },
  C0204: {
    title: 'A condition that is no Bool',
    text: 'Ask: `xs.len() > 0`, `name != ""`, `option.is_some()`. `=` assigns, `==` compares.',
    wrong: 'fn main() { if 1 { emit("x", 1); } }',
    right: 'fn main() { if 1 > 0 { emit("x", 1); } }',
  },
  C0205: {
    title: 'A value of another type',
    text: 'The place needs one type and is given another.',
    wrong: 'fn main() { let x: Int = "a"; emit("x", x); }',
    right: 'fn main() { let x: Int = 1; emit("x", x); }',
  },
  C0206: {
    title: 'Something that cannot be assigned',
    text: 'A variable that changes is declared with `let mut`; constants and calls are no places.',
    wrong: 'fn main() { let x = 1; x = 2; emit("x", x); }',
    right: 'fn main() { let mut x = 1; x = 2; emit("x", x); }',
  },
  C0207: {
    title: '`break`, `continue` or `return` at a wrong place',
    text: 'There is no loop or function that they could leave from here.',
    wrong: 'fn main() { break; }',
  },
  C0208: {
    title: '`throw` in a function that does not return Result',
    text: 'Return `Result<T, E>`, or catch it with `try { … } catch { … }`.',
    wrong: 'fn f() { throw "no"; }\nfn main() { f(); }',
  },
  C0209: {
    title: '`?` where nothing can leave',
    text: '`?` takes the value out of a Result or Option, and lets an error leave the function, which must then return one. `a?.b` of an Option works everywhere: it gives None.',
    wrong: 'fn f() -> Result<Int, String> { Ok(1) }\nfn main() { emit("x", f()?); }',
    right: 'fn f() -> Result<Int, String> { Ok(1) }\nfn main() -> Result<Nil, String> { emit("x", f()?); Ok(nil) }',
  },
  C0210: {
    title: '`await` in a function that is not async',
    text: 'Write `async fn`. A plain call waits too; `await emit(…)` asks and needs its `await`.',
    wrong: 'fn main() { emit("x", await emit("question", "?")); }',
    right: 'async fn main() { emit("x", await emit("question", "?")); }',
  },
  C0211: {
    title: 'Too few or too many arguments',
    text: 'The call does not give what the function takes.',
    wrong: 'fn f(a: Int) -> Int { a }\nfn main() { emit("x", f()); }',
  },
  C0212: {
    title: 'Something that `for` cannot walk',
    text: 'Arrays, maps, ranges, texts and collections can be walked. Count with a range: `0..n`.',
    wrong: 'fn main() { for i in 5 { emit("i", i); } }',
    right: 'fn main() { for i in 0..5 { emit("i", i); } }',
  },
  C0213: { title: 'A test that is called', text: 'Move what both need into a function without `@test`.' },
  C0214: { title: '`@expect_fail` without `@test`', text: 'It says that a test must fail.' },
  C0215: {
    title: 'A mock at a wrong place, or of nothing',
    text: '`mock Name { … }` stands in a function with `@test` and names a model or an agent.',
  },
  C0216: {
    title: 'A parameter without a type',
    text: 'Parameters of functions and stages say their type; those of methods and closures need not.',
    wrong: 'fn f(a) { emit("x", a); }\nfn main() { f(1); }',
  },
  C0217: { title: 'A test with parameters', text: 'Nobody would give them.' },
  C0218: { title: 'A model without a provider', text: 'Name a connection of Concerto.toml: `provider: openai`.' },
  C0219: {
    title: 'A tool or method without a description',
    text: 'A model chooses its tools by what they say they do.',
  },
  C0220: {
    title: 'A field that is there twice',
    text: 'Remove one of them.',
    wrong: 'struct S { a: Int, a: Int }\nfn main() { }',
  },
  C0221: { title: 'Stages that do not fit each other', text: 'Each stage takes what the one before gives.' },
  C0224: {
    title: 'A field that is missing',
    text: 'All fields without a default must be given.',
    wrong: 'struct S { a: Int }\nfn main() { emit("x", S { }); }',
  },
  C0225: {
    title: 'Something that cannot be called',
    text: 'It is a value, not a function.',
    wrong: 'fn main() { let a = 1; emit("x", a()); }',
  },
  C0226: {
    title: 'A constant that has to be computed while running',
    text: 'Constants are known when the program is compiled: no calls of functions, models or agents.',
  },
  C0227: {
    title: 'A name that is private',
    text: 'Write `pub` before its declaration to use it outside of its module.',
    wrong: 'mod m { fn f() -> Int { 1 } }\nfn main() { emit("x", m::f()); }',
    right: 'mod m { pub fn f() -> Int { 1 } }\nfn main() { emit("x", m::f()); }',
  },
  C0228: {
    title: 'A module without a file',
    text: '`mod name;` reads `name.conc` or `name/mod.conc` beside the file.',
    wrong: 'mod missing;\nfn main() { }',
  },
  C0229: { title: 'A setting that does not exist', text: 'The declaration has no field of this name.' },
  C0230: {
    title: 'A decorator that does not exist',
    text: 'Look at the spelling.',
    wrong: '@tset\nfn f() { }\nfn main() { f(); }',
  },
  C0231: {
    title: 'An impl that does not fit its trait',
    text: 'A method is missing, is not one of the trait, or has another signature.',
    wrong: 'trait T { fn f(self) -> Int; }\nstruct S { }\nimpl T for S { }\nfn main() { emit("x", S { }.f()); }',
  },
  C0232: {
    title: 'A match that leaves values out',
    text: 'Every value must have an arm; `_ => …` takes the rest.',
    wrong: 'fn main() { match true { true => { } } }',
    right: 'fn main() { match true { true => { }, false => { } } }',
  },
  C0233: { title: 'A list of different types', text: 'Elements have one type; `Array<Any>` takes all.' },
  C0234: { title: 'A pattern that fits no such value', text: 'The value has another type or form than the pattern.' },
  C0235: { title: 'A type that does not implement a trait', text: 'Add `impl Trait for Type { … }`.' },
  C0236: {
    title: 'A wrong number of type arguments',
    text: '`Array` takes one, `Map` and `Result` take two.',
    wrong: 'fn f(a: Map<Int>) { emit("x", a); }\nfn main() { }',
  },
  C0237: {
    title: 'Something that contains itself, or grows without end',
    text: 'A module, alias or constant that refers to itself has no end; neither has a type that doubles with each step.',
    wrong: 'type A = B;\ntype B = A;\nfn f(a: A) { emit("x", a); }\nfn main() { }',
  },
  C0238: {
    title: 'A connection that the manifest does not have',
    text: 'Add `[connections.NAME]` to Concerto.toml, or name one that is there.',
  },
  C0239: {
    title: 'A variable without a value',
    text: 'It is read where nothing was assigned to it, or not on every way that leads there.',
    wrong: 'fn main() { let x: Int; emit("x", x); }',
  },
  C0240: {
    title: 'A named argument that does not fit',
    text: 'No parameter has this name, it is given twice, or one without a name follows.',
    wrong: 'fn f(a: Int) -> Int { a }\nfn main() { emit("x", f(b: 1)); }',
  },
  C0241: {
    title: 'A listen that cannot be',
    text: '`listen Agent.execute(prompt) { "type" => |message| … }`, with one handler for each type.',
  },
  C0242: {
    title: 'A cast that has no meaning',
    text: 'Numbers, texts and truth values can be cast to each other; maps to structs and schemas.',
  },
  C0243: {
    title: 'An item that uses a variable around it',
    text: 'Functions inside of functions do not see their variables: pass them, or write a closure.',
  },
  C0244: {
    title: 'An index that cannot be',
    text: 'Lists and texts have Int indexes, maps have keys.',
    wrong: 'fn main() { emit("x", [1]["a"]); }',
  },
  C0245: {
    title: 'A name that stands for something else',
    text: 'A type, trait or module stands where a value is needed, or the other way round.',
  },
  C0247: {
    title: 'An argument that a decorator does not take',
    text: 'Its arguments are constants of the kind it needs. A `pattern` of `@validate` is a regular expression without look-around and back references, which cannot be matched in linear time.',
  },
  C0248: { title: 'A setting with a wrong value', text: 'The field takes another kind of value.' },
  C0249: {
    title: 'A text that is not one of those allowed',
    text: 'The type lists all texts that a value may have.',
    wrong: 'fn f(a: "x" | "y") { emit("a", a); }\nfn main() { f("z"); }',
  },
  C0250: {
    title: 'A field that the type does not have',
    text: 'Look at the spelling; a method is called with parentheses.',
    wrong: 'struct S { a: Int }\nfn main() { emit("x", S { a: 1 }.b); }',
  },
  C0251: {
    title: 'A method that the type does not have',
    text: 'Look at the spelling, or take the value out of its Option or Result first.',
    wrong: 'fn main() { emit("x", 1.missing()); }',
  },
  C0252: { title: 'A field that a schema cannot have', text: 'A model can only fill what JSON can say.' },
  C0253: {
    title: 'A tool that the MCP server does not have',
    text: 'With `--mcp` the servers are asked which tools they have, and what they take.',
  },
} as const satisfies Readonly<Record<string, Explanation>>;
