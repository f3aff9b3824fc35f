import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SymbolInformation } from 'vscode-languageserver/node';
import { cursorIn, Editor, shown, uriFor } from './editor.ts';
import { newProject } from './project.ts';

let editor: Editor;
beforeAll(async () => {
  editor = await Editor.start();
});
afterAll(async () => {
  await editor.stop();
});

/** Opens a text with a cursor in it. */
async function opened(marked: string): Promise<{ path: string; offset: number; text: string }> {
  const path = newProject().write('a.conc', '');
  const { text, offset } = cursorIn(marked);
  await editor.open(path, text);
  return { path, offset, text };
}

/** The texts at the places, with their lines. */
async function referencesOf(marked: string): Promise<string[]> {
  const { path, offset } = await opened(marked);
  const found = await editor.references(path, offset);
  return found.map(({ range }) => `${shown(range.start)} ${editor.document(path).getText(range)}`);
}

async function renamed(marked: string, name: string): Promise<string> {
  const { path, offset } = await opened(marked);
  const edit = await editor.rename(path, offset, name);
  return editor.edited(path, edit.changes?.[uriFor(path)] ?? []);
}

describe('hover', () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    [
      'a function, with its doc',
      '/// Adds.\nfn add(a: Int,\n  b: Int = 2) -> Int { a + b }\nfn main() { emit("x", ad¦d(1)); }',
      /fn add\(a: Int, b: Int = 2\) -> Int\n```\n\nAdds\./,
    ],
    [
      'a variable with an inferred type',
      'fn main() { let names = ["a"].map(|n| n.len()); emit("x", nam¦es); }',
      /let names: Array<Int>/,
    ],
    ['a parameter', 'fn f(who: String) -> String { wh¦o }', /who: String/],
    ['a parameter of a closure', 'fn main() { emit("x", [1.5].map(|part| par¦t)); }', /part: Float/],
    ['a built-in function', 'fn main() { emit("x", le¦n("a")); }', /fn len\(value: Any\) -> Int\n```\n\nLength of/],
    ['a built-in method', 'fn main() { emit("x", "a".to_upp¦er()); }', /String\.to_upper/],
    ['a function of the standard library', 'fn main() { emit("x", std::math::ab¦s(-1)); }', /std::math::abs/],
    ['a field', 'struct P { /// Across.\n x: Int }\nfn f(p: P) -> Int { p.¦x }', /x: Int\n```\n\nAcross\./],
    ['a field of an error', 'fn f(e: AgentError) -> String { e.messag¦e }', /AgentError\.message: String/],
    [
      'an agent',
      'agent Worker { connector: worker }\nfn main() { emit("x", Work¦er.execute("a")); }',
      /agent Worker \{ connector: worker \}/,
    ],
    ['a variant', 'enum E { A(Int), B }\nfn main() { emit("x", E::¦A(1)); }', /A\(Int\)/],
    ['a type', 'schema Answer { ok: Bool }\nfn f(a: Ans¦wer) -> Bool { a.ok }', /schema Answer \{ ok: Bool \}/],
    [
      'a method of a trait, where it is implemented',
      'trait T { /// Its size.\n fn size(self) -> Int; }\nstruct S {}\nimpl T for S { fn si¦ze(self) -> Int { 1 } }',
      /fn size\(self\) -> Int\n```\n\nIts size\./,
    ],
    [
      'a type of messages',
      'agent A { connector: a }\nfn f() { listen A.execute("x") { "approval" => |a: Appro¦val| { "yes" } }; }',
      /Approval \{[^`]*description: String[^`]*\n```\n\nThe agent asks for permission/,
    ],
    [
      'a field of a message',
      'agent A { connector: a }\nfn f() { listen A.execute("x") { "tool_call" => |c: ToolCall| { emit("x", c.na¦me); } }; }',
      /ToolCall\.name: String/,
    ],
    [
      'a type of messages that the program declares',
      'struct Question { n: Int }\nfn f(q: Ques¦tion) -> Int { q.n }',
      /struct Question \{ n: Int \}/,
    ],
    ['sleep', 'fn main() { sle¦ep("3d"); }', /fn sleep\(time: Any\) -> Nil\n```\n\nWaits, for days/],
    ['every', 'fn main() { emit("x", ever¦y("1d", |n| n < 3)); }', /fn every\(time: Any, f: fn\(Int\) -> Any\) -> Int/],
    ['now', 'fn main() { emit("x", no¦w()); }', /fn now\(\) -> Int/],
    ['a regular expression', 'fn main() { emit("x", "a".match¦es("[a-z]+")); }', /String\.matches/],
    [
      'the session of an agent',
      'agent A { connector: a }\nfn f() { let s = A.session(); ¦s.pause(); }',
      /let s: Session/,
    ],
    ['what is done to a session', 'agent A { connector: a }\nfn f() { A.session().ste¦er("x"); }', /Session\.steer/],
    [
      'behind `?.`',
      'struct T { name: String }\nstruct P { team: Option<T> }\nfn f(p: Option<P>) { emit("x", p?.team?.na¦me ?? "none"); }',
      /name: String/,
    ],
    ['in a template', 'fn main() { let who = "a"; emit("x", "hi ${wh¦o} 😀"); }', /let who: String/],
  ];
  test.each(cases)('%s', async (_, marked, wanted) => {
    const { path, offset } = await opened(marked);
    expect(await editor.hover(path, offset)).toMatch(wanted);
  });

  test('nothing where there is no name', async () => {
    const { path, offset } = await opened('fn main() { ¦ }');
    expect(await editor.hover(path, offset)).toBe('');
  });
});

