import type { TokenKind } from '../lexer/token.ts';
import type { Expression } from '../syntax/expression.ts';
import { canStartExpression } from './expression-start.ts';
import { errorExpression, type Parser } from './parser.ts';

/** Whole phrases of other languages: each is one error that says how it is written here, and is read to its end. */

const DECLARATIONS: ReadonlyMap<string, { readonly word: 'fn' | 'let' | 'pub' | 'struct'; readonly help: string }> =
  new Map([
    ['function', { word: 'fn', help: 'a function is declared with `fn`' }],
    ['func', { word: 'fn', help: 'a function is declared with `fn`' }],
    ['fun', { word: 'fn', help: 'a function is declared with `fn`' }],
    ['def', { word: 'fn', help: 'a function is declared with `fn`' }],
    ['var', { word: 'let', help: 'a variable is declared with `let`, or `let mut` when it changes' }],
    ['val', { word: 'let', help: 'a variable is declared with `let`' }],
    ['export', { word: 'pub', help: 'what other modules may use is `pub`' }],
    ['public', { word: 'pub', help: 'what other modules may use is `pub`' }],
    ['interface', { word: 'struct', help: 'write `trait` for methods, `struct` or `schema` for data' }],
  ]);

const BEHIND_DECLARED: Readonly<Record<'fn' | 'let' | 'struct', ReadonlySet<TokenKind>>> = {
  fn: new Set<TokenKind>(['(', '<']),
  let: new Set<TokenKind>(['=', ':', ';']),
  struct: new Set<TokenKind>(['{', '<']),
};

const BEHIND_PUB: ReadonlySet<TokenKind> = new Set([
  'fn',
  'async',
  'const',
  'struct',
  'enum',
  'trait',
  'schema',
  'type',
]);

/** `function f(…)`, `var x = …`, `export fn …`: reports the word and puts the right one into its place. */
export function replaceForeignWords(p: Parser): void {
  while (p.at('Identifier')) {
    const found = DECLARATIONS.get(p.text);
    if (found === undefined || p.newlineBefore(p.position + 1) || !isDeclaring(p, found.word)) return;
    const span = p.tokenSpan;
    p.syntaxError('C0101', span, `there is no \`${p.text}\``, {
      help: found.help,
      fix: { title: `write \`${found.word}\``, edits: [{ span, text: found.word }] },
    });
    p.retag(found.word);
    if (found.word !== 'pub') return;
    p.bump();
    replaceForeignWords(p);
    p.position--;
  }
}

function isDeclaring(p: Parser, word: 'fn' | 'let' | 'pub' | 'struct'): boolean {
  if (word === 'pub') {
    const next = p.peek(1) === 'Identifier' ? DECLARATIONS.get(p.textAt(p.position + 1)) : undefined;
    return BEHIND_PUB.has(p.peek(1)) || (next !== undefined && next.word !== 'pub');
  }
  return p.peek(1) === 'Identifier' && BEHIND_DECLARED[word].has(p.peek(2));
}

const IMPORTED: ReadonlySet<TokenKind> = new Set(['Identifier', '{', '*', 'String']);

/** A statement that has no counterpart; undefined elsewhere. */
export function parseForeignStatement(p: Parser): Expression | undefined {
  if (!p.at('Identifier') || p.newlineBefore(p.position + 1)) return undefined;
  const { start, text } = p;
  if (text === 'import' || (text === 'from' && p.textAt(p.position + 2) === 'import')) {
    if (!IMPORTED.has(p.peek(1))) return undefined;
    report(
      p,
      'names are brought in with `use`',
      'write `mod name;` for a file beside this one, and `use name::{a, b};` for names of it',
    );
    skipLine(p);
  } else if (text === 'class' && p.peek(1) === 'Identifier') {
    report(p, 'there is no `class`', 'data is declared with `struct`, and its methods with `impl`');
    p.skipBalanced((kind) => kind === '{' || kind === ';');
    skipBlock(p);
  } else if (text === 'switch' && (p.peek(1) === '(' || p.peek(2) === '{')) {
    report(p, 'there is no `switch`', 'write `match value { 1 => …, _ => … }`');
    p.bump();
    p.headExpression();
    skipBlock(p);
  } else return undefined;
  return { ...errorExpression(p), span: p.spanFrom(start) };
}

