import type { TokenKind } from '../lexer/token.ts';
import type { Block, Expression } from '../syntax/expression.ts';
import type { Statement } from '../syntax/statement.ts';
import { canStartExpression } from './expression-start.ts';
import { parseForeignStatement, replaceForeignWords } from './foreign-phrases.ts';
import { helpAfter, startsArrowFunction } from './foreign-words.ts';
import { closeBraces, endsBraces, startsItem } from './item-start.ts';
import { parseClosure } from './parse-closure.ts';
import { parseConfigBlock } from './parse-config.ts';
import { parseBlockLike, startsBlockLike } from './parse-control.ts';
import { parseExpressionRest } from './parse-expression.ts';
import { parseListen } from './parse-listen.ts';
import { looksLikeMap, parseMap } from './parse-map-and-struct.ts';
import { parseName } from './parse-name.ts';
import { parsePattern } from './parse-pattern.ts';
import { parsePostfix } from './parse-postfix.ts';
import { parseType } from './parse-type.ts';
import { emptyBlock, type Parser } from './parser.ts';

export function parseBlock(p: Parser): Block {
  const { start } = p;
  if (!p.at('{') && !p.lacksOpenBraces) return parseMissingBlock(p);
  p.expect('{');
  const statements: Statement[] = [];
  let tail: Expression | undefined;
  while (!endsBraces(p)) {
    const before = p.position;
    if (p.eat(';')) continue;
    const parsed = parseStatement(p, endsBraces);
    if (parsed.kind === 'Tail') tail = parsed.expression;
    else statements.push(parsed);
    if (p.position === before) p.bump();
  }
  closeBraces(p, start);
  return { kind: 'Block', id: p.newId(), span: p.spanFrom(start), statements, tail };
}

/** `if x return 1;`: the statement is taken for the body. */
function parseMissingBlock(p: Parser): Block {
  const isBody = !p.newlineBefore() && canStartExpression(p.kind);
  p.unexpected('expected `{`', false, isBody ? { help: 'a body stands between braces: `{ … }`' } : {});
  if (!isBody) return emptyBlock(p);
  const { start } = p;
  const parsed = parseStatement(p);
  const [statements, tail] = parsed.kind === 'Tail' ? [[], parsed.expression] : [[parsed], undefined];
  return { kind: 'Block', id: p.newId(), span: p.spanFrom(start), statements, tail };
}

type Tail = { readonly kind: 'Tail'; readonly expression: Expression };

/** A statement, or the expression that is the value of the block, which ends where `isEnd` says. */
export function parseStatement(p: Parser, isEnd = atBrace): Statement | Tail {
  const { links } = p;
  const statement = parseStatementKind(p, isEnd);
  p.countLinks(links);
  return statement;
}

function atBrace(p: Parser): boolean {
  return p.at('}');
}

function parseStatementKind(p: Parser, isEnd: typeof atBrace): Statement | Tail {
  replaceForeignWords(p);
  if (p.at('let')) return parseLet(p);
  if (p.at('mock') && p.nameAt(1)) return parseMock(p);
  if (startsItem(p)) {
    const item = p.item();
    return { kind: 'ItemStatement', id: p.newId(), span: item.span, item };
  }
  return parseExpressionStatement(p, isEnd);
}

function parseLet(p: Parser): Statement {
  const { start } = p;
  p.bump();
  const mutable = p.eat('mut');
  const pattern = parsePattern(p);
  const type = p.eat(':') ? parseType(p) : undefined;
  const initializer = p.eat('=') || passMissingEquals(p) ? parseInitializer(p) : undefined;
  endStatement(p, 'the `let`', helpAfter(initializer));
  return { kind: 'LetStatement', id: p.newId(), span: p.spanFrom(start), mutable, pattern, type, initializer };
}

/** `let x 5;` */
function passMissingEquals(p: Parser): boolean {
  if (p.newlineBefore() || !canStartExpression(p.kind)) return false;
  const { start } = p.tokenSpan;
  p.syntaxError('C0100', p.tokenSpan, 'expected `=` before the value', {
    fix: { title: 'write `=`', edits: [{ span: { start, end: start }, text: '= ' }] },
  });
  return true;
}

function parseInitializer(p: Parser): Expression {
  return startsArrowFunction(p) ? parseClosure(p) : p.freeExpression();
}

function parseMock(p: Parser): Statement {
  const { start } = p;
  p.bump();
  const target = parseName(p, 'the name of a model');
  const fields = parseConfigBlock(p);
  p.eat(';');
  return { kind: 'MockStatement', id: p.newId(), span: p.spanFrom(start), target, fields };
}

function parseExpressionStatement(p: Parser, isEnd: typeof atBrace): Statement | Tail {
  const { start } = p;
  const { expression, endsItself } = parseStatementExpression(p);
  if (isEnd(p)) return { kind: 'Tail', expression };
  const semicolon = p.at(';');
  if (semicolon) p.bump();
  else if (!endsItself) endStatement(p, 'the expression', helpAfter(expression));
  return { kind: 'ExpressionStatement', id: p.newId(), span: p.spanFrom(start), expression, semicolon };
}

/** What ends with a brace ends the statement: only `.` and `?` continue it, never an operator or a bracket. */
function parseStatementExpression(p: Parser): { expression: Expression; endsItself: boolean } {
  const blockLike = parseLeadingBlock(p);
  if (blockLike === undefined) return { expression: p.expression(), endsItself: false };
  if (!p.at('.') && !p.at('?')) return { expression: blockLike, endsItself: true };
  const expression = parseExpressionRest(p, parsePostfix(p, blockLike));
  return { expression, endsItself: false };
}

function parseLeadingBlock(p: Parser): Expression | undefined {
  const foreign = parseForeignStatement(p);
  if (foreign !== undefined) return foreign;
  if (startsBlockLike(p)) return parseBlockLike(p);
  if (p.at('listen')) return parseListen(p);
  if (!p.at('{') || looksLikeMap(p)) return undefined;
  // `{}` is nothing, unless it is the value of the block around it: then it is an empty map.
  return p.peek(1) === '}' && p.peek(2) === '}' ? parseMap(p) : p.block();
}

const STATEMENT_KEYWORDS: ReadonlySet<TokenKind> = new Set([
  'let',
  'return',
  'if',
  'for',
  'while',
  'loop',
  'match',
  'try',
  'throw',
  'fn',
]);

/** Expects `;`. When it is missing, the next statement is believed to begin on the next line. */
export function endStatement(p: Parser, what: string, help?: string): void {
  if (p.eat(';')) return;
  p.unexpected(`expected \`;\` after ${what}`, true, { code: 'C0104', ...(help === undefined ? {} : { help }) });
  const behind = p.position;
  // `Point { x: Int }` without its `struct`.
  if (startsItem(p)) p.guesses.push(p.previousEnd);
  while (!p.at('EndOfFile') && !p.at('}') && !p.eat(';')) {
    if (p.newlineBefore() || STATEMENT_KEYWORDS.has(p.kind)) return;
    const before = p.position;
    if (before === behind) p.guesses.push(p.previousEnd);
    p.position = isOpening(p.kind) ? (p.closingAfter(p.position) ?? p.position + 1) : p.position;
    if (p.position === before) p.bump();
  }
}

function isOpening(kind: TokenKind): boolean {
  return kind === '(' || kind === '[' || kind === '{' || kind === 'InterpolationStart';
}
