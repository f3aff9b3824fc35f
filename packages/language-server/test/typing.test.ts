import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cursorIn, Editor, uriFor } from './editor.ts';
import { newProject } from './project.ts';

let editor: Editor;
beforeAll(async () => {
  editor = await Editor.start();
});
afterAll(async () => {
  await editor.stop();
});

async function opened(marked: string): Promise<{ path: string; offset: number }> {
  const path = newProject().write('a.conc', '');
  const { text, offset } = cursorIn(marked);
  await editor.open(path, text);
  return { path, offset };
}

async function labels(marked: string): Promise<string[]> {
  const { path, offset } = await opened(marked);
  const items = await editor.complete(path, offset);
  return items.toSorted((a, b) => ((a.sortText ?? '') < (b.sortText ?? '') ? -1 : 1)).map(({ label }) => label);
}

describe('completion', () => {
  test('after a dot, with nothing typed yet and the next line below', async () => {
    const found = await labels(
      'struct P { x: Int, y: Int }\nimpl P { fn sum(self) -> Int { 1 } }\nfn f(p: P) {\n    p.¦\n    let z = 1;\n}',
    );
    expect(found.slice(0, 3)).toEqual(['sum', 'x', 'y']);
  });

  test('methods of what is built in, with their help', async () => {
    const { path, offset } = await opened('fn main() { let names = ["a"]; names.pu¦ }');
    const push = (await editor.complete(path, offset)).find(({ label }) => label === 'push');
    expect(push?.detail).toContain('Array<T>');
    expect(push?.documentation).toBeDefined();
  });

  test('in a template, and after a call', async () => {
    expect(await labels('fn main() { let who = "a"; emit("x", "hi ${who.¦}"); }')).toContain('to_upper');
    expect(await labels('fn main() { emit("x", "a b".split(" ").¦); }')).toContain('map');
  });

  test('fields of a model’s answer and methods of an agent', async () => {
    expect(
      await labels('model M { provider: mock, base: "m" }\nfn f() { let r = M.execute("a").unwrap(); r.¦ }'),
    ).toContain('text');
    expect(await labels('agent A { connector: a }\nfn f() { A.¦ }')).toContain('execute');
  });

  test('types of messages, their fields and methods, and those of a session', async () => {
    const handler = (text: string) => `agent A { connector: a }\nfn f() { listen A.execute("x") { ${text} }; }`;
    expect(await labels(handler('"quest¦" => |q| { "yes" }'))).toContain('question');
    const types = await labels(handler('"log" => |l: ¦| { }'));
    expect(types).toEqual(
      expect.arrayContaining(['Question', 'Approval', 'Progress', 'Partial', 'Log', 'ToolCall', 'AgentResult']),
    );
    expect(await labels(handler('"approval" => |a: Approval| { a.¦ }'))).toEqual(
      expect.arrayContaining(['description', 'paths', 'kind', 'get']),
    );
    expect(await labels(handler('"tool_call" => |c: ToolCall| { c.¦ }'))).toEqual(
      expect.arrayContaining(['name', 'args', 'get']),
    );
    expect(await labels('agent A { connector: a }\nfn f() { A.session().¦ }')).toEqual(
      expect.arrayContaining(['steer', 'pause', 'resume', 'interrupt', 'usage', 'status', 'id']),
    );
    expect(await labels('struct T { name: String }\nfn f(t: Option<T>) { emit("x", t?.¦); }')).toContain('name');
    expect(await labels('fn f() { ¦ }')).toEqual(expect.arrayContaining(['sleep', 'now', 'every']));
    expect(await labels('fn f() { "a".¦ }')).toEqual(expect.arrayContaining(['matches', 'find_match']));
  });

  test('variables in scope, nearest first; not those that come later or live elsewhere', async () => {
    const found = await labels(
      'fn other(hidden: Int) {}\nfn f(given: Int) { let before = 1; for each in 0..3 { let inner = 2; ¦ } let after = 3; }',
    );
    expect(found.slice(0, 4).toSorted()).toEqual(['before', 'each', 'given', 'inner']);
    expect(found).toEqual(expect.arrayContaining(['other', 'f', 'print', 'len', 'match', 'Some']));
    expect(found).not.toContain('hidden');
    expect(found).not.toContain('after');
  });

  test('in a closure, a match arm, a handler and a catch', async () => {
    expect(await labels('fn main() { let f = |item: Int| { ¦ }; f(1); }')).toContain('item');
    expect(
      await labels('fn f(r: Result<Int, String>) -> Int { match r { Ok(value) => { ¦ } Err(_) => 0 } }'),
    ).toContain('value');
    expect(
      await labels('agent A { connector: a }\nfn f() { listen A.execute("p") { "question" => |asked| { ¦ } }; }'),
    ).toContain('asked');
    expect(await labels('fn main() { try { panic("a"); } catch Error(problem) { ¦ } }')).toContain('problem');
  });

  test('after ::, of modules, enums, types and the standard library', async () => {
    expect(await labels('enum Mode { Fast, Slow }\nfn f() { Mode::¦ }')).toEqual(['Fast', 'Slow']);
    expect(await labels('mod m { pub fn seen() {} fn hidden() {} }\nfn f() { m::¦ }')).toEqual(['seen']);
    expect(await labels('fn f() { std::¦ }')).toEqual(expect.arrayContaining(['json', 'math', 'tools']));
    expect(await labels('fn f() { std::json::¦ }')).toContain('parse');
    expect(await labels('use std::¦;')).toContain('json');
    expect(await labels('use std::{json, ma¦};')).toContain('math');
    expect(await labels('struct P {}\nimpl P { fn new() -> P { P {} } }\nfn f() { P::¦ }')).toEqual(['new']);
  });

  test('one colon does not bring up a list', async () => {
    const { path, offset } = await opened('fn f(n:¦) {}');
    const context = { triggerKind: 2, triggerCharacter: ':' };
    expect(await editor.complete(path, offset, { context })).toEqual([]);
  });

  test('types where a type is written', async () => {
    const found = await labels('struct Mine {}\nfn helper() {}\nfn f<T>(a: ¦) {}');
    expect(found).toEqual(expect.arrayContaining(['Mine', 'T', 'Int', 'Array', 'Any']));
    expect(found).not.toContain('helper');
  });

  test('fields of a literal and of a pattern that are not there yet', async () => {
    expect(await labels('struct P { x: Int, y: Int }\nfn f() { P { x: 1, ¦ }; }')).toEqual(['y']);
    expect(await labels('struct P { x: Int, y: Int }\nfn f(p: P) { match p { P { ¦ } => 1 }; }')).toEqual(['x', 'y']);
  });

  test('names of parameters', async () => {
    expect(await labels('fn f(first: Int, second: Int = 1) {}\nfn main() { f(1, ¦); }')).toContain('second:');
  });

  test('variants of what is matched', async () => {
    const found = await labels('enum Mode { Fast, Slow }\nfn f(m: Mode) -> Int { match m { ¦ } }');
    expect(found).toEqual(expect.arrayContaining(['Mode::Fast', 'Mode::Slow']));
  });

  test('message types of listen: those every agent may send, and those handled elsewhere', async () => {
    const found = await labels(
      'agent A { connector: a }\nfn f() { listen A.execute("p") { "plan_ready" => |p| {} }; }\nfn g() { listen A.execute("p") { "¦" => |m| {} }; }',
    );
    expect(found).toEqual(expect.arrayContaining(['question', 'approval', 'progress', 'plan_ready']));
  });

  test('a message type gets its quotes where there are none', async () => {
    const { path, offset } = await opened('agent A { connector: a }\nfn f() { listen A.execute("p") {\n    ¦\n}; }');
    const question = (await editor.complete(path, offset)).find(({ label }) => label === 'question');
    expect(question?.insertText).toBe('"question"');
  });

  test('settings of agents and models, and what the manifest declares for them', async () => {
    const { write } = newProject();
    write(
      'Concerto.toml',
      '[project]\nname = "p"\nversion = "1"\nentry = "main.conc"\n[agents.reviewer]\ncommand = "x"\n',
    );
    const path = write('main.conc', '');
    const ask = async (marked: string) => {
      const { text, offset } = cursorIn(marked);
      await editor.open(path, text);
      return (await editor.complete(path, offset)).map(({ label }) => label);
    };
    expect(await ask('agent A { connector: reviewer, ¦ }')).toEqual(
      expect.arrayContaining(['timeout', 'output_format']),
    );
    expect((await ask('agent A { connector: ¦ }'))[0]).toBe('reviewer');
    expect(await ask('agent A { connector: "¦" }')).toEqual(['reviewer']);
    expect(await ask('agent A { connector: reviewer, output_format: "¦" }')).toEqual(['text', 'json']);
    expect(await ask('@¦\nfn f() {}')).toContain('test');
  });

  test('nothing in comments, in texts, and where a new name is written', async () => {
    expect(await labels('// fn ¦')).toEqual([]);
    expect(await labels('fn f() { "a ¦ b" }')).toEqual([]);
    expect(await labels('fn ¦() {}')).toEqual([]);
    expect(await labels('fn f() { let ¦ = 1; }')).toEqual([]);
  });

  test('behind emoji', async () => {
    expect(await labels('fn main() { let s = "😀👩‍👩‍👧"; emit("😀", s.¦); }')).toContain('len');
  });
});

