import { describe, expect, test } from 'vitest';
import { createSourceFile, positionAt } from '../source/source-file.ts';
import type { Expression } from '../syntax/expression.ts';
import type { Item } from '../syntax/item.ts';
import { createIdSource } from '../syntax/node.ts';
import { parseSource } from './parse-source.ts';

function parse(text: string) {
  const file = createSourceFile('main.conc', text);
  const { tree, diagnostics } = parseSource(file);
  const problems = diagnostics.map(({ code, span }) => `${code} ${positionAt(file, span.start).line}`);
  return { items: tree.items, problems, diagnostics };
}

function parseItem<Kind extends Item['kind']>(text: string, kind: Kind): Extract<Item, { kind: Kind }> {
  const { items, problems } = parse(text);
  expect(problems).toEqual([]);
  expect(items[0]?.kind).toBe(kind);
  return items[0] as Extract<Item, { kind: Kind }>;
}

/** The tree in a few letters: enough to see what belongs to what. */
function shape(e: Expression | undefined): string {
  if (e === undefined) return '';
  switch (e.kind) {
    case 'NameExpression':
      return e.name.text;
    case 'IntLiteral':
      return String(e.value);
    case 'StringLiteral':
      return JSON.stringify(e.value);
    case 'ParenExpression':
      return shape(e.expression);
    case 'BinaryExpression':
    case 'AssignExpression':
      return `(${shape(e.kind === 'BinaryExpression' ? e.left : e.target)} ${e.operator} ${shape(e.kind === 'BinaryExpression' ? e.right : e.value)})`;
    case 'PipeExpression':
      return `(${shape(e.left)} |> ${shape(e.right)})`;
    case 'UnaryExpression':
      return `${e.operator}${shape(e.operand)}`;
    case 'AwaitExpression':
      return `await(${shape(e.operand)})`;
    case 'PropagateExpression':
      return `try(${shape(e.operand)})`;
    case 'CastExpression':
      return `(${shape(e.operand)} as)`;
    case 'RangeExpression':
      return `(${shape(e.start)}${e.inclusive ? '..=' : '..'}${shape(e.end)})`;
    case 'CallExpression':
      return `${shape(e.callee)}${'<T>'.repeat(e.typeArguments.length)}(${e.arguments.map((a) => shape(a.value)).join(', ')})`;
    case 'MethodCallExpression':
      return `${shape(e.receiver)}.${e.method.text}${'<T>'.repeat(e.typeArguments.length)}(${e.arguments.map((a) => shape(a.value)).join(', ')})`;
    case 'FieldExpression':
      return `${shape(e.receiver)}.${e.name.text}`;
    case 'TupleFieldExpression':
      return `${shape(e.receiver)}.${e.index}`;
    case 'IndexExpression':
      return `${shape(e.receiver)}[${shape(e.index)}]`;
    default:
      return e.kind;
  }
}

function expression(text: string): Expression {
  const { items, problems } = parse(`let x = ${text};`);
  expect(problems).toEqual([]);
  const [item] = items;
  if (item?.kind !== 'StatementItem' || item.statement.kind !== 'LetStatement') throw new Error('no let');
  if (item.statement.initializer === undefined) throw new Error('no value');
  return item.statement.initializer;
}

describe('operators', () => {
  test.each([
    ['1 + 2 * 3', '(1 + (2 * 3))'],
    ['a - b - c', '((a - b) - c)'],
    ['-2 ** 2', '-(2 ** 2)'],
    ['2 ** 3 ** 2', '(2 ** (3 ** 2))'],
    ['-x as Int * 2', '((-x as) * 2)'],
    ['x as Int < n', '((x as) < n)'],
    ['x as Float < y as Float', '((x as) < (y as))'],
    ['f(x as Int < a, b > (c))', 'f(((x as) < a), (b > c))'],
    ['x as Option<Int>', '(x as)'],
    ['x as Int <= n', '((x as) <= n)'],
    ['0..n + 1', '(0..(n + 1))'],
    ['1 < 2 == true && a || b', '((((1 < 2) == BoolLiteral) && a) || b)'],
    ['a ?? b |> f', '((a ?? b) |> f)'],
    ['1 + f()?', '(1 + try(f()))'],
    ['!f()?', '!try(f())'],
    ['a |> f()? |> g()', '(try((a |> f())) |> g())'],
    ['a |> f().await', 'await((a |> f()))'],
    ['f()??', 'try(try(f()))'],
    ['f() ?? g()', '(f() ?? g())'],
    ['a = b += c', '(a = (b += c))'],
    ['await f(x).y', 'await(f(x).y)'],
    ['t.0.1', 't.0.1'],
    ['a[1..]', 'a[(1..)]'],
    ['a[..=2]', 'a[(..=2)]'],
    ['a < b', '(a < b)'],
    ['f<Int>(x)', 'f<T>(x)'],
    ['m.execute_with_schema<Array<T>>("p")', 'm.execute_with_schema<T>("p")'],
    ['a.b < c', '(a.b < c)'],
    ['f(a < b, c > d)', 'f((a < b), (c > d))'],
  ])('%s', (text, expected) => {
    expect(shape(expression(text))).toBe(expected);
  });
});

