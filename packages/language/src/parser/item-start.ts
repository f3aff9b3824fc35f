import type { TokenKind } from '../lexer/token.ts';
import type { Parser } from './parser.ts';

const ALWAYS: ReadonlySet<TokenKind> = new Set([
  'fn',
  'pub',
  'use',
  'mod',
  'const',
  'impl',
  'trait',
  'enum',
  'struct',
  '@',
]);

const BEFORE_NAME: ReadonlySet<TokenKind> = new Set([
  'model',
  'agent',
  'tool',
  'schema',
  'pipeline',
  'mcp',
  'hashmap',
  'ledger',
  'memory',
  'type',
]);

/** Whether a declaration begins here. Words that are also names count only before another name. */
export function startsItem(p: Parser): boolean {
  const { kind } = p;
  if (ALWAYS.has(kind)) return true;
  if (BEFORE_NAME.has(kind)) return p.nameAt(1) && p.peek(1) !== 'as' && p.peek(1) !== 'in';
  if (kind === 'async') return p.peek(1) === 'fn';
  return kind === 'Identifier' && startsOldItem(p);
}

/** In a file that lacks a `}`, an item at the start of a line was meant to be outside of what is open. */
function startsOuterItem(p: Parser): boolean {
  return p.hasOpenBraces && startsItem(p) && p.atLineStart();
}

/** Whether what stands between braces is to be read. */
export function opensBraces(p: Parser, after?: string): boolean {
  return p.expect('{', after) || p.lacksOpenBraces;
}

/** At the end of what stands between braces, or of the file. */
export function endsBraces(p: Parser): boolean {
  return p.at('}') || p.at('EndOfFile') || startsOuterItem(p);
}

/** `open` is the offset of the brace to close. */
export function closeBraces(p: Parser, open: number): void {
  if (p.eat('}')) return;
  p.syntaxError('C0100', { start: open, end: open + 1 }, 'this `{` is never closed', { help: 'add `}`' });
}

/** `host X {`, `connect x {`, `db x:`, `test "…" {`: keywords of earlier revisions, plain names anywhere else. */
export function startsOldItem(p: Parser): boolean {
  const next = p.peek(1);
  const after = p.peek(2);
  if (next !== 'Identifier' && next !== 'String') return false;
  switch (p.text) {
    case 'host':
    case 'connect':
      return next === 'Identifier' && after === '{';
    case 'db':
      return next === 'Identifier' && after === ':';
    case 'test':
      return next === 'String' && after === '{';
    default:
      return false;
  }
}
