import type { TokenKind } from '../lexer/token.ts';
import type { Name, Path } from '../syntax/node.ts';
import type { FieldPattern, LiteralExpression, Pattern } from '../syntax/pattern.ts';
import { parseLiteral } from './parse-literal.ts';
import { isBindableName, parseAnyName, parseList, parseName, parsePathRest, takeName } from './parse-name.ts';
import type { Parser } from './parser.ts';

export function parsePattern(p: Parser): Pattern {
  return p.nested(parseAlternatives, errorPattern);
}

/** Where `|` ends what stands before it. */
export function parsePatternBeforeBar(p: Parser): Pattern {
  return p.nested(parseSinglePattern, errorPattern);
}

function parseAlternatives(p: Parser): Pattern {
  const { start } = p;
  const hasLeadingBar = p.eat('|');
  const first = parseSinglePattern(p);
  if (!p.at('|')) return hasLeadingBar ? { ...first, span: p.spanFrom(start) } : first;
  const alternatives = [first];
  while (p.eat('|')) alternatives.push(parseSinglePattern(p));
  const flat = alternatives.flatMap((pattern) => (pattern.kind === 'OrPattern' ? pattern.alternatives : [pattern]));
  return { kind: 'OrPattern', id: p.newId(), span: p.spanFrom(start), alternatives: flat };
}

function parseSinglePattern(p: Parser): Pattern {
  switch (p.kind) {
    case 'Int':
    case 'Float':
    case 'String':
    case 'true':
    case 'false':
    case 'nil':
    case '-':
      return parseLiteralPattern(p);
    case '..':
    case '..=':
      return parseOpenPattern(p);
    case '(':
      return parseTuplePattern(p);
    case '[':
      return parseArrayPattern(p);
    case 'mut':
      return parseMutableBinding(p);
    case 'InterpolationStart':
      return reportInterpolation(p);
    default:
      if (isBindableName(p.kind) || p.kind === 'self') return parseNamedPattern(p);
      return reportMissing(p);
  }
}

/** A keyword in the place of a name is passed over, so that what follows is understood. */
function reportMissing(p: Parser): Pattern {
  const { start } = p;
  const help = p.at('let') ? { help: 'a loop is written `for i in 0..n { … }`' } : {};
  p.unexpected('expected a pattern', false, { code: 'C0101', ...help });
  if (p.atName() && BEHIND_NAME.has(p.peek(1))) p.bump();
  return { kind: 'ErrorPattern', id: p.newId(), span: p.spanFrom(start) };
}

const BEHIND_NAME: ReadonlySet<TokenKind> = new Set(['=', ':', ',', ')', ']', '=>', 'in', ';']);

function errorPattern(p: Parser): Pattern {
  const { start } = p;
  return { kind: 'ErrorPattern', id: p.newId(), span: { start, end: start } };
}

function reportInterpolation(p: Parser): Pattern {
  const { start } = p;
  p.syntaxError('C0101', p.tokenSpan, 'a pattern cannot be an interpolated string', {
    help: 'bind a name and compare in a guard: `s if s == "…"`',
  });
  p.position = p.closingAfter(p.position) ?? p.position + 1;
  return { kind: 'ErrorPattern', id: p.newId(), span: p.spanFrom(start) };
}

function parsePatternLiteral(p: Parser): LiteralExpression {
  if (!p.at('-')) return parseLiteral(p);
  const { start } = p;
  p.bump();
  if (!p.at('Int') && !p.at('Float')) {
    p.unexpected('expected a number after `-` in a pattern', false, { code: 'C0106' });
    return { kind: 'IntLiteral', id: p.newId(), span: p.spanFrom(start), value: 0 };
  }
  const literal = parseLiteral(p);
  if (literal.kind !== 'IntLiteral' && literal.kind !== 'FloatLiteral') return literal;
  const value = literal.kind === 'IntLiteral' ? 0 - literal.value : -literal.value;
  return { ...literal, span: p.spanFrom(start), value };
}

const LITERAL_START: ReadonlySet<TokenKind> = new Set(['Int', 'Float', 'String', 'true', 'false', 'nil', '-']);

function parseLiteralPattern(p: Parser): Pattern {
  const { start } = p;
  const value = parsePatternLiteral(p);
  if (p.at('..') || p.at('..=')) return parseRangeRest(p, start, value);
  return { kind: 'LiteralPattern', id: p.newId(), span: p.spanFrom(start), value };
}

