import { describe, expect, test } from 'vitest';
import type { Expression } from '../syntax/expression.ts';
import type { FunctionItem } from '../syntax/item.ts';
import { typeOf } from './facts.ts';
import { checkSource } from './testing/check-source.ts';
import { showType } from './types.ts';

/** The tail of `main`, with the facts about it. */
function tailOf(source: string) {
  const { facts, program, diagnostics } = checkSource(source);
  expect(diagnostics.filter((diagnostic) => diagnostic.severity === 'error')).toEqual([]);
  const items = program.files.get('main.conc')?.tree.items ?? [];
  const main = items.find((item): item is FunctionItem => item.kind === 'FunctionItem' && item.name.text === 'main');
  const tail = main?.body?.tail;
  if (tail === undefined || main === undefined) throw new Error('main has no tail');
  return { facts, tail, main };
}

function typeOfTail(source: string): string {
  const { facts, tail } = tailOf(source);
  return showType(typeOf(facts, tail));
}

describe('inferred types', () => {
  test.each([
    ['[1, 2].map(|x| "n${x}")', 'Array<String>'],
    ['[1, 2.5]', 'Array<Float>'],
    ['{"a": 1}', 'Map<String, Int>'],
    ['{"a": 1, "b": "x"}', 'Map<String, Any>'],
    ['[("a", 1)].enumerate()', 'Array<(Int, (String, Int))>'],
    ['Some(3).map(|n| n * 2) ?? 0', 'Int'],
    ['if true { Some(1) } else { None }', 'Option<Int>'],
    ['1 + 0.5', 'Float'],
    ['loop { break "x"; }', 'String'],
    ['try { 1 }', 'Result<Int, Any>'],
    ['[1].reduce("", |acc, x| acc + "${x}")', 'String'],
    ['|x: Int| x > 1', 'fn(Int) -> Bool'],
    ['std::string::parse_int("1")', 'Result<Int, String>'],
    ['"abc"[1..]', 'String'],
  ])('%s is %s', (expression, type) => {
    expect(typeOfTail(`fn main() -> Any { ${expression} }`)).toBe(type);
  });

  test('an empty array gets its type from what is pushed', () => {
    expect(typeOfTail('fn main() -> Any { let mut xs = []; xs.push("a"); xs }')).toBe('Array<String>');
  });
});

describe('conversions', () => {
  test.each([
    ['Float', '3', { kind: 'float' }],
    ['Option<Int>', '3', { kind: 'some', inner: undefined }],
    ['Option<Float>', '3', { kind: 'some', inner: { kind: 'float' } }],
    ['Option<Int>', 'nil', { kind: 'none' }],
    ['Int', '3', undefined],
  ])('into %s', (type, value, coercion) => {
    const { facts, tail } = tailOf(`fn main() -> ${type} { ${value} }`);
    expect(facts.coercions.get(tail.id)).toEqual(coercion);
  });

  test('an array that is Int becomes one of Float', () => {
    const { facts, tail } = tailOf('fn main() -> Array<Float> { let xs = [1, 2]; xs }');
    expect(facts.coercions.get(tail.id)).toEqual({ kind: 'each', of: 'Array', inner: { kind: 'float' } });
  });
});

