import type { Span } from './span.ts';

/** A text with its name and the offsets at which its lines start. */
export interface SourceFile {
  /** As shown to people: relative to where the command runs, or absolute. */
  readonly path: string;
  readonly text: string;
  /** `lineStarts[n]` is the offset of line `n + 1`; LF, CRLF and a lone CR end a line. */
  readonly lineStarts: readonly number[];
}

/** Both are 1-based; the column counts Unicode scalar values. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

const LF = 10;
const CR = 13;

export function createSourceFile(path: string, text: string): SourceFile {
  const lineStarts = [0];
  for (let offset = 0; offset < text.length; offset++) {
    const code = text.charCodeAt(offset);
    if (code === LF || (code === CR && text.charCodeAt(offset + 1) !== LF)) lineStarts.push(offset + 1);
  }
  return { path, text, lineStarts };
}

export function lineNumberAt(file: SourceFile, offset: number): number {
  let low = 0;
  let high = file.lineStarts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((file.lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}

export function positionAt(file: SourceFile, offset: number): Position {
  const clamped = Math.min(Math.max(offset, 0), file.text.length);
  const line = lineNumberAt(file, clamped);
  const start = file.lineStarts[line - 1] ?? 0;
  return { line, column: countScalars(file.text, { start, end: clamped }) + 1 };
}

/** The text of a 1-based line without its line break; empty beyond the end. */
export function lineText(file: SourceFile, line: number): string {
  const start = file.lineStarts[line - 1];
  if (start === undefined) return '';
  const end = file.lineStarts[line] ?? file.text.length;
  return file.text.slice(start, end).replace(/[\r\n]+$/, '');
}

/** A surrogate pair is one scalar value. */
function countScalars(text: string, span: Span): number {
  let count = 0;
  for (let offset = span.start; offset < span.end; offset++) {
    const code = text.charCodeAt(offset);
    const isLowHalf =
      code >= 0xdc00 && code <= 0xdfff && offset > span.start && isHighHalf(text.charCodeAt(offset - 1));
    if (!isLowHalf) count++;
  }
  return count;
}

function isHighHalf(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
