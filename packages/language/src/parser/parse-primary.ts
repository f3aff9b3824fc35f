import type { Expression, TemplatePart } from '../syntax/expression.ts';
import type { Name } from '../syntax/node.ts';
import { canStartExpression } from './expression-start.ts';
import { parseNew, parseSpreadMap, parseTypeofWord, startsNew, startsTypeofWord } from './foreign-phrases.ts';
import { parseClosure } from './parse-closure.ts';
import { parseBlockLike, startsBlockLike } from './parse-control.ts';
import { parseParameters } from './parse-function.ts';
import { parseListen } from './parse-listen.ts';
import { parseLiteral } from './parse-literal.ts';
import { looksLikeMap, looksLikeStruct, parseMap, parseStructRest } from './parse-map-and-struct.ts';
import { parseList, parsePathRest, SOFT_KEYWORDS, takeLabel, takeName } from './parse-name.ts';
import { parseType, parseTypeArguments, typeArgumentsEnd } from './parse-type.ts';
import { errorExpression, type Parser } from './parser.ts';

export function parsePrimary(p: Parser): Expression {
  switch (p.kind) {
    case 'Int':
    case 'Float':
    case 'String':
    case 'true':
    case 'false':
    case 'nil':
      return parseLiteral(p);
    case 'InterpolationStart':
      return parseInterpolated(p);
    case '(':
      return parseParenthesised(p);
    case '[':
      return parseArray(p);
    case '{':
      return parseBraces(p);
    case '|':
    case '||':
      return parseClosure(p);
    case 'return':
    case 'throw':
    case 'break':
    case 'continue':
      return parseJump(p);
    case 'listen':
      return parseListen(p);
    case 'fn':
      return p.peek(1) === '(' ? parseForeignClosure(p) : reportMissing(p);
    case 'Identifier':
    case 'self':
    case 'emit':
      if (startsBlockLike(p)) return parseBlockLike(p);
      if (startsForeignFunction(p)) return parseForeignClosure(p);
      if (startsTypeofWord(p)) return p.nested(parseTypeof, errorExpression);
      if (startsNew(p)) return parseNew(p, parseNameOrPath);
      return p.atWord('race') && p.peek(1) === '(' ? parseRace(p) : parseNameOrPath(p);
    default:
      if (startsBlockLike(p)) return parseBlockLike(p);
      if (SOFT_KEYWORDS.has(p.kind)) return parseNameOrPath(p);
      return reportMissing(p);
  }
}

/** `{}` is an empty map here: where it is a block the caller has seen it first. */
function parseBraces(p: Parser): Expression {
  if (looksLikeMap(p)) return parseMap(p);
  if (p.peek(1) === '..' && p.peek(2) === '.') return parseSpreadMap(p);
  if (p.inHead && !isBlockInHead(p)) return reportMissing(p);
  return p.peek(1) === '}' ? parseMap(p) : p.block();
}

/** `while { n += 1; n < 3 } { … }`: the body follows. Where none does, the block is the body and the condition is missing. */
function isBlockInHead(p: Parser): boolean {
  const after = p.closingAfter(p.position);
  return after !== undefined && p.tokens.kinds[after] === '{';
}

function parseTypeof(p: Parser): Expression {
  return parseTypeofWord(p, parsePrimary);
}

/** `function (a) { … }`. */
function startsForeignFunction(p: Parser): boolean {
  if (!p.atWord('function') || p.peek(1) !== '(') return false;
  return p.tokens.kinds[p.closingAfter(p.position + 1) ?? p.position] === '{';
}

/** `fn(a) { … }`: read to its end, so that it is one error. */
function parseForeignClosure(p: Parser): Expression {
  const { start } = p;
  p.syntaxError('C0101', p.tokenSpan, 'a function without a name is a closure', { help: 'write `|a, b| …`' });
  p.bump();
  parseParameters(p);
  if (p.eat('->')) parseType(p);
  if (p.at('{')) p.block();
  return { kind: 'ErrorExpression', id: p.newId(), span: p.spanFrom(start) };
}

function reportMissing(p: Parser): Expression {
  p.unexpected('expected an expression', false, { code: 'C0101' });
  return errorExpression(p);
}

function parseInterpolated(p: Parser): Expression {
  const { start } = p;
  const parts: TemplatePart[] = [];
  addText(p, parts);
  for (;;) {
    parts.push({ kind: 'ExpressionPart', expression: p.freeExpression() });
    if (!p.at('InterpolationMiddle') && !p.at('InterpolationEnd')) skipRestOfInterpolation(p);
    if (p.at('EndOfFile')) break;
    const isLast = p.at('InterpolationEnd');
    addText(p, parts);
    if (isLast) break;
  }
  return { kind: 'InterpolatedString', id: p.newId(), span: p.spanFrom(start), parts };
}