describe('definition', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['of a function', 'fn main() { hel¦p(); }\nfn help() {}', '1:3'],
    ['of the innermost variable', 'fn main() { let a = 1; { let a = 2; emit("x", ¦a); } }', '0:29'],
    ['of a method', 'struct S {}\nimpl S { fn go(self) {} }\nfn f(s: S) { s.¦go(); }', '1:12'],
    [
      'of what implements it, not of the trait',
      'trait T { fn go(self); }\nstruct S {}\nimpl T for S { fn go(self) {} }\nfn f(s: S) { s.¦go(); }',
      '2:18',
    ],
    ['of a field in a literal', 'struct S { n: Int }\nfn f() -> S { S { ¦n: 1 } }', '0:11'],
    ['of a label', "fn main() { 'outer: loop { break '¦outer; } }", '0:12'],
    ['of a named argument', 'fn f(n: Int) -> Int { n }\nfn main() { emit("x", f(¦n: 1)); }', '0:5'],
    ['of an import', 'mod m { pub fn f() {} }\nuse m::f;\nfn main() { ¦f(); }', '0:15'],
    ['of a type parameter', 'fn id<T>(value: ¦T) -> T { value }', '0:6'],
    [
      'of a binding in a pattern',
      'fn f(r: Result<Int, String>) -> Int { match r { Ok(value) => val¦ue, Err(_) => 0 } }',
      '0:51',
    ],
    ['of a variant in a pattern', 'enum E { A, B }\nfn f(e: E) -> Int { match e { E::¦A => 1, E::B => 2 } }', '0:9'],
    ['of a local function', 'fn main() { fn inner() {} in¦ner(); }', '0:15'],
    ['of a variable at the top', 'let limit = 3;\nfn main() { emit("x", lim¦it); }', '0:4'],
    ['of a mocked model', 'model M { provider: mock, base: "m" }\n@test\nfn t() { mock ¦M { response: "a" } }', '0:6'],
    ['of a piped function', 'fn twice(n: Int) -> Int { n * 2 }\nfn main() { emit("x", 1 |> twi¦ce); }', '0:3'],
  ];
  test.each(cases)('%s', async (_, marked, wanted) => {
    const { path, offset } = await opened(marked);
    const found = await editor.definition(path, offset);
    expect(found.map(({ range }) => shown(range.start))).toEqual([wanted]);
  });

  test('of what is built in there is none', async () => {
    const { path, offset } = await opened('fn main() { ¦print("a"); }');
    expect(await editor.definition(path, offset)).toEqual([]);
    const tool = await opened('use std::tools::HttpTool;\nmodel M { provider: mock, base: "m", tools: [Http¦Tool] }');
    expect(await editor.definition(tool.path, tool.offset)).toEqual([]);
  });

  test('in another file, and of a file', async () => {
    const { write } = newProject();
    const main = write('main.conc', '');
    const inner = write('inner.conc', '// first\npub fn deep() -> Int { 1 }\n');
    const { text, offset } = cursorIn('mod inner;\nfn main() { emit("x", inner::de¦ep()); }');
    await editor.open(main, text);
    expect(await editor.definition(main, offset)).toEqual([
      { uri: uriFor(inner), range: { start: { line: 1, character: 7 }, end: { line: 1, character: 11 } } },
    ]);
    expect(await editor.definition(main, 5)).toMatchObject([{ uri: uriFor(inner), range: { start: { line: 0 } } }]);
  });
});

