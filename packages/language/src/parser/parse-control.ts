import type { TokenKind } from '../lexer/token.ts';
import type { Block, CatchClause, Expression, IfExpression, MatchArm } from '../syntax/expression.ts';
import type { Name } from '../syntax/node.ts';
import type { Pattern } from '../syntax/pattern.ts';
import { parseForeignBinding, passFinally, startsForeignBinding } from './foreign-catch.ts';
import { passForeignFor, replaceElif, startsForeignFor } from './foreign-phrases.ts';
import { eatInstead } from './foreign-words.ts';
import { closeBraces, endsBraces, opensBraces } from './item-start.ts';
import { parseIfLet, parseWhileLet } from './parse-if-let.ts';
import { looksLikeMap } from './parse-map-and-struct.ts';
import { isBindableName, parseName, takeLabel, takeName } from './parse-name.ts';
import { parsePattern } from './parse-pattern.ts';
import { parsePostfix } from './parse-postfix.ts';
import { parseNamedType } from './parse-type.ts';
import { errorExpression, type Parser } from './parser.ts';

/** `if`, `match`, a loop or `try`: what ends with its own brace. Blocks and `listen` are looked at elsewhere. */
export function startsBlockLike(p: Parser): boolean {
  switch (p.kind) {
    case 'if':
    case 'match':
    case 'for':
    case 'while':
    case 'loop':
    case 'try':
    case 'Label':
      return true;
    case 'Identifier':
      return p.peek(1) === 'for' && p.text === 'parallel';
    default:
      return false;
  }
}

export function parseBlockLike(p: Parser): Expression {
  switch (p.kind) {
    case 'if':
      return parseIf(p);
    case 'match':
      return parseMatch(p);
    case 'try':
      return parseTry(p);
    default:
      return parseLoop(p);
  }
}

/** Not recursive in `else if`, of which there may be hundreds. */
function parseIf(p: Parser): Expression {
  const branches: { start: number; condition: Expression; then: Block }[] = [];
  let otherwise: Block | IfExpression | undefined;
  do {
    const { start } = p;
    p.bump();
    if (p.at('let')) {
      const match = parseIfLet(p, start, parseElse);
      if (branches.length === 0) return match;
      otherwise = { kind: 'Block', id: p.newId(), span: match.span, statements: [], tail: match };
      break;
    }
    const condition = p.headExpression();
    // oxlint-disable-next-line unicorn/no-thenable -- the branch of an `if`; no node is ever awaited
    branches.push({ start, condition, then: p.block() });
    if (!replaceElif(p) && !p.eat('else')) break;
    p.links++;
    if (!p.at('if')) {
      otherwise = p.block();
      break;
    }
  } while (p.at('if'));
  const { end } = p.spanFrom(0);
  let result: IfExpression | undefined;
  for (const { start, condition, then } of branches.reverse()) {
    // oxlint-disable-next-line unicorn/no-thenable -- as above
    result = { kind: 'IfExpression', id: p.newId(), span: { start, end }, condition, then, otherwise };
    otherwise = result;
  }
  return result ?? p.block();
}

/** What stands behind `else`. */
function parseElse(p: Parser): Expression {
  return p.at('if') ? p.nested(parseIf, errorExpression) : p.block();
}

function parseMatch(p: Parser): Expression {
  const { start } = p;
  p.bump();
  const scrutinee = p.headExpression();
  const arms: MatchArm[] = [];
  const open = p.start;
  if (opensBraces(p, 'after the value to match')) {
    while (!endsBraces(p)) {
      const before = p.position;
      arms.push(parseArm(p));
      if (p.position === before) p.bump();
    }
    closeBraces(p, open);
  }
  return { kind: 'MatchExpression', id: p.newId(), span: p.spanFrom(start), scrutinee, arms };
}

function parseArm(p: Parser): MatchArm {
  const { start } = p;
  const pattern = parsePattern(p);
  const guard = p.eat('if') ? p.within({ inHead: true, inArm: false }, () => p.expression()) : undefined;
  const body = parseArrow(p) ? p.within({ inHead: false, inArm: true }, () => parseArmBody(p)) : errorExpression(p);
  const arm: MatchArm = { kind: 'MatchArm', id: p.newId(), span: p.spanFrom(start), pattern, guard, body };
  if (!p.eat(',') && !p.at('}')) recoverAfterArm(p, body);
  return arm;
}

