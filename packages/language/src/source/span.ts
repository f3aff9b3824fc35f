/** Half-open range of UTF-16 offsets in one source file. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export function joinSpans(first: Span, last: Span): Span {
  return { start: first.start, end: Math.max(first.end, last.end) };
}