test('an agent and a connection are found in the manifest', async () => {
  const { write } = newProject();
  const table = '[agents.worker]\ncommand = "python3"\n[agents.worker.params]\nrepo = "."';
  const manifest = write(
    'Concerto.toml',
    `[project]\nname = "p"\nversion = "1"\nentry = "m.conc"\n${table}\n[pool]\nmax_sessions = 2\n`,
  );
  const path = write('m.conc', '');
  const { text, offset } = cursorIn('agent A { connector: wor¦ker }\nfn main() {}\n');
  await editor.open(path, text);
  expect(await editor.definition(path, offset)).toEqual([
    { uri: uriFor(manifest), range: { start: { line: 4, character: 1 }, end: { line: 4, character: 14 } } },
  ]);
  expect(await editor.hover(path, offset)).toBe(`\`\`\`toml\n${table}\n\`\`\``);
  await editor.replace(path, 'agent A { connector: "worker" }\nfn main() {}\n');
  expect(await editor.definition(path, offset + 2)).toMatchObject([{ range: { start: { line: 4 } } }]);
});

describe('references', () => {
  test('of a variable, not of another with its name', async () => {
    expect(
      await referencesOf('fn f(n: Int) -> Int { n }\nfn g(¦n: Int) -> Int { let m = n; "${n}".len() + m }'),
    ).toEqual(['1:5 n', '1:30 n', '1:36 n']);
  });

  test('of a method of a trait: declaration, what implements it, calls', async () => {
    const text = [
      'trait T { fn go(self) -> Int; }',
      'struct A {}',
      'impl T for A { fn go(self) -> Int { 1 } }',
      'fn all(t: T, a: A) -> Int { t.go() + a.¦go() }',
    ].join('\n');
    expect(await referencesOf(text)).toEqual(['0:13 go', '2:18 go', '3:30 go', '3:39 go']);
  });

  test('in every file of the program, from an unsaved one', async () => {
    const { write } = newProject();
    write('main.conc', 'mod a;\nmod b;\nfn main() { emit("x", b::two()); }\n');
    const a = write('a.conc', '');
    const b = write('b.conc', 'use crate::a::one;\npub fn two() -> Int { one() + crate::a::one() }\n');
    const { text, offset } = cursorIn('pub fn o¦ne() -> Int { 1 }\n');
    await editor.open(a, text);
    const found = await editor.references(a, offset);
    expect(found.map(({ uri, range }) => `${uri.split('/').at(-1)} ${shown(range.start)}`)).toEqual([
      'a.conc 0:7',
      'b.conc 0:14',
      'b.conc 1:22',
      'b.conc 1:40',
    ]);
    expect(await editor.references(a, offset, false)).toHaveLength(3);
    expect(found.filter(({ uri }) => uri === uriFor(b))).toHaveLength(3);
  });

  test('highlights are those in this file', async () => {
    const { path, offset } = await opened('fn f(¦n: Int) -> Int { n + n }');
    const found = await editor.ask<{ kind: number }[]>('documentHighlight', path, offset);
    expect(found.map(({ kind }) => kind)).toEqual([3, 2, 2]);
  });
});