describe('braces', () => {
  test.each([
    ['{}', 'MapExpression'],
    ['{"a": 1}', 'MapExpression'],
    ['{type: 1}', 'MapExpression'],
    ['{[k]: 1}', 'MapExpression'],
    ['{"a${b}": 1}', 'MapExpression'],
    ['{ a }', 'Block'],
    ['{ [1].len() }', 'Block'],
    ['Point { x }', 'StructExpression'],
    ['geometry::Point { x: 1, ..base }', 'StructExpression'],
    ['|| {}', 'ClosureExpression'],
  ])('%s is a %s', (text, kind) => {
    expect(expression(text).kind).toBe(kind);
  });

  test('in the head of a statement a name and a brace are no struct literal', () => {
    const { items, problems } = parse('if flag {} for x in items {} while ready {} match v {} listen a.b() {}');
    expect(problems).toEqual([]);
    expect(items).toHaveLength(5);
  });

  test('a block ends its statement: what follows is not its argument or operand', () => {
    const { items, problems } = parse('if a { b } (c, d); if a { b } -x; match a {}.len();');
    expect(problems).toEqual([]);
    expect(items).toHaveLength(5);
  });

  test('arms need no commas, even before a bracket', () => {
    const { items, problems } = parse('match x {\n A => f\n (1, 2) => g\n [a] => { h }\n -1 => 2\n _ => 3\n}');
    expect(problems).toEqual([]);
    const [item] = items;
    const matched =
      item?.kind === 'StatementItem' && item.statement.kind === 'ExpressionStatement' && item.statement.expression;
    expect(matched && matched.kind === 'MatchExpression' && matched.arms.length).toBe(5);
  });
});

