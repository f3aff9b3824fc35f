import { createHash, randomBytes } from 'node:crypto';

/** Where a span hangs: its trace and the span above it, as the W3C has it. */
export type TraceContext = {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 of them. */
  readonly spanId: string;
  /** Whoever began the trace wants it kept. */
  readonly sampled: boolean;
};

const sampledFlag = 1;
/** A later version may have more after the flags; `ff` is no version. */
const traceparent = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** What a caller or a record says; undefined when it is none. */
export function readTraceparent(text: string | undefined): TraceContext | undefined {
  const [, traceId, spanId, flags] = traceparent.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & sampledFlag) === sampledFlag };
}

export function writeTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** One that nobody began before us. */
export function newTrace(): Pick<TraceContext, 'traceId' | 'sampled'> {
  return { traceId: randomBytes(16).toString('hex'), sampled: true };
}

export function newSpanId(): string {
  return randomBytes(8).toString('hex');
}

/** The same for the same names in every process, so that whoever goes on with a session goes on with its trace. */
export function spanIdOf(...names: readonly string[]): string {
  return digest(names).slice(0, 16);
}

export function traceIdOf(...names: readonly string[]): string {
  return digest(names).slice(0, 32);
}

function digest(names: readonly string[]): string {
  return createHash('sha256').update(names.join('\0')).digest('hex');
}