describe('rename', () => {
  test('a variable, also in templates behind emoji', async () => {
    expect(await renamed('fn main() { let ¦a = 1; emit("x", "😀${a}${a + 1}"); }', 'total')).toBe(
      'fn main() { let total = 1; emit("x", "😀${total}${total + 1}"); }',
    );
  });

  test('a field keeps the variable of a shorthand, and the variable keeps the field', async () => {
    const text = (field: string, variable: string) =>
      `struct P { ${field}x: Int }\nfn f(${variable}x: Int) -> Int { let p = P { x }; match p { P { x } => x + p.x } }`;
    expect(await renamed(text('¦', ''), 'across')).toBe(
      'struct P { across: Int }\nfn f(x: Int) -> Int { let p = P { across: x }; match p { P { across: x } => x + p.across } }',
    );
    expect(await renamed(text('', '¦'), 'n')).toBe(
      'struct P { x: Int }\nfn f(n: Int) -> Int { let p = P { x: n }; match p { P { x } => x + p.x } }',
    );
    expect(await renamed('struct P { x: Int }\nfn f(p: P) -> Int { match p { P { x } => ¦x } }', 'n')).toBe(
      'struct P { x: Int }\nfn f(p: P) -> Int { match p { P { x: n } => n } }',
    );
  });

  test('a parameter with the arguments that name it; a label', async () => {
    expect(await renamed('fn f(¦n: Int) -> Int { n }\nfn main() { emit("x", f(n: 1)); }', 'count')).toBe(
      'fn f(count: Int) -> Int { count }\nfn main() { emit("x", f(count: 1)); }',
    );
    expect(await renamed("fn main() { 'a: loop { break '¦a; } }", 'b')).toBe("fn main() { 'b: loop { break 'b; } }");
  });

  test('an alias is a name of its own', async () => {
    const text = (real: string, alias: string) =>
      `mod m { pub fn ${real}f() {} }\nuse m::f as g;\nfn main() { ${alias}g(); }`;
    expect(await renamed(text('¦', ''), 'run')).toBe('mod m { pub fn run() {} }\nuse m::run as g;\nfn main() { g(); }');
    expect(await renamed(text('', '¦'), 'run')).toBe('mod m { pub fn f() {} }\nuse m::f as run;\nfn main() { run(); }');
  });

  test('in all files', async () => {
    const { write } = newProject();
    const main = write('main.conc', '');
    const inner = write('inner.conc', 'pub schema Answer { ok: Bool }\n');
    const { text, offset } = cursorIn('mod inner;\nuse inner::Answer;\nfn main() { emit("x", ¦Answer { ok: true }); }');
    await editor.open(main, text);
    const { changes } = await editor.rename(main, offset, 'Reply');
    expect(Object.keys(changes ?? {}).toSorted()).toEqual([uriFor(inner), uriFor(main)]);
    expect(editor.edited(main, changes?.[uriFor(main)] ?? [])).toBe(text.replaceAll('Answer', 'Reply'));
  });

  test('in all programs that share a module', async () => {
    const { write } = newProject();
    const one = write('one.conc', 'mod shared;\nfn main() { emit("x", shared::get()); }\n');
    const two = write('two.conc', 'mod shared;\nfn main() { emit("y", shared::get() + 1); }\n');
    const shared = write('shared.conc', '');
    const { text, offset } = cursorIn('pub fn g¦et() -> Int { 1 }\n');
    await editor.open(shared, text);
    const { changes } = await editor.rename(shared, offset, 'fetch');
    expect(Object.keys(changes ?? {}).toSorted()).toEqual([one, shared, two].map(uriFor));
  });

  const refused: readonly (readonly [string, string, string, RegExp])[] = [
    ['a name that is none', 'fn ¦f() {}', '2x', /not a name/],
    ['a keyword', 'fn ¦f() {}', 'match', /keyword/],
    ['an empty name', 'fn ¦f() {}', '', /not a name/],
    ['what is built in', 'fn main() { ¦print("a"); }', 'write', /built in/],
    [
      'a tool of the standard library',
      'use std::tools::Http¦Tool;\nmodel M { provider: mock, base: "m", tools: [HttpTool] }',
      'Web',
      /built in/,
    ],
    ['self', 'struct S {}\nimpl S { fn f(self) { ¦self; } }', 'this', /keyword/],
    ['a name that is taken', 'fn ¦f() {}\nfn g() {}', 'g', /defined twice/],
    [
      'a name that another variable would take',
      'fn main() { let ¦a = 1; let b = 2; emit("x", [a, b]); }',
      'b',
      /means something else/,
    ],
    [
      'a name that would capture a use of another',
      'fn main() { let a = 1; let f = |¦n: Int| n + a; emit("x", f(1)); }',
      'a',
      /means something else/,
    ],
    ['nothing', 'fn main() { ¦ }', 'a', /nothing to rename/],
  ];
  test.each(refused)('refuses %s', async (_, marked, name, why) => {
    const { path, offset } = await opened(marked);
    await expect(editor.rename(path, offset, name)).rejects.toThrow(why);
  });

  test('says beforehand what can be renamed', async () => {
    const { path, text } = await opened('fn help() {}\nfn main() { help(); print("a"); ¦}');
    const at = text.lastIndexOf('help') + 1;
    expect(await editor.ask('prepareRename', path, at)).toMatchObject({ placeholder: 'help' });
    await expect(editor.ask('prepareRename', path, text.indexOf('print'))).rejects.toThrow(/built in/);
  });
});