function report(p: Parser, message: string, help: string): void {
  p.syntaxError('C0101', p.tokenSpan, message, { help });
}

function skipLine(p: Parser): void {
  do {
    p.position = p.closingAfter(p.position) ?? p.position + 1;
  } while (!p.at('EndOfFile') && !p.at(';') && !p.newlineBefore());
}

function skipBlock(p: Parser): void {
  if (p.at('{')) p.position = p.closingAfter(p.position) ?? p.position + 1;
}

const MACROS: ReadonlyMap<string, string> = new Map([
  ['vec', 'a list is written `[a, b]`'],
  ['format', 'values stand in a text: `"${a} and ${b}"`'],
  ['println', 'write `println(a, b)`; values stand in a text: `"${a} and ${b}"`'],
  ['print', 'write `print(a, b)`; values stand in a text: `"${a} and ${b}"`'],
]);

/** `vec![1, 2]`, `println!("{}", x)`, and `x!` of TypeScript. */
export function startsMacroOrForce(p: Parser, left: Expression): boolean {
  if (!p.at('!') || p.start !== p.previousEnd || p.tokens.starts[p.position + 1] !== p.tokenSpan.end) return false;
  if (p.peek(1) === '.') return true;
  return left.kind === 'NameExpression' && (p.peek(1) === '(' || p.peek(1) === '[');
}

export function parseMacroOrForce(p: Parser, left: Expression): Expression {
  if (p.peek(1) === '.') {
    report(
      p,
      '`!` means "not" and stands before its value',
      'take the value out with `?? default`, `?` or `.unwrap()`',
    );
    p.bump();
    return left;
  }
  const name = left.kind === 'NameExpression' ? left.name.text : '';
  const span = { start: left.span.start, end: p.tokenSpan.end };
  p.syntaxError('C0101', span, 'there are no macros', {
    help: MACROS.get(name) ?? `write \`${name}(…)\``,
  });
  p.position = p.closingAfter(p.position + 1) ?? p.position + 1;
  return { kind: 'ErrorExpression', id: p.newId(), span: p.spanFrom(left.span.start) };
}

const BEHIND_TYPEOF: ReadonlySet<TokenKind> = new Set(['Identifier', 'self', 'String', 'Int', 'Float', 'true', 'nil']);

/** `typeof x`, which is a function here. */
export function startsTypeofWord(p: Parser): boolean {
  return p.atWord('typeof') && BEHIND_TYPEOF.has(p.peek(1)) && !p.newlineBefore(p.position + 1);
}

export function parseTypeofWord(p: Parser, parseOperand: (p: Parser) => Expression): Expression {
  const { start } = p;
  report(p, '`typeof` is a function', 'write `typeof(x)`');
  p.bump();
  parseOperand(p);
  return { kind: 'ErrorExpression', id: p.newId(), span: p.spanFrom(start) };
}

/** `new Point(1, 2)`. */
export function startsNew(p: Parser): boolean {
  return p.atWord('new') && p.peek(1) === 'Identifier' && !p.newlineBefore(p.position + 1);
}

export function parseNew(p: Parser, parseName: (p: Parser) => Expression): Expression {
  const { start } = p;
  report(p, 'there is no `new`', 'write `Name { field: value }`, or `Name::new()` where there is such a function');
  p.bump();
  parseName(p);
  if (p.at('(')) p.position = p.closingAfter(p.position) ?? p.position + 1;
  return { kind: 'ErrorExpression', id: p.newId(), span: p.spanFrom(start) };
}

