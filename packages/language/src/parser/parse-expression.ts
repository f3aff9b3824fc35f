import type { TokenKind } from '../lexer/token.ts';
import type { AssignOperator, BinaryOperator, Expression } from '../syntax/expression.ts';
import { canStartExpression } from './expression-start.ts';
import {
  foreignOperator,
  parseChoice,
  parseForeignOperator,
  parseForeignPrefix,
  parseSpread,
  passIncrement,
  startsChoice,
  startsForeignPrefix,
  startsIncrement,
  startsSpread,
} from './foreign-phrases.ts';
import { reportWordOperator, startsNot, wordOperator } from './foreign-words.ts';
import { parsePostfix } from './parse-postfix.ts';
import { parsePrimary } from './parse-primary.ts';
import { parseCastType } from './parse-type.ts';
import { errorExpression, type Parser } from './parser.ts';

/** Loose to tight; assignment is looser than all, unary and postfix operators are tighter. */
const PIPE = 1;
const COALESCE = 2;
const OR = 3;
const AND = 4;
const EQUALITY = 5;
const COMPARISON = 6;
const RANGE = 7;
const ADDITIVE = 8;
const MULTIPLICATIVE = 9;
const CAST = 10;
const UNARY = 11;

const PRECEDENCE: ReadonlyMap<TokenKind, number> = new Map<TokenKind, number>([
  ['|>', PIPE],
  ['??', COALESCE],
  ['||', OR],
  ['&&', AND],
  ['==', EQUALITY],
  ['!=', EQUALITY],
  ['<', COMPARISON],
  ['>', COMPARISON],
  ['<=', COMPARISON],
  ['>=', COMPARISON],
  ['..', RANGE],
  ['..=', RANGE],
  ['+', ADDITIVE],
  ['-', ADDITIVE],
  ['*', MULTIPLICATIVE],
  ['/', MULTIPLICATIVE],
  ['%', MULTIPLICATIVE],
  ['as', CAST],
]);

const BINARY_OPERATORS: ReadonlyMap<TokenKind, BinaryOperator> = new Map(
  (['+', '-', '*', '/', '%', '==', '!=', '<', '>', '<=', '>=', '&&', '||', '??'] as const).map((op) => [op, op]),
);

const ASSIGN_OPERATORS: ReadonlyMap<TokenKind, AssignOperator> = new Map(
  (['=', '+=', '-=', '*=', '/=', '%='] as const).map((op) => [op, op]),
);

export function parseExpression(p: Parser): Expression {
  const { start } = p;
  const left = parseOperators(p, PIPE);
  return parseAssignmentRest(p, start, startsChoice(p) ? parseChoice(p, left) : left);
}

/** Goes on after an expression that is already read, such as `match x { … }.len()` at the start of a statement. */
export function parseExpressionRest(p: Parser, left: Expression): Expression {
  const { start } = left.span;
  return parseAssignmentRest(p, start, parseOperatorsRest(p, PIPE, left));
}

function parseAssignmentRest(p: Parser, start: number, target: Expression): Expression {
  const operator = ASSIGN_OPERATORS.get(p.kind);
  if (operator === undefined) return target;
  p.bump();
  const value = p.expression();
  return { kind: 'AssignExpression', id: p.newId(), span: p.spanFrom(start), operator, target, value };
}

function parseOperators(p: Parser, minimum: number): Expression {
  if (startsSpread(p)) return parseSpread(p);
  if ((p.at('..') || p.at('..=')) && minimum <= RANGE) {
    return parseOperatorsRest(p, minimum, parseRangeRest(p, p.start, undefined));
  }
  return parseOperatorsRest(p, minimum, parseUnary(p));
}

function parseOperatorsRest(p: Parser, minimum: number, first: Expression): Expression {
  const { start } = first.span;
  let left = first;
  for (;;) {
    const foreign = minimum <= COMPARISON ? foreignOperator(p) : undefined;
    if (foreign !== undefined) {
      left = parseForeignOperator(p, left, foreign, parseUnary);
      continue;
    }
    if (startsIncrement(p)) {
      passIncrement(p);
      return left;
    }
    const word = wordOperator(p);
    const precedence = PRECEDENCE.get(word ?? p.kind);
    if (precedence === undefined || precedence < minimum || startsNextArm(p)) return left;
    p.links++;
    if (word !== undefined) reportWordOperator(p, word);
    left = parseOperatorRest(p, { start, left, precedence, operator: word ?? BINARY_OPERATORS.get(p.kind) });
  }
}