test('the outline has what a file declares, one in another', async () => {
  const { path } = await opened(
    'struct P { x: Int }\nimpl P { fn f(self) {} }\nenum E { A, B }\nmod m { fn g() {} }\nagent W { connector: w }\npipeline Q { stage s(n: Int) -> Int { n } }\n¦',
  );
  const found = await editor.symbols(path);
  const names = found.map(({ name, children }) => [name, ...(children ?? []).map((child) => child.name)].join(' '));
  expect(names).toEqual(['P x', 'impl P f', 'E A B', 'm g', 'W', 'Q s']);
});

test('what the programs declare is found by a part of its name', async () => {
  const { write } = newProject();
  write('inner.conc', 'pub struct PaintBrush { widthOfBrush: Int }\n');
  const path = write('main.conc', '');
  await editor.open(path, 'mod inner;\nfn main() {}\n');
  const found = await editor.connection.sendRequest<SymbolInformation[]>('workspace/symbol', { query: 'pbrush' });
  expect(found.map(({ name }) => name)).toEqual(['PaintBrush']);
});

test('colours: names by what they mean, texts of several lines line by line', async () => {
  const { path, text } = await opened('/* one\ntwo */\nfn f(who: String) -> Int { len("😀${who}") }\n¦');
  const { data } = await editor.ask<{ data: number[] }>('semanticTokens/full', path, 0);
  const legend = ['comment', 'keyword', 'string', 'number', 'operator', 'function', 'method', 'struct', 'enum'];
  const lines = text.split('\n');
  let [line, character] = [0, 0];
  const shownTokens: string[] = [];
  for (let at = 0; at < data.length; at += 5) {
    const [down = 0, along = 0, length = 0, type = 0] = data.slice(at, at + 4);
    line += down;
    character = down === 0 ? character + along : along;
    shownTokens.push(`${legend[type] ?? type} ${lines[line]?.slice(character, character + length)}`);
  }
  expect(shownTokens.slice(0, 4)).toEqual(['comment /* one', 'comment two */', 'keyword fn', 'function f']);
  expect(shownTokens).toContain('15 who');
  expect(shownTokens).toContain('function len');
});

test('nothing went wrong in the server meanwhile', () => {
  expect(editor.logged).toEqual([]);
});
