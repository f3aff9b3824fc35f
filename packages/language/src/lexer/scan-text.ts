import { BACKSLASH, BACKTICK, DOLLAR, DOUBLE_QUOTE, LEFT_BRACE, LF } from './characters.ts';

/** A backtick is an error, and closed by another all the same. */
export type Quote = '"' | '"""' | '`';

/** From the beginning of a text to its closing quotes or the next `${`. */
export function scanText(
  source: string,
  quote: Quote,
  start: number,
): { end: number; stop: 'closed' | 'interpolation' | 'unterminated' } {
  const closing = quote === '`' ? BACKTICK : DOUBLE_QUOTE;
  let offset = start;
  while (offset < source.length) {
    const code = source.charCodeAt(offset);
    if (code === BACKSLASH && offset + 1 < source.length && source.charCodeAt(offset + 1) !== LF) {
      offset += 2;
      continue;
    }
    if (code === closing && (quote !== '"""' || source.startsWith('"""', offset))) {
      return { end: offset, stop: 'closed' };
    }
    if (code === DOLLAR && source.charCodeAt(offset + 1) === LEFT_BRACE) return { end: offset, stop: 'interpolation' };
    if (code === LF && quote === '"') {
      const end = source[offset - 1] === '\r' && offset > start ? offset - 1 : offset;
      return { end, stop: 'unterminated' };
    }
    offset++;
  }
  return { end: source.length, stop: 'unterminated' };
}
