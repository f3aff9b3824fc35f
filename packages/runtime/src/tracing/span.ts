/** Something that took time, as a trace shows it. Names, ids and counts only: never what was said. */
export type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  readonly kind: 'server' | 'client' | 'internal';
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  /** What went wrong, in a word that a query can ask for. */
  readonly errorType?: string | undefined;
};

/** Where finished spans go; never waits and never throws. */
export type SpanSink = (spans: readonly Span[]) => void;
