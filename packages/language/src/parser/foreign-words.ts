import type { TokenKind } from '../lexer/token.ts';
import type { Expression } from '../syntax/expression.ts';
import { canStartExpression } from './expression-start.ts';
import type { Parser } from './parser.ts';

/** What people write who come from other languages, and what it is called here. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['do', 'write `loop { … }`'],
  ['print', 'write `print(value)` or `emit("channel", value)`'],
]);

/** Why a `;` may be missing after what was just read; undefined when there is nothing better to say. */
export function helpAfter(expression: Expression | undefined): string | undefined {
  return expression?.kind === 'NameExpression' ? WORDS.get(expression.name.text) : undefined;
}

const OPERATOR_WORDS: ReadonlyMap<string, '&&' | '||'> = new Map([
  ['and', '&&'],
  ['or', '||'],
]);

/** `a and b`, `a or b`: the operator that was meant, at the word between its two sides; undefined elsewhere. */
export function wordOperator(p: Parser): '&&' | '||' | undefined {
  if (!p.at('Identifier') || p.newlineBefore() || !canStartExpression(p.peek(1))) return undefined;
  return OPERATOR_WORDS.get(p.text);
}

/** Reports the word; the caller goes on as if its operator stood there. */
export function reportWordOperator(p: Parser, operator: '&&' | '||' | '!'): void {
  const span = p.tokenSpan;
  p.syntaxError('C0101', span, `there is no \`${p.text}\``, {
    help: `write \`${operator}\``,
    fix: { title: `write \`${operator}\``, edits: [{ span, text: operator }] },
  });
}

const AFTER_NOT: ReadonlySet<TokenKind> = new Set(['Identifier', 'self', 'true', 'false', 'String', 'Int', 'Float']);

/** `not a`; `not(a)` would be a call. */
export function startsNot(p: Parser): boolean {
  return p.atWord('not') && AFTER_NOT.has(p.peek(1)) && !p.newlineBefore(p.position + 1);
}

/** `(a, b) =>` or `a =>`, also with `->`, where a closure is written `|a, b|`. */
export function startsArrowFunction(p: Parser): boolean {
  if (p.at('Identifier')) return isArrow(p.peek(1));
  const end = p.at('(') ? p.closingAfter(p.position) : undefined;
  return end !== undefined && isArrow(p.tokens.kinds[end]);
}

function isArrow(kind: TokenKind | undefined): boolean {
  return kind === '=>' || kind === '->';
}

/** Takes a mark that is used for the same thing elsewhere, with an error that has a fix. */
export function eatInstead(
  p: Parser,
  wrong: '->' | '=' | ':' | 'of' | 'extends',
  right: '=>' | ':' | '->' | 'in',
  where: string,
): boolean {
  if (wrong === 'of' || wrong === 'extends' ? !p.atWord(wrong) : !p.at(wrong)) return false;
  const span = p.tokenSpan;
  p.syntaxError('C0100', span, `expected \`${right}\` ${where}, found \`${wrong}\``, {
    fix: { title: `write \`${right}\``, edits: [{ span, text: right === '->' && isBehindText(p) ? ' ->' : right }] },
  });
  p.bump();
  return true;
}

/** Whether no blank stands before the current token. */
function isBehindText(p: Parser): boolean {
  return p.start === p.previousEnd;
}