describe('signature help', () => {
  async function shownSignature(marked: string): Promise<string> {
    const { path, offset } = await opened(marked);
    const help = await editor.signature(path, offset);
    const [signature] = help?.signatures ?? [];
    const label = signature?.parameters?.[help?.activeParameter ?? 0]?.label;
    if (signature === undefined) return '';
    const [start, end] = Array.isArray(label) ? label : [0, 0];
    return `${signature.label.slice(0, start)}[${signature.label.slice(start, end)}]${signature.label.slice(end)}`;
  }
  const cases: readonly (readonly [string, string, string])[] = [
    [
      'the first argument',
      'fn add(a: Int, b: Int = 2) -> Int { a + b }\nfn main() { add(¦) }',
      'add([a: Int], b: Int = 2) -> Int',
    ],
    [
      'the second, not closed',
      'fn add(a: Int, b: Int = 2) -> Int { a + b }\nfn main() { add(1, ¦\n}',
      'add(a: Int, [b: Int = 2]) -> Int',
    ],
    ['by name', 'fn add(a: Int, b: Int) -> Int { a + b }\nfn main() { add(b: ¦) }', 'add(a: Int, [b: Int]) -> Int'],
    [
      'built in, with a comma in a text',
      'fn main() { "a,b".replace(",", ¦) }',
      'replace(from: String, [to: String]) -> String',
    ],
    [
      'the innermost call',
      'fn add(a: Int, b: Int) -> Int { a + b }\nfn main() { print(add(1, ¦)) }',
      'add(a: Int, [b: Int]) -> Int',
    ],
    ['a method', 'struct S {}\nimpl S { fn go(self, far: Int) {} }\nfn f(s: S) { s.go(¦) }', 'go([far: Int])'],
    ['a variant', 'enum E { A(Int, String) }\nfn f() { E::A(1, ¦) }', 'A(Int, [String])'],
    ['a function in a variable', 'fn f(g: fn(Int) -> Bool) { g(¦) }', 'g([Int]) -> Bool'],
    ['behind the call: none', 'fn add(a: Int) -> Int { a }\nfn main() { add(1)¦ }', ''],
    ['in a block of a closure: none', 'fn main() { [1].map(|n| { ¦ n }) }', ''],
  ];
  test.each(cases)('%s', async (_, marked, wanted) => {
    expect(await shownSignature(marked)).toBe(wanted);
  });
});

