import type { SourceFile, Span } from '@concerto/language';
import type { Position, Range } from 'vscode-languageserver/node';

/** Both count UTF-16 units, as our offsets do; lines end at LF, CRLF and a lone CR, as ours do. */
export function toPosition(source: SourceFile, offset: number): Position {
  const clamped = Math.min(Math.max(offset, 0), source.text.length);
  let low = 0;
  let high = source.lineStarts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((source.lineStarts[middle] ?? 0) <= clamped) low = middle;
    else high = middle;
  }
  return { line: low, character: clamped - (source.lineStarts[low] ?? 0) };
}

export function toRange(source: SourceFile, span: Span): Range {
  return { start: toPosition(source, span.start), end: toPosition(source, span.end) };
}

/** A position beyond the end of its line is the end of the line. */
export function toOffset(source: SourceFile, { line, character }: Position): number {
  const start = source.lineStarts[line];
  if (start === undefined) return source.text.length;
  let end = source.lineStarts[line + 1] ?? source.text.length;
  while (end > start && /[\r\n]/.test(source.text[end - 1] ?? '')) end--;
  return Math.min(start + character, end);
}
