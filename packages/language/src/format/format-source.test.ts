import { describe, expect, test } from 'vitest';
import { formatSource } from './format-source.ts';

function format(text: string): string {
  const result = formatSource(text);
  if (!result.ok) throw new Error(result.error.map(({ message }) => message).join('\n'));
  const again = formatSource(result.value);
  expect(again).toEqual(result);
  return result.value;
}

describe('layout', () => {
  test('spaces, indentation and commas', () => {
    const text =
      'fn   add( a:Int,b :Int=3, )->Int{a+b}\nfn main( ){\n let xs=[1,2,\n 3];for x in xs{ if x>1{emit( "x",add(x,1) );} else { emit("one",x); }}}';
    expect(format(text)).toBe(`fn add(a: Int, b: Int = 3) -> Int { a + b }

fn main() {
    let xs = [1, 2, 3];
    for x in xs {
        if x > 1 { emit("x", add(x, 1)); } else { emit("one", x); }
    }
}
`);
  });

  test('behind a cast to a scalar `<` compares', () => {
    expect(format('let a=x as Int<n;\nlet b=x as Array<Int>;')).toBe(
      'let a = x as Int < n;\nlet b = x as Array<Int>;\n',
    );
  });

  test('what does not fit is broken at its outermost brackets', () => {
    const names = ['first_argument', 'second_argument', 'third_argument', 'fourth_argument', 'fifth_argument'];
    expect(format(`let value = compute(${names.join(', ')});`)).toBe(
      `let value = compute(\n${names.map((name) => `    ${name},\n`).join('')});\n`,
    );
  });

  test('a closure at the end of a call opens its own lines', () => {
    expect(format('xs.each(|x| {\nlet y = x; emit("y", y); });')).toBe(
      'xs.each(|x| {\n    let y = x;\n    emit("y", y);\n});\n',
    );
  });

  test('long chains and pipes begin their lines with the operator', () => {
    const long = 'a_rather_long_name_for_a_function(with, arguments)';
    expect(format(`let x = start |> ${long} |> ${long};`)).toBe(`let x = start\n    |> ${long}\n    |> ${long};\n`);
    expect(format(`let x = start.${long}.${long};`)).toBe(`let x = start\n    .${long}\n    .${long};\n`);
  });

  test('braces stay on one line where the user had them there', () => {
    expect(format('struct A{x:Int}\nstruct B{\nx:Int}')).toBe('struct A { x: Int }\n\nstruct B {\n    x: Int,\n}\n');
  });

  test('arms and handlers get their commas', () => {
    expect(format('match x { 1=>2\n3=>{ 4 }\n}')).toBe('match x {\n    1 => 2,\n    3 => { 4 },\n}\n');
  });

  test('options of a handler stand before its arrow', () => {
    expect(
      format('listen A.execute("x") { "a"|"b"(parallel:true,)=>|m| { f(m); }\n_ ( parallel : false )=>|m| g(m) };'),
    ).toBe(
      'listen A.execute("x") {\n    "a" | "b" (parallel: true) => |m| { f(m); },\n    _ (parallel: false) => |m| g(m),\n};\n',
    );
  });

  test('empty lines: at most one, none at the edges', () => {
    expect(format('\n\nlet a = 1;\n\n\n\nlet b = 2;\nlet c = 3;\n\n')).toBe('let a = 1;\n\nlet b = 2;\nlet c = 3;\n');
  });

  test('an empty file stays empty, and comments alone stay', () => {
    expect(format('')).toBe('');
    expect(format('  // only\n\n\n/* these */')).toBe('// only\n\n/* these */\n');
  });
});

describe('what is kept', () => {
  test('comments, where they are', () => {
    const text = `// first
fn main() { // after a brace
    /* before */
    let x = 1; // after a statement
    // alone

    f(
        a, // why
        b,
    );
    g(/* none */);
    // last
}
// end
`;
    expect(format(text)).toBe(text);
  });

  test('a comment about what follows, without the blanks at the end of its lines', () => {
    expect(format('/// What it does.  \n///\t\n/// How. \nfn f() {}')).toBe(
      '/// What it does.\n///\n/// How.\nfn f() {}\n',
    );
  });

  test('a field of a number, which is no longer number', () => {
    expect(format('let a = 42 .2; let b = t . 0 . 1;')).toBe('let a = 42 .2;\nlet b = t.0.1;\n');
  });

  test('what stands before a variant', () => {
    const source = 'enum Shape { @a pub Dot, @b(1) Circle(Float), pub Rect { w: Int } }\n';
    const formatted = format(source);
    expect(formatted).toBe(
      'enum Shape {\n    @a\n    pub Dot,\n    @b(1)\n    Circle(Float),\n    pub Rect { w: Int },\n}\n',
    );
    expect(format(formatted)).toBe(formatted);
  });

  test('text of strings', () => {
    const text = 'emit("a  ${ n+1 }", r#"a  "b"#, \'c  d\', """\n   e\n  """);\n';
    expect(format(text)).toBe(text);
  });

  test('parentheses people wrote', () => {
    expect(format('let x = (a && b) || (c);')).toBe('let x = (a && b) || (c);\n');
  });

  test('a semicolon that makes a value a statement', () => {
    expect(format('fn f() { if a { 1 } else { 2 }; }')).toBe('fn f() {\n    if a { 1 } else { 2 };\n}\n');
  });
});

test('refuses text with syntax errors and says where', () => {
  expect(formatSource('fn main( {')).toMatchObject({ ok: false, error: [{ code: 'C0100' }, { code: 'C0100' }] });
});

test('warnings are no reason to refuse', () => {
  expect(format('host A{connector:"a"}')).toBe('host A { connector: "a" }\n');
});
