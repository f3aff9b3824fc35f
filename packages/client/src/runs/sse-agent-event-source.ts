import { type AgentEvent, isAgentEventType, SuspendEvent } from '@concerto/protocol';
import { backoffMs, pause } from '../backoff.ts';
import { segment } from '../http-calls.ts';
import { type Frame, FrameReader } from '../server-sent-events.ts';
import type { AgentEventConsumer } from './agent-event-consumer.ts';
import { AgentRunError } from './agent-run-error.ts';
import { RunHandling } from './run-handling.ts';
import { detached, postJson } from './server-calls.ts';

/** So often in a row, without an event in between, is a stream taken up again before we give up. */
const attemptsMax = 8;
/** Three of the server's pings. */
const silenceMaxMs = 45_000;

const suspendTypes: ReadonlySet<string> = new Set(
  SuspendEvent.def.options.flatMap((option) => option.shape.type.def.values),
);

export type SourceOptions = {
  /** Hears of a suspend that somebody else answered first, or that was withdrawn. */
  readonly onOvertaken?: (requestId: string) => void;
};

/** Follows a run over the wire: events to the consumer, in order; answers of suspends back to the server. */
export class SSEAgentEventSource {
  readonly #events: string;
  readonly #input: string;
  readonly #consumer: AgentEventConsumer;
  readonly #fetch: typeof globalThis.fetch;
  readonly #signal: AbortSignal | undefined;
  readonly #options: SourceOptions;
  /** Position of the last event that was handled; undefined while the server has named none. */
  #cursor: string | undefined;
  /** Something was handled that the server gave no position: what follows it cannot be found again. */
  #heardUnnamed = false;
  /** Suspends whose handler failed: asked again by the next `connect`. */
  readonly #owed: SuspendEvent[] = [];

  constructor(
    baseUrl: string,
    runId: string,
    consumer: AgentEventConsumer,
    ...[fetchFn = globalThis.fetch, signal, options = {}]: [
      fetchFn?: typeof globalThis.fetch,
      signal?: AbortSignal,
      options?: SourceOptions,
    ]
  ) {
    const run = `${baseUrl.replace(/\/$/, '')}/api/agent/${segment(runId)}`;
    this.#events = `${run}/events`;
    this.#input = `${run}/input`;
    this.#consumer = consumer;
    this.#fetch = detached(fetchFn);
    this.#signal = signal;
    this.#options = options;
  }