describe('calls', () => {
  const call = (source: string, expression: (tail: Expression) => Expression = (tail) => tail) => {
    const { facts, tail } = tailOf(source);
    return facts.calls.get(expression(tail).id);
  };

  test('named arguments and defaults come in the order of the parameters', () => {
    const resolved = call(
      'fn f(a: Int, b: Int = 2, c: Int = 3) -> Int { a + b + c }\nfn main() -> Int { f(c: 9, a: 1) }',
    );
    expect(resolved?.arguments.map((source) => (source.kind === 'argument' ? source.index : source.kind))).toEqual([
      1,
      'default',
      0,
    ]);
  });

  test('a pipe is the first argument', () => {
    const resolved = call('fn f(a: Int, b: Int) -> Int { a - b }\nfn main() -> Int { 5 |> f(3) }');
    expect(resolved?.arguments.map((source) => source.kind)).toEqual(['piped', 'argument']);
  });

  test('a method that changes its receiver writes back', () => {
    const resolved = call('fn main() -> Any { let mut xs = [1]; xs.push(2) }');
    expect(resolved).toMatchObject({
      target: { kind: 'builtin-method', receiver: 'Array', method: 'push' },
      writesBack: true,
    });
  });

  test('own methods win over those of traits', () => {
    const source = [
      'trait Tag { fn tag(self) -> String { "trait" } }',
      'struct T { n: Int }',
      'impl Tag for T { }',
      'impl T { fn tag(self) -> String { "own" } }',
      'fn main() -> String { T { n: 1 }.tag() }',
    ].join('\n');
    expect(call(source)?.target).toMatchObject({ kind: 'method', function: { path: 'T::tag' } });
  });

  test('a bounded generic is dispatched when it runs', () => {
    const source =
      'trait A { fn a(self) -> Int; }\nfn main() -> Any { |_x: Int| 1 }\nfn f<T: A>(t: T) -> Int { t.a() }';
    const { facts, program } = checkSource(source);
    const items = program.files.get('main.conc')?.tree.items ?? [];
    const f = items.find((item): item is FunctionItem => item.kind === 'FunctionItem' && item.name.text === 'f');
    expect(facts.calls.get(f?.body?.tail?.id ?? 0)?.target).toEqual({ kind: 'trait-method', trait: 'A', method: 'a' });
  });

  test('nothing known: decided at run time', () => {
    expect(call('fn main() -> Any { let v = std::json::parse("1").unwrap(); v.go(1) }')?.target).toEqual({
      kind: 'dynamic-method',
      method: 'go',
    });
  });

  test('elements of an awaited tuple start together', () => {
    const { facts, tail } = tailOf('async fn one() -> Int { 1 }\nasync fn main() -> Any { await (one(), one()) }');
    if (tail.kind !== 'AwaitExpression' || tail.operand.kind !== 'TupleExpression') throw new Error('not awaited');
    expect(tail.operand.elements.map((element) => facts.spawned.has(element.id))).toEqual([true, true]);
  });
});

describe('variables', () => {
  test('what a closure uses is captured, and what it changes is marked', () => {
    const { facts, tail } = tailOf('fn main() -> Any { let mut n = 0; let k = 2; || { n += k; n } }');
    const captures = facts.functions.get(tail.id)?.captures ?? [];
    expect(captures.map((local) => [local.name, local.captured, local.mutated])).toEqual([
      ['n', true, true],
      ['k', true, false],
    ]);
  });

  test('the alternatives of a pattern share a variable', () => {
    const { facts, tail } = tailOf(
      'enum E { A(Int), B(Int) }\nfn main() -> Int { match E::A(1) { E::A(n) | E::B(n) => n } }',
    );
    if (tail.kind !== 'MatchExpression') throw new Error('not a match');
    const pattern = tail.arms[0]?.pattern;
    if (pattern?.kind !== 'OrPattern') throw new Error('not alternatives');
    const locals = pattern.alternatives.map((one) => {
      const inner = one.kind === 'ConstructorPattern' ? one.elements[0] : undefined;
      return inner === undefined ? undefined : facts.locals.get(inner.id);
    });
    expect(locals[0]).toBeDefined();
    expect(locals[1]).toBe(locals[0]);
  });
});

describe('constants', () => {
  const constantsOf = (source: string) => {
    const { facts } = checkSource(source);
    return facts.declaredConstants.map((ref) => facts.constants.get(ref.item.value.id));
  };

  test('refer to later ones and to templates', () => {
    expect(constantsOf('const A: Int = B * 2;\nconst B: Int = 3;\nconst T: String = "a${A}";')).toEqual([
      { kind: 'int', value: 6 },
      { kind: 'int', value: 3 },
      { kind: 'string', value: 'a6' },
    ]);
  });

  test('structs take their defaults, Ints become Floats', () => {
    const [p, f] = constantsOf('const P1: P = P { x: 1 };\nconst F: Float = 2;\nstruct P { x: Int, y: Int = 4 }');
    expect(p).toEqual({
      kind: 'struct',
      path: 'P',
      fields: [
        ['x', { kind: 'int', value: 1 }],
        ['y', { kind: 'int', value: 4 }],
      ],
    });
    expect(f).toEqual({ kind: 'float', value: 2 });
  });
});