/** At `..` or `..=`. */
function parseRangeRest(p: Parser, start: number, low: LiteralExpression | undefined): Pattern {
  const inclusive = p.at('..=');
  p.bump();
  const end = LITERAL_START.has(p.kind) ? parsePatternLiteral(p) : undefined;
  if (inclusive && end === undefined) p.unexpected('expected a literal after `..=`');
  return { kind: 'RangePattern', id: p.newId(), span: p.spanFrom(start), start: low, end, inclusive };
}

/** `..rest`, `..` alone, or a range without a lower end. */
function parseOpenPattern(p: Parser): Pattern {
  const { start } = p;
  if (p.at('..=') || LITERAL_START.has(p.peek(1))) return parseRangeRest(p, start, undefined);
  p.bump();
  const name = isBindableName(p.kind) ? takeName(p) : undefined;
  return { kind: 'RestPattern', id: p.newId(), span: p.spanFrom(start), name };
}

/** `..` has a meaning only inside brackets, and once there. */
function parseElements(p: Parser, close: ')' | ']'): Pattern[] {
  const elements = parseList(p, close, parsePattern);
  const rests = elements.filter((element) => element.kind === 'RestPattern');
  const second = rests[1];
  if (second !== undefined) p.report('C0101', second.span, '`..` may stand only once in a pattern');
  return elements;
}

function parseTuplePattern(p: Parser): Pattern {
  const { start } = p;
  p.bump();
  const elements = parseElements(p, ')');
  const only = elements[0];
  const isGroup = elements.length === 1 && only?.kind !== 'RestPattern';
  if (isGroup && only !== undefined) return { ...only, span: p.spanFrom(start) };
  return { kind: 'TuplePattern', id: p.newId(), span: p.spanFrom(start), elements };
}

function parseArrayPattern(p: Parser): Pattern {
  const { start } = p;
  p.bump();
  const elements = parseElements(p, ']');
  return { kind: 'ArrayPattern', id: p.newId(), span: p.spanFrom(start), elements };
}

function parseMutableBinding(p: Parser): Pattern {
  const { start } = p;
  p.bump();
  return bindingPattern(p, start, parseName(p, 'a name after `mut`'));
}

function bindingPattern(p: Parser, start: number, name: Name): Pattern {
  const mutable = name.span.start !== start;
  const pattern = p.eat('@') ? p.nested(parseSinglePattern, errorPattern) : undefined;
  return { kind: 'BindingPattern', id: p.newId(), span: p.spanFrom(start), name, mutable, pattern };
}

function parseNamedPattern(p: Parser): Pattern {
  const { start } = p;
  const first = takeName(p);
  if (first.text === '_' && !p.at('@')) return { kind: 'WildcardPattern', id: p.newId(), span: first.span };
  const isPath = p.at('::');
  if (!isPath && !p.at('(') && !p.at('{') && first.text !== 'None') return bindingPattern(p, start, first);
  const path = parsePathRest(p, first);
  if (p.eat('(')) {
    const elements = parseElements(p, ')');
    return { kind: 'ConstructorPattern', id: p.newId(), span: p.spanFrom(start), path, elements };
  }
  if (p.at('{')) return parseStructPattern(p, start, path);
  return { kind: 'PathPattern', id: p.newId(), span: p.spanFrom(start), path };
}

function parseStructPattern(p: Parser, start: number, path: Path): Pattern {
  p.bump();
  const fields: FieldPattern[] = [];
  let rest = false;
  while (!p.at('}') && !p.at('EndOfFile')) {
    const before = p.position;
    if (p.eat('..')) rest = true;
    else if (p.atName()) fields.push(parseFieldPattern(p));
    else {
      p.unexpected('expected a field name, `..` or `}`');
      p.skipBalanced((kind) => kind === ',' || kind === '=>');
      if (p.at('=>')) break;
    }
    if (p.eat(',')) continue;
    if (p.at('}')) break;
    p.unexpected('expected `,` or `}`', true);
    if (p.position === before) break;
  }
  p.expect('}', 'after the fields of the pattern');
  return { kind: 'StructPattern', id: p.newId(), span: p.spanFrom(start), path, fields, rest };
}

function parseFieldPattern(p: Parser): FieldPattern {
  const { start } = p;
  const name = parseAnyName(p, 'a field name');
  if (p.eat(':')) {
    const pattern = parsePattern(p);
    return { kind: 'FieldPattern', id: p.newId(), span: p.spanFrom(start), name, pattern, shorthand: false };
  }
  const own: Name = { ...name, id: p.newId() };
  const pattern: Pattern = {
    kind: 'BindingPattern',
    id: p.newId(),
    span: name.span,
    name: own,
    mutable: false,
    pattern: undefined,
  };
  return { kind: 'FieldPattern', id: p.newId(), span: name.span, name, pattern, shorthand: true };
}