interface OperatorPlace {
  readonly start: number;
  readonly left: Expression;
  readonly precedence: number;
  /** Undefined for what is no binary operator: `|>`, `as`, a range. */
  readonly operator: BinaryOperator | undefined;
}

function parseOperatorRest(p: Parser, { start, left, precedence, operator }: OperatorPlace): Expression {
  if (precedence === RANGE) return parseRangeRest(p, start, left);
  p.bump();
  if (precedence === CAST) {
    const type = parseCastType(p);
    return { kind: 'CastExpression', id: p.newId(), span: p.spanFrom(start), operand: left, type };
  }
  const right = parseOperators(p, precedence + 1);
  const span = p.spanFrom(start);
  if (operator === undefined) return pipeExpression(p, left, right);
  return { kind: 'BinaryExpression', id: p.newId(), span, operator, left, right };
}

/** `a |> f()? |> g()` means `((a |> f())?) |> g()`: what follows the right operand applies to the whole. */
function pipeExpression(p: Parser, left: Expression, right: Expression): Expression {
  if (right.kind === 'PropagateExpression' || (right.kind === 'AwaitExpression' && right.postfix)) {
    const operand = pipeExpression(p, left, right.operand);
    return { ...right, span: { start: left.span.start, end: right.span.end }, operand };
  }
  const span = { start: left.span.start, end: right.span.end };
  return { kind: 'PipeExpression', id: p.newId(), span, left, right };
}

/** At `..` or `..=`; ranges do not chain. */
function parseRangeRest(p: Parser, start: number, low: Expression | undefined): Expression {
  const inclusive = p.at('..=');
  p.bump();
  const hasEnd = canStartExpression(p.kind) && !(p.inHead && p.at('{')) && !p.at('..') && !p.at('..=');
  const end = hasEnd ? parseOperators(p, ADDITIVE) : undefined;
  if (inclusive && end === undefined) p.unexpected('expected an expression after `..=`', false, { code: 'C0101' });
  if (p.at('..') || p.at('..=')) p.unexpected('ranges cannot be chained');
  return { kind: 'RangeExpression', id: p.newId(), span: p.spanFrom(start), start: low, end, inclusive };
}

function parseUnary(p: Parser): Expression {
  switch (p.kind) {
    case '!':
    case '-':
    case 'await':
      return p.nested(parsePrefix, errorExpression);
    default:
      if (startsForeignPrefix(p)) return p.nested(() => parseForeignPrefix(p, parseUnary), errorExpression);
      return startsNot(p) ? p.nested(parsePrefix, errorExpression) : parsePower(p);
  }
}

function parsePrefix(p: Parser): Expression {
  const { start, kind } = p;
  if (kind === 'Identifier') reportWordOperator(p, '!');
  p.bump();
  const operand = parseUnary(p);
  const span = p.spanFrom(start);
  if (kind === 'await') return { kind: 'AwaitExpression', id: p.newId(), span, operand, postfix: false };
  return { kind: 'UnaryExpression', id: p.newId(), span, operator: kind === '-' ? '-' : '!', operand };
}

function parsePower(p: Parser): Expression {
  const { start } = p;
  const left = parsePostfix(p, parsePrimary(p));
  if (!p.at('**')) return left;
  p.bump();
  const right = p.nested(() => parseOperators(p, UNARY), errorExpression);
  return { kind: 'BinaryExpression', id: p.newId(), span: p.spanFrom(start), operator: '**', left, right };
}

/** In a match without commas `- 1 => …` on a new line is the next pattern, not a subtraction. */
function startsNextArm(p: Parser): boolean {
  if (!p.inArm || !p.at('-') || !p.newlineBefore()) return false;
  const after = p.peek(2);
  return (p.peek(1) === 'Int' || p.peek(1) === 'Float') && ARM_AFTER_NUMBER.has(after);
}

const ARM_AFTER_NUMBER: ReadonlySet<TokenKind> = new Set(['=>', '|', '..', '..=', 'if']);