function addText(p: Parser, parts: TemplatePart[]): void {
  const value = p.tokens.texts.get(p.position) ?? '';
  p.bump();
  if (value !== '') parts.push({ kind: 'TextPart', value });
}

function skipRestOfInterpolation(p: Parser): void {
  p.unexpected('expected `}` after the interpolated expression', false, { code: 'C0105' });
  let depth = 0;
  while (!p.at('EndOfFile')) {
    if (depth === 0 && (p.at('InterpolationMiddle') || p.at('InterpolationEnd'))) return;
    if (p.at('InterpolationStart')) depth++;
    else if (p.at('InterpolationEnd')) depth--;
    p.bump();
  }
}

function parseParenthesised(p: Parser): Expression {
  const { start } = p;
  p.bump();
  const elements = p.within({ inHead: false, inArm: false }, () => parseList(p, ')', (parser) => parser.expression()));
  const span = p.spanFrom(start);
  const only = elements[0];
  if (elements.length === 1 && only !== undefined)
    return { kind: 'ParenExpression', id: p.newId(), span, expression: only };
  return { kind: 'TupleExpression', id: p.newId(), span, elements };
}

function parseArray(p: Parser): Expression {
  const { start } = p;
  p.bump();
  const elements = p.within({ inHead: false, inArm: false }, () => parseList(p, ']', (parser) => parser.expression()));
  return { kind: 'ArrayExpression', id: p.newId(), span: p.spanFrom(start), elements };
}

function parseNameOrPath(p: Parser): Expression {
  const { start } = p;
  const first = takeName(p);
  if (p.at('<')) return parseAfterTypeArguments(p, first);
  if (!p.at('::')) {
    if (looksLikeStruct(p)) return parseStructRest(p, { start, path: pathOf(p, first), typeArguments: [] });
    return { kind: 'NameExpression', id: p.newId(), span: first.span, name: first };
  }
  const path = parsePathRest(p, first);
  if (p.at('::')) {
    p.bump();
    p.unexpected('expected a name after `::`', false, { code: 'C0103' });
  }
  if (looksLikeStruct(p)) return parseStructRest(p, { start, path, typeArguments: [] });
  if (path.segments.length === 1) return { kind: 'NameExpression', id: p.newId(), span: first.span, name: first };
  return { kind: 'PathExpression', id: p.newId(), span: p.spanFrom(start), path, typeArguments: [] };
}

/** `Box<Int>::new` and `Box<Int> { … }`; `f<T>(…)` is read as a call, and all else is a comparison. */
function parseAfterTypeArguments(p: Parser, first: Name): Expression {
  const { start } = first.span;
  const name: Expression = { kind: 'NameExpression', id: p.newId(), span: first.span, name: first };
  const end = typeArgumentsEnd(p);
  if (end === undefined) return name;
  const after = p.tokens.kinds[end];
  const isStruct = after === '{' && !p.inHead && /^[A-Z]/.test(first.text);
  if (after !== '::' && !isStruct) return name;
  const typeArguments = parseTypeArguments(p);
  if (isStruct) return parseStructRest(p, { start, path: pathOf(p, first), typeArguments });
  const path = parsePathRest(p, first);
  return { kind: 'PathExpression', id: p.newId(), span: p.spanFrom(start), path, typeArguments };
}

function pathOf(p: Parser, name: Name) {
  return { kind: 'Path', id: p.newId(), span: name.span, segments: [name] } as const;
}

function parseRace(p: Parser): Expression {
  const { start } = p;
  p.bump();
  p.bump();
  const contenders = p.within({ inHead: false, inArm: false }, () =>
    parseList(p, ')', (parser) => parser.expression()),
  );
  return { kind: 'RaceExpression', id: p.newId(), span: p.spanFrom(start), contenders };
}

function parseJump(p: Parser): Expression {
  const { start, kind } = p;
  p.bump();
  if (kind === 'throw') {
    const value = p.expression();
    return { kind: 'ThrowExpression', id: p.newId(), span: p.spanFrom(start), value };
  }
  if (kind === 'return') {
    const value = parseOptionalValue(p);
    return { kind: 'ReturnExpression', id: p.newId(), span: p.spanFrom(start), value };
  }
  const label = p.at('Label') ? takeLabel(p) : undefined;
  if (kind === 'continue') return { kind: 'ContinueExpression', id: p.newId(), span: p.spanFrom(start), label };
  const value = parseOptionalValue(p);
  return { kind: 'BreakExpression', id: p.newId(), span: p.spanFrom(start), label, value };
}

function parseOptionalValue(p: Parser): Expression | undefined {
  if (!canStartExpression(p.kind) || (p.inHead && p.at('{'))) return undefined;
  return p.expression();
}
