import type { TokenKind } from '../lexer/token.ts';
import { SOFT_KEYWORDS } from './parse-name.ts';

const STARTS: ReadonlySet<TokenKind> = new Set<TokenKind>([
  'Identifier',
  'Int',
  'Float',
  'String',
  'InterpolationStart',
  'Label',
  'true',
  'false',
  'nil',
  'self',
  'emit',
  'await',
  'if',
  'match',
  'for',
  'while',
  'loop',
  'try',
  'listen',
  'return',
  'break',
  'continue',
  'throw',
  '(',
  '[',
  '{',
  '|',
  '||',
  '!',
  '-',
  '..',
  '..=',
  ...SOFT_KEYWORDS,
]);

export function canStartExpression(kind: TokenKind): boolean {
  return STARTS.has(kind);
}