  /**
   * Resolves after the run's last event. Rejects when a handler fails (calling it again repeats that event), when the
   * server refuses, when the stream cannot be taken up again, and with the signal's reason when that aborts.
   */
  async connect(): Promise<void> {
    this.#signal?.throwIfAborted();
    const handling = new RunHandling(this.#consumer, this.#signal, (event, answer) => this.#post(event, answer));
    try {
      for (const event of this.#owed.splice(0)) handling.ask(event);
      await this.#followToEnd(handling);
    } catch (error) {
      this.#owed.push(...handling.failedSuspends);
      throw error;
    } finally {
      handling.over();
    }
  }

  async #followToEnd(handling: RunHandling): Promise<void> {
    for (let failures = 0; ; ) {
      const before = this.#cursor;
      let lost: unknown = new Error('the stream ended before the run did');
      try {
        if (await this.#followOnce(handling)) return;
      } catch (error) {
        this.#signal?.throwIfAborted();
        if (error instanceof AgentRunError) throw error;
        lost = error;
      }
      if (this.#heardUnnamed) throw new AgentRunError('ended_early', 'the stream ended before the run did', lost);
      failures = this.#cursor === before ? failures + 1 : 1;
      if (failures >= attemptsMax) {
        throw new AgentRunError('connection_failed', 'the event stream was lost and cannot be taken up again', lost);
      }
      await Promise.race([pause(backoffMs(failures), this.#signal), handling.failed]);
      this.#signal?.throwIfAborted();
    }
  }

  /** One connection; whether the run came to its end in it. */
  async #followOnce(handling: RunHandling): Promise<boolean> {
    const connection = new AbortController();
    const stop = (): void => connection.abort(this.#signal?.reason);
    this.#signal?.addEventListener('abort', stop);
    const watch = (): ReturnType<typeof setTimeout> =>
      setTimeout(() => connection.abort(new Error(`the server was silent for ${silenceMaxMs / 1000} s`)), silenceMaxMs);
    let silence = watch();
    try {
      const reader = (await this.#open(connection.signal)).getReader();
      const frames = new FrameReader();
      for (;;) {
        const { done, value } = await Promise.race([reader.read(), handling.failed]);
        if (done) return false;
        clearTimeout(silence);
        for (const frame of frames.push(value)) {
          const event = readEvent(frame);
          if (event !== undefined && (await this.#handle(event, frame, handling))) return true;
        }
        // From here on: the time that handlers take is not the server's silence.
        silence = watch();
      }
    } finally {
      clearTimeout(silence);
      this.#signal?.removeEventListener('abort', stop);
      // A server that keeps the response open after the end must not keep our socket.
      connection.abort();
    }
  }

  async #open(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const url = this.#cursor === undefined ? this.#events : `${this.#events}?after=${segment(this.#cursor)}`;
    const response = await this.#fetch(url, { headers: { accept: 'text/event-stream' }, cache: 'no-store', signal });
    if (!response.ok) {
      const message = `SSE connection failed: ${response.status} ${response.statusText}`;
      // A server that is starting or overloaded is worth another try; one that says no is not.
      if (response.status >= 500 || response.status === 429) throw new Error(message);
      throw new AgentRunError('connection_failed', message);
    }
    if (response.body === null) throw new AgentRunError('connection_failed', 'SSE response has no body');
    return response.body;
  }

  async #handle(event: AgentEvent, frame: Frame, handling: RunHandling): Promise<boolean> {
    const isLast = event.type === 'finish' || event.type === 'error';
    if (isLast) await handling.answersSent();
    if (isSuspend(event)) handling.ask(event);
    else await Promise.race([handling.tell(event), handling.failed]);
    this.#cursor = frame.id ?? this.#cursor;
    this.#heardUnnamed ||= this.#cursor === undefined;
    return isLast;
  }

  async #post(event: SuspendEvent, response: unknown): Promise<void> {
    const status = await postJson(
      this.#input,
      { request_id: event.requestId, response },
      {
        fetch: this.#fetch,
        key: `answer-${event.requestId}`,
        ...(this.#signal === undefined ? {} : { signal: this.#signal }),
      },
    );
    if (status < 300) return;
    if (status === 404 || status === 409 || status === 410) return this.#options.onOvertaken?.(event.requestId);
    throw new AgentRunError('connection_failed', `the answer to \`${event.type}\` was refused: ${status}`);
  }
}

/** Undefined for what is newer than this client, and for frames that carry no event. */
function readEvent(frame: Frame): AgentEvent | undefined {
  if (frame.data === '[DONE]') return undefined;
  const value = parseJson(frame.data);
  if (typeof value !== 'object' || value === null) return undefined;
  // Other servers of this wire write `null` for what is unset.
  const event = Object.fromEntries(Object.entries(value).filter(isSet));
  return isAgentEvent(event) ? event : undefined;
}

/** By its type alone: a field that a newer server added must not cost its reader the event. */
function isAgentEvent(value: { readonly [field: string]: unknown }): value is AgentEvent {
  if (typeof value.type !== 'string' || !isAgentEventType(value.type)) return false;
  return !suspendTypes.has(value.type) || typeof value.requestId === 'string';
}

function isSuspend(event: AgentEvent): event is SuspendEvent {
  return suspendTypes.has(event.type);
}

function isSet([name, value]: [string, unknown]): boolean {
  return value !== null || name === 'status' || name === 'data';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AgentRunError('connection_failed', 'an event that is not JSON', cause);
  }
}
