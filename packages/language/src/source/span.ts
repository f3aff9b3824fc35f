/** Half-open range of UTF-16 offsets in one source file. */
export interface Span {
  readonly start: number;
  readonly end: number;
}