describe('formatting', () => {
  test('gives what `concerto fmt` gives', async () => {
    const { path } = await opened('// 😀\nfn main(){let a=1;emit("x",a);}\n\n\n\nfn g() {\n    1\n}\n¦');
    const edits = await editor.format(path);
    const formatted = editor.edited(path, edits);
    expect(formatted).toBe('// 😀\nfn main() {\n    let a = 1;\n    emit("x", a);\n}\n\nfn g() {\n    1\n}\n');
    await editor.replace(path, formatted);
    expect(await editor.format(path)).toEqual([]);
  });

  test('leaves a text with syntax errors alone', async () => {
    const { path } = await opened('fn main(  { ¦');
    expect(await editor.format(path)).toEqual([]);
  });
});

describe('code actions', () => {
  const everything = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };

  test('a fix where the cursor is, and all at once', async () => {
    const path = newProject().write('a.conc', '');
    await editor.open(path, 'fn f(a: HostRef) {}\nfn g(b: Database) {}\n');
    const at = { start: { line: 1, character: 9 }, end: { line: 1, character: 9 } };
    const [fix] = await editor.codeActions(path, at, ['quickfix']);
    expect(fix).toMatchObject({ title: 'Write HashMap', kind: 'quickfix', isPreferred: true });
    expect(editor.edited(path, fix?.edit?.changes?.[uriFor(path)] ?? [])).toBe(
      'fn f(a: HostRef) {}\nfn g(b: HashMap) {}\n',
    );
    const [all] = await editor.codeActions(path, everything, ['source.fixAll']);
    expect(editor.edited(path, all?.edit?.changes?.[uriFor(path)] ?? [])).toBe(
      'fn f(a: AgentRef) {}\nfn g(b: HashMap) {}\n',
    );
    expect(await editor.codeActions(path, everything, ['refactor'])).toEqual([]);
  });

  test('the name that was probably meant', async () => {
    const path = newProject().write('a.conc', '');
    await editor.open(path, 'fn main() { let total = 1; emit("😀", totl); }\n');
    const [fix] = await editor.codeActions(path, everything, ['quickfix']);
    expect(fix?.title).toBe('Write `total`');
    expect(editor.edited(path, fix?.edit?.changes?.[uriFor(path)] ?? [])).toContain('emit("😀", total)');
    expect(await editor.codeActions(path, everything, ['source.fixAll'])).toEqual([]);
  });

  test('a fix that also adds to the manifest', async () => {
    const { write } = newProject();
    const manifest = write('Concerto.toml', '[project]\nname = "p"\nversion = "1"\nentry = "main.conc"\n');
    const path = write('main.conc', '');
    await editor.open(path, 'connect openai { provider: "openai", api_key: env("KEY") }\nfn main() {}\n');
    const [fix] = await editor.codeActions(path, everything, ['quickfix']);
    expect(fix?.edit?.changes?.[uriFor(manifest)]?.[0]?.newText).toContain('[connections.openai]');
  });

  test('none that would say in the manifest what it says otherwise', async () => {
    const { write } = newProject();
    const manifest =
      '[project]\nname = "p"\nversion = "1"\nentry = "main.conc"\n[connections.openai]\nprovider = "mock"\n';
    write('Concerto.toml', manifest);
    const path = write('main.conc', '');
    await editor.open(path, 'connect openai { provider: "openai", api_key: env("KEY") }\nfn main() {}\n');
    expect(await editor.codeActions(path, everything, ['quickfix'])).toEqual([]);
  });

  test('one in the manifest itself', async () => {
    const path = newProject().write('Concerto.toml', '');
    await editor.open(path, '[project]\nname = "p"\nversion = "1"\nentry = "main.conc"\n[hosts.a]\ncommand = "x"\n');
    expect(await editor.diagnostics(path)).not.toEqual([]);
    const actions = await editor.codeActions(path, everything, ['quickfix']);
    expect(actions.map(({ title }) => title)).not.toEqual([]);
  });
});

test('nothing went wrong in the server meanwhile', () => {
  expect(editor.logged).toEqual([]);
});