function parseArrow(p: Parser): boolean {
  if (p.eat('=>') || eatInstead(p, '->', '=>', 'after the pattern')) return true;
  p.expect('=>', 'after the pattern');
  p.skipBalanced((kind) => kind === '=>' || kind === ',' || kind === ';');
  return p.eat('=>');
}

/** A block ends its arm, so that the next pattern is not taken for its continuation. */
function parseArmBody(p: Parser): Expression {
  if (!p.at('{') || p.peek(1) === '}' || looksLikeMap(p)) return p.expression();
  return parsePostfix(p, p.block());
}

/** What can only begin the next arm: the comma before it is optional. */
const PATTERN_STARTS: ReadonlySet<TokenKind> = new Set([
  'Identifier',
  'Int',
  'Float',
  'String',
  'true',
  'false',
  'nil',
]);

function recoverAfterArm(p: Parser, body: Expression): void {
  const endsWithBrace = p.tokens.kinds[p.position - 1] === '}' && body.kind !== 'ErrorExpression';
  if (endsWithBrace || (p.newlineBefore() && !p.at(';')) || PATTERN_STARTS.has(p.kind)) return;
  p.unexpected('expected `,` or `}` after the arm', true);
  p.skipBalanced((kind) => kind === ',' || kind === ';');
  if (!p.eat(',')) p.eat(';');
}

function parseLoop(p: Parser): Expression {
  const { start } = p;
  const label = p.at('Label') ? takeLabel(p) : undefined;
  if (label !== undefined) p.expect(':', 'after the label');
  const parallel = p.atWord('parallel');
  if (parallel) p.bump();
  switch (p.kind) {
    case 'for':
      return parseFor(p, { start, label, parallel });
    case 'while': {
      p.bump();
      if (p.at('let')) return parseWhileLet(p, start, label);
      const condition = p.headExpression();
      const body = p.block();
      return { kind: 'WhileExpression', id: p.newId(), span: p.spanFrom(start), label, condition, body };
    }
    case 'loop': {
      p.bump();
      const body = p.block();
      return { kind: 'LoopExpression', id: p.newId(), span: p.spanFrom(start), label, body };
    }
    default:
      p.unexpected('expected `for`, `while` or `loop` after the label');
      return { kind: 'ErrorExpression', id: p.newId(), span: p.spanFrom(start) };
  }
}

function parseFor(p: Parser, head: { start: number; label: Name | undefined; parallel: boolean }): Expression {
  const { start, label, parallel } = head;
  p.bump();
  const { pattern, iterable } = startsForeignFor(p) ? parseForeignForHead(p) : parseForHead(p);
  const body = p.block();
  return { kind: 'ForExpression', id: p.newId(), span: p.spanFrom(start), label, parallel, pattern, iterable, body };
}

function parseForHead(p: Parser): { pattern: Pattern; iterable: Expression } {
  const pattern = parsePattern(p);
  if (!eatInstead(p, 'of', 'in', 'after the loop variable')) p.expect('in', 'after the loop variable');
  return { pattern, iterable: p.headExpression() };
}

/** Its variable is known in the body all the same. */
function parseForeignForHead(p: Parser): { pattern: Pattern; iterable: Expression } {
  const { variable, iterable: walked } = passForeignFor(p);
  const end = p.position;
  p.position = variable;
  const pattern = parsePattern(p);
  p.position = walked ?? end;
  const iterable = walked === undefined ? errorExpression(p) : p.headExpression();
  p.position = end;
  return { pattern, iterable };
}

function parseTry(p: Parser): Expression {
  const { start } = p;
  p.bump();
  const body = p.block();
  const catches: CatchClause[] = [];
  while (p.at('catch')) catches.push(parseCatch(p));
  passFinally(p);
  return { kind: 'TryExpression', id: p.newId(), span: p.spanFrom(start), body, catches };
}

function parseCatch(p: Parser): CatchClause {
  const { start } = p;
  p.bump();
  const isBound = isBindableName(p.kind) && !startsForeignBinding(p);
  const type = isBound ? parseNamedType(p) : undefined;
  let binding: Name | undefined;
  if (startsForeignBinding(p)) binding = parseForeignBinding(p, takeName);
  else if (p.eat('(')) {
    binding = p.atName() ? takeName(p) : parseName(p, 'a name for the error');
    p.expect(')', 'after the name of the error');
  }
  const body = p.block();
  return { kind: 'CatchClause', id: p.newId(), span: p.spanFrom(start), type, binding, body };
}
