import type { TokenKind } from '../lexer/token.ts';

const SPACE_BOTH_SIDES: ReadonlySet<TokenKind> = new Set(['|', '->', '@', '=']);
const SPACE_AFTER: ReadonlySet<TokenKind> = new Set([',', ':', 'mut', '{']);
const SPACE_BEFORE: ReadonlySet<TokenKind> = new Set(['{', '}']);

/** Whether a space stands between two tokens of a type or a pattern. */
export function runSpacing(left: TokenKind, right: TokenKind): boolean {
  if (left === '{' && right === '}') return false;
  if (SPACE_BOTH_SIDES.has(left)) return true;
  if (SPACE_BOTH_SIDES.has(right)) return true;
  return SPACE_AFTER.has(left) || SPACE_BEFORE.has(right);
}