/** At the `?` of `condition ? a : b`: a `:` follows before anything that would end the expression. */
export function startsChoice(p: Parser): boolean {
  if (!p.at('?') || !canStartExpression(p.peek(1)) || p.peek(1) === '..' || p.newlineBefore(p.position + 1))
    return false;
  let at = p.position + 1;
  // Each `?` looks ahead: without a limit a long row of them would take the square of the time.
  for (let seen = 0; seen < MAX_CHOICE_TOKENS; seen++) {
    const kind = p.tokens.kinds[at] ?? 'EndOfFile';
    if (kind === ':') return true;
    if (ENDS_CHOICE.has(kind) || p.newlineBefore(at)) return false;
    at = p.closingAfter(at) ?? at + 1;
  }
  return false;
}

const MAX_CHOICE_TOKENS = 100;
const ENDS_CHOICE: ReadonlySet<TokenKind> = new Set([
  ';',
  ',',
  ')',
  ']',
  '}',
  '=>',
  '=',
  'InterpolationEnd',
  'EndOfFile',
]);

/** Read as the `if` that is meant. */
export function parseChoice(p: Parser, condition: Expression): Expression {
  const { start } = condition.span;
  const question = p.position;
  p.bump();
  const first = p.expression();
  p.expect(':', 'in the choice');
  const second = p.expression();
  const written = ({ span }: Expression): string => p.file.text.slice(span.start, span.end);
  const text = `if ${written(condition)} { ${written(first)} } else { ${written(second)} }`;
  const span = { start: p.tokens.starts[question] ?? 0, end: p.tokens.ends[question] ?? 0 };
  p.report('C0101', span, 'there is no `? :`', {
    help: 'for a choice write `if condition { a } else { b }`',
    fix: { title: 'write it with `if`', edits: [{ span: p.spanFrom(start), text }] },
  });
  const block = (tail: Expression) =>
    ({ kind: 'Block', id: p.newId(), span: tail.span, statements: [], tail }) as const;
  const then = block(first);
  // oxlint-disable-next-line unicorn/no-thenable -- the branch of an `if`; no node is ever awaited
  return { kind: 'IfExpression', id: p.newId(), span: p.spanFrom(start), condition, then, otherwise: block(second) };
}

/** At `x++` or `x--`, which has nothing behind it. */
export function startsIncrement(p: Parser): boolean {
  if (!p.at('+') && !p.at('-')) return false;
  const isTwice = p.peek(1) === p.kind && p.tokens.starts[p.position + 1] === p.tokenSpan.end;
  return isTwice && !canStartExpression(p.peek(2));
}

export function passIncrement(p: Parser): void {
  const sign = p.text;
  p.syntaxError('C0101', { start: p.start, end: p.start + 2 }, `there is no \`${sign}${sign}\``, {
    help: `write \`${sign}= 1\``,
  });
  p.bump();
  p.bump();
}

/** `x in xs`, `x is Int`, `a << 2`: what stands behind a value and is no operator here; undefined elsewhere. */
export function foreignOperator(p: Parser): { readonly tokens: number; readonly help: string } | undefined {
  if (p.at('in')) return { tokens: 1, help: 'ask the list or map: `xs.contains(x)`, `m.has(key)`' };
  if (p.at('<') || p.at('>')) {
    const isShift = p.peek(1) === p.kind && p.tokens.starts[p.position + 1] === p.tokenSpan.end;
    return isShift ? { tokens: 2, help: 'numbers have no operators for their bits' } : undefined;
  }
  const isWord = p.at('Identifier') && (p.text === 'is' || p.text === 'instanceof') && !p.newlineBefore();
  if (!isWord || p.peek(1) !== 'Identifier') return undefined;
  return { tokens: 1, help: 'ask with `typeof(x) == "Int"`, or `match` on the value' };
}

export function parseForeignOperator(
  p: Parser,
  left: Expression,
  { tokens, help }: { readonly tokens: number; readonly help: string },
  parseOperand: (p: Parser) => Expression,
): Expression {
  const end = p.tokens.ends[p.position + tokens - 1] ?? 0;
  const span = { start: p.start, end };
  p.syntaxError('C0101', span, `there is no \`${p.file.text.slice(span.start, span.end)}\` between values`, { help });
  p.position += tokens;
  parseOperand(p);
  return { kind: 'ErrorExpression', id: p.newId(), span: p.spanFrom(left.span.start) };
}

