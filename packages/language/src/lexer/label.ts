import { isIdentifierPart, isIdentifierStart, SINGLE_QUOTE } from './characters.ts';
import { endOfLine } from './string-text.ts';
import type { TokenKind } from './token.ts';

const LOOP_AFTER_LABEL = /\s*:\s*(?:for|while|loop|parallel)\b/y;

/**
 * `'name` is a label and `'text'` a string. Where the label ends, or undefined for a string. `start` is at the
 * quote.
 */
export function labelEnd(source: string, start: number, previous: TokenKind | undefined): number | undefined {
  if (!isIdentifierStart(source.charCodeAt(start + 1))) return undefined;
  let end = start + 2;
  while (isIdentifierPart(source.charCodeAt(end))) end++;
  if (source.charCodeAt(end) === SINGLE_QUOTE) return undefined;
  LOOP_AFTER_LABEL.lastIndex = end;
  if (LOOP_AFTER_LABEL.test(source)) return end;
  const rest = source.slice(end, endOfLine(source, end));
  const isJump = previous === 'break' || previous === 'continue';
  return isJump ? labelOfJump(rest, end) : labelAlone(rest, end);
}

/** `break 'outer;` and `break 'outer value;`, but `break 'some text';`. */
function labelOfJump(rest: string, end: number): number | undefined {
  const statement = /^[^;{}]*/.exec(rest)?.[0] ?? '';
  return countQuotes(statement) % 2 === 0 ? end : undefined;
}

/** `'outer: foo`: no loop follows, but it was meant as a label, and the message about that is the better one. */
function labelAlone(rest: string, end: number): number | undefined {
  return /^\s*:(?!:)/.test(rest) && countQuotes(rest) === 0 ? end : undefined;
}

function countQuotes(text: string): number {
  return text.split("'").length - 1;
}
