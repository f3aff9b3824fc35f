import type { Report } from '../ports.ts';
import type { Span, SpanSink } from './span.ts';

const everyMs = 1_000;
const batchSpans = 512;
/** Spans that wait to be sent; beyond them the newest are let go and counted. */
const waitingMax = 8_192;
const sendWithinMs = 10_000;
const closeWithinMs = 3_000;

export type OtlpOptions = {
  /** Of a collector: `/v1/traces` is added. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly version: string;
  readonly report: Report;
};

const kinds: Readonly<Record<Span['kind'], number>> = { internal: 1, server: 2, client: 3 };
const statusError = 2;

/** Sends spans to a collector as OTLP over HTTP, in JSON: in batches, aside, and never in the way of the work. */
export class OtlpExporter {
  readonly #options: OtlpOptions;
  #waiting: Span[] = [];
  #dropped = 0;
  #failing = false;
  /** One at a time: where a collector does not answer, the next waits in `#waiting`. */
  #sending: Promise<void> | undefined;
  readonly #ending = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(options: OtlpOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#flush(), everyMs).unref();
  }

  readonly sink: SpanSink = (spans) => {
    const room = waitingMax - this.#waiting.length;
    this.#waiting.push(...spans.slice(0, room));
    this.#dropped += Math.max(0, spans.length - room);
  };

  /** Sends what there is, within a few seconds. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const late = setTimeout(() => this.#ending.abort(), closeWithinMs);
    // What is being sent, and what has come since.
    await this.#sending;
    await this.#flush();
    clearTimeout(late);
  }

  #flush(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, batchSpans);
      try {
        await this.#send(batch);
      } catch (cause) {
        this.#fail(cause);
        return;
      }
      this.#waiting = this.#waiting.slice(batch.length);
      this.#recover();
    }
  }

  async #send(spans: readonly Span[]): Promise<void> {
    const { url, headers } = this.#options;
    const response = await fetch(`${url.replace(/\/+$/, '')}/v1/traces`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(this.#request(spans)),
      signal: AbortSignal.any([AbortSignal.timeout(sendWithinMs), this.#ending.signal]),
    });
    await response.body?.cancel();
    if (response.ok) return;
    // What a collector does not take now it may take later; what it refuses it refuses again.
    if (response.status !== 429 && response.status < 500) {
      this.#dropped += spans.length;
      this.#waiting = this.#waiting.slice(spans.length);
    }
    throw new Error(`it answered ${response.status}`);
  }

  #request(spans: readonly Span[]): object {
    const resource = {
      'service.name': 'concerto',
      'service.version': this.#options.version,
      'process.pid': process.pid,
    };
    return {
      resourceSpans: [
        {
          resource: { attributes: attributesOf(resource) },
          scopeSpans: [{ scope: { name: 'concerto', version: this.#options.version }, spans: spans.map(otlpSpan) }],
        },
      ],
    };
  }

  /** Told once, not every second. */
  #fail(cause: unknown): void {
    if (this.#failing) return;
    this.#failing = true;
    this.#options.report(`traces cannot be sent to ${this.#options.url}`, cause);
  }

  #recover(): void {
    if (!this.#failing && this.#dropped === 0) return;
    this.#options.report(`traces are sent again; ${this.#dropped} spans were lost`);
    this.#failing = false;
    this.#dropped = 0;
  }
}

function otlpSpan({ traceId, spanId, parentSpanId, name, kind, start, end, attributes, errorType }: Span): object {
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanos(start),
    endTimeUnixNano: nanos(Math.max(start, end)),
    attributes: attributesOf({ ...attributes, ...(errorType === undefined ? {} : { 'error.type': errorType }) }),
    ...(errorType === undefined ? {} : { status: { code: statusError } }),
  };
}

function nanos(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}

function attributesOf(attributes: Span['attributes']): readonly object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValue(value) }],
  );
}

function anyValue(value: string | number): object {
  if (typeof value === 'string') return { stringValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