/** At `...`, which is read as `..` and `.`. */
export function startsSpread(p: Parser): boolean {
  return p.at('..') && p.peek(1) === '.' && p.tokens.starts[p.position + 1] === p.tokenSpan.end;
}

export function parseSpread(p: Parser): Expression {
  const { start } = p;
  p.syntaxError('C0101', { start, end: start + 3 }, 'there is no `...`', {
    help: 'lists are joined with `a + b`, maps with `a.merge(b)`; a struct takes the rest from another: `Name { x: 1, ..other }`',
  });
  p.bump();
  p.bump();
  p.expression();
  return { kind: 'ErrorExpression', id: p.newId(), span: p.spanFrom(start) };
}

/** `{...a, b: 1}`. */
export function parseSpreadMap(p: Parser): Expression {
  const { start } = p;
  const end = p.closingAfter(p.position);
  p.bump();
  parseSpread(p);
  p.position = end ?? p.position;
  return { kind: 'ErrorExpression', id: p.newId(), span: p.spanFrom(start) };
}

/** `+x`, `++x` and `*x`. */
export function startsForeignPrefix(p: Parser): boolean {
  return p.at('+') || p.at('*');
}

export function parseForeignPrefix(p: Parser, parseOperand: (p: Parser) => Expression): Expression {
  const { start } = p;
  const isIncrement = p.at('+') && p.peek(1) === '+' && p.tokens.starts[p.position + 1] === p.tokenSpan.end;
  if (isIncrement) {
    p.syntaxError('C0101', { start, end: start + 2 }, 'there is no `++`', { help: 'write `x += 1`' });
    p.bump();
  } else if (!canStartExpression(p.peek(1))) {
    p.unexpected('expected an expression', false, { code: 'C0101' });
    return errorExpression(p);
  } else if (p.at('+')) report(p, 'there is no `+` before a value', 'leave it out');
  else report(p, 'there are no references', 'leave `*` out: a variable is its value');
  p.bump();
  return parseOperand(p);
}

/** `elif x { … }` behind an `if`: it is left as the `if` of an `else if`. */
export function replaceElif(p: Parser): boolean {
  if (!p.at('Identifier') || !['elif', 'elsif', 'elseif'].includes(p.text)) return false;
  const span = p.tokenSpan;
  p.syntaxError('C0101', span, `there is no \`${p.text}\``, {
    help: 'write `else if`',
    fix: { title: 'write `else if`', edits: [{ span, text: 'else if' }] },
  });
  p.retag('if');
  return true;
}

/** `for (const x of xs)`, `for (let i = 0; …)`, `for (x in xs)`. */
export function startsForeignFor(p: Parser): boolean {
  if (!p.at('(')) return false;
  if (p.peek(1) === 'let' || p.peek(1) === 'const') return true;
  if (p.peek(1) !== 'Identifier') return false;
  const words = ['of', 'var'];
  return p.peek(2) === 'in' || words.includes(p.textAt(p.position + 2)) || words.includes(p.textAt(p.position + 1));
}

/** Reports it, and gives the place of the variable and of what is walked, where it says so; stands behind the `)`. */
export function passForeignFor(p: Parser): { readonly variable: number; readonly iterable: number | undefined } {
  report(p, 'the head of a loop has no parentheses', 'write `for x in xs { … }`, or `for i in 0..n { … }` to count');
  const declares = p.peek(1) === 'let' || p.peek(1) === 'const' || p.textAt(p.position + 1) === 'var';
  const variable = p.position + (declares ? 2 : 1);
  const walks = p.tokens.kinds[variable + 1] === 'in' || p.textAt(variable + 1) === 'of';
  p.position = p.closingAfter(p.position) ?? p.position + 1;
  return { variable, iterable: walks ? variable + 2 : undefined };
}