describe('names', () => {
  test('every keyword is a field, a label of an argument, a key and part of a path', () => {
    const { problems } = parse(
      'struct R { model: Int, match?: Int, fn: Int }\nlet r = R { model: 1, match: 2, fn: 3 };\nlet y = r.type + r.in + f(use: 1);\nmatch r { R { model: a, in, .. } => std::loop::type() };',
    );
    expect(problems).toEqual([]);
  });

  test('words that begin no expression may also be variables', () => {
    expect(parse('fn f(model: String, memory: Int) -> String { let type = model; type }').problems).toEqual([]);
  });

  test('ids go on from one file to the next', () => {
    const ids = createIdSource();
    const first = parseSource(createSourceFile('a.conc', 'let a = 1;'), ids).tree;
    const second = parseSource(createSourceFile('b.conc', 'let b = 2;'), ids).tree;
    const collect = (value: unknown): number[] => {
      if (typeof value !== 'object' || value === null) return [];
      const own = 'id' in value && typeof value.id === 'number' ? [value.id] : [];
      return [...own, ...Object.values(value).flatMap(collect)];
    };
    const all = [...collect(first), ...collect(second)];
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('items', () => {
  test('doc comments and decorators stay with their item', () => {
    const item = parseItem('/// One.\n/// Two.\n@retry(max: 3)\n@log\npub fn f() {}', 'FunctionItem');
    expect(item).toMatchObject({ doc: 'One.\nTwo.', isPublic: true });
    expect(item.decorators.map(({ name }) => name.text)).toEqual(['retry', 'log']);
  });

  test('a tool has configuration, state and methods', () => {
    const item = parseItem(
      'tool T { description: "d", limit: MAX, n: Int = 0, m: Map<String, Int>, fn f(self) {} }',
      'ToolItem',
    );
    expect(item.fields.map(({ name }) => name.text)).toEqual(['description', 'limit']);
    expect(item.state.map(({ name }) => name.text)).toEqual(['n', 'm']);
    expect(item.methods).toHaveLength(1);
  });

  test('both forms of a stage', () => {
    const item = parseItem(
      'pipeline P(a: Int) -> Int { stage b = a + 1; stage c(x: Int) -> Int { x } }',
      'PipelineItem',
    );
    expect(item.stages.map(({ kind }) => kind)).toEqual(['ValueStage', 'FunctionStage']);
  });

  test('handlers take one type, several, or all others', () => {
    const value = expression('listen A.f() { "q" => |q: Q| { q }, "a" | "b" => || nil, _ => |m| m }');
    const messages =
      value.kind === 'ListenExpression' ? value.handlers.map((handler) => handler.messages.map((m) => m.value)) : [];
    expect(messages).toEqual([['q'], ['a', 'b'], []]);
  });

  test('a `>=` after type arguments is two tokens, and comments stay where they are', () => {
    expect(parse('let x: Array<Int>= []; // "a"\nlet y = "b"; /// d\nfn f() {}').problems).toEqual([]);
  });
});

describe('old spellings', () => {
  function fixed(text: string): string {
    const { diagnostics } = parse(text);
    expect(diagnostics.every(({ severity, code }) => severity === 'warning' && code === 'C0310')).toBe(true);
    const edits = diagnostics
      .flatMap((diagnostic) => diagnostic.fix?.edits ?? [])
      .toSorted((a, b) => b.span.start - a.span.start);
    return edits.reduce(
      (result, { span, text: insert }) => result.slice(0, span.start) + insert + result.slice(span.end),
      text,
    );
  }

  test.each([
    ['host A { connector: "a" }', 'agent A { connector: "a" }', 'AgentItem'],
    ['agent A { provider: openai, model: "m" }', 'model A { provider: openai, base: "m" }', 'ModelItem'],
    ['model A { provider: openai, model: "m" }', 'model A { provider: openai, base: "m" }', 'ModelItem'],
    [
      'db d: Database<String, Int> = Database::new();',
      'hashmap d: HashMap<String, Int> = HashMap::new();',
      'StoreItem',
    ],
    ['test "adds up" { f(); }', '@test("adds up")\nfn test_adds_up_0() { f(); }', 'FunctionItem'],
  ])('%s', (text, expected, kind) => {
    expect(parse(text).items[0]?.kind).toBe(kind);
    expect(fixed(text)).toBe(expected);
    expect(parse(expected).problems).toEqual([]);
  });

  test('a connection moves to the manifest', () => {
    const [diagnostic] = parse('connect c { provider: "openai", api_key: env("K") }').diagnostics;
    expect(diagnostic?.fix?.manifestLines).toEqual(['', '[connections.c]', 'provider = "openai"', 'api_key_env = "K"']);
  });

  test('the words are names anywhere else', () => {
    expect(parse('let host = 1; let db = host; test(connect, db);').problems).toEqual([]);
  });

  test.each([
    ['agent A { connector: "a", base: "m" }', 'C0222 1'],
    ['agent A { timeout: 3 }', 'C0223 1'],
    ['model A { base: "a", model: "b" }', 'C0220 1'],
  ])('%s is an error', (text, problem) => {
    expect(parse(text).problems).toEqual([problem]);
  });
});

describe('errors', () => {
  test.each([
    ['fn main() {\n  let x = 1\n  emit("x", x);\n}', ['C0104 2']],
    ['fn a() { 1 # 2 }\nfn b() {}', ['C0001 1']],
    ['fn a( { }\nfn b() {}', ['C0100 1']],
    ['let x = ;\nlet y = 2;', ['C0101 1']],
    ['let x = (1, 2;\nlet y = [3;\nlet z = 4;', ['C0100 1', 'C0100 2']],
    ['fn a() {\n  f(1;\n  g();\n}\n', ['C0100 2']],
    ['match x { 1 = 2, 3 => 4 }', ['C0100 1']],
    ['fn a() {\n  if x {\n  f();\n}\nfn b() {}', ['C0100 1']],
    ['}\nfn a() {}', ['C0100 1']],
    ['pub 3;', ['C0101 1']],
    ['let x: Int? = 1;', ['C0100 1']],
    ['const A = 1;', ['C0100 1']],
    ['x.;', ['C0103 1']],
    ['match x { -"a" => 1 }', ['C0106 1']],
    ['let fn = 1;', ['C0101 1']],
    ['struct S { a Int, b: Int }', ['C0100 1']],
    ['model M { provider openai, base: "x" }', ['C0100 1']],
    ['if { }', ['C0101 1']],
  ])('%j', (text, expected) => {
    expect(parse(text).problems).toEqual(expected);
  });

  test.each([
    ['function f() {}', '`fn`'],
    ['var x = 1;', '`let`'],
    ['import a::b;', '`use name'],
    ['let v = new Foo();', '::new()'],
    ['let t = a ? 1 : 2;', '`if'],
    ['x++;', '`+= 1`'],
    ['let f = fn(a: Int) -> Int { a };', '`|a, b| …`'],
  ])('%s says how it is written here', (text, hint) => {
    const { diagnostics } = parse(text);
    expect(diagnostics).toHaveLength(1);
    expect(diagnostics[0]?.help).toContain(hint);
  });

  test('a mark of another language is taken for ours, with a fix', () => {
    const { items, diagnostics } = parse('model M { provider = a }\nmatch x { 1 -> 2, _ => 3 }');
    expect(items.map(({ kind }) => kind)).toEqual(['ModelItem', 'StatementItem']);
    expect(diagnostics.map(({ fix }) => fix?.edits[0]?.text)).toEqual([':', '=>']);
  });

  test('fields of a pattern are separated by commas', () => {
    const { diagnostics } = parse('fn f(p: P) -> Int { match p { P { x y } => x } }');
    expect(diagnostics.map(({ message }) => message)).toEqual(['expected `,` or `}`, found `y`']);
  });

  test('one broken function leaves the others whole', () => {
    const { items } = parse('fn a() { let = ; }\nfn b() -> Int { 2 }\nfn c() { ) }\nfn d() {}');
    expect(items.map((item) => (item.kind === 'FunctionItem' ? item.name.text : item.kind))).toEqual([
      'a',
      'b',
      'c',
      'd',
    ]);
  });
});
