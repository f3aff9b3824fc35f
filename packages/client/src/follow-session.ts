import {
  AgentEvent,
  type FoldedEvent,
  finalStatuses,
  isAgentEventType,
  Session,
  SessionEvent,
  StoredEventSchema,
} from '@concerto/protocol';
import { backoffMs, pause } from './backoff.ts';
import { ClientError } from './client-error.ts';
import { type HttpCalls, segment } from './http-calls.ts';
import { type Frame, FrameReader } from './server-sent-events.ts';

/** Three of the server's pings: a connection that is quiet for longer is dead, whatever the system thinks of it. */
const silenceMaxMs = 45_000;

/** Of a kind that is newer than this client: `unknown`, its fields as they were sent. */
export type FollowedEvent = FoldedEvent;

export type ConnectionState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'waiting'; readonly retryInMs: number; readonly error: ClientError }
  | { readonly kind: 'ended' };

export type FollowOptions = {
  /** The position of the last event already seen; 0, the default, begins at the beginning. */
  readonly after?: number;
  readonly signal?: AbortSignal;
  readonly onState?: (state: ConnectionState) => void;
  /** For tests; longer than the server's time between two pings. */
  readonly silenceMaxMs?: number;
};

/**
 * Every event of a session from a position on, each once and in order, whatever happens to the connection. Ends after
 * `finish`, or when the signal aborts; throws a `ClientError` when the server refuses.
 */
export async function* followSession(
  calls: HttpCalls,
  id: string,
  options: FollowOptions = {},
): AsyncGenerator<FollowedEvent, void> {
  const { signal } = options;
  const tell = options.onState ?? (() => {});
  let cursor = options.after ?? 0;
  for (let failures = 0; !isAborted(signal); ) {
    tell({ kind: 'connecting' });
    const before = cursor;
    try {
      for await (const event of readOnce(calls, { id, after: cursor, options, tell })) {
        // The server sends what lies beyond the cursor; nothing at or before it may be shown twice.
        if (event.seq <= cursor) continue;
        cursor = event.seq;
        yield event;
        if (event.type === 'finish') return tell({ kind: 'ended' });
      }
      if (cursor === before && (await isOver(calls, id, cursor, signal))) return tell({ kind: 'ended' });
      failures = cursor === before ? failures + 1 : 1;
      await wait(new ClientError('unreachable', 'the connection ended'), failures, { signal, tell });
    } catch (error) {
      if (isAborted(signal)) return;
      failures = cursor === before ? failures + 1 : 1;
      await wait(retryable(error), failures, { signal, tell });
    }
  }
}

async function wait(
  error: ClientError,
  failures: number,
  { signal, tell }: { signal: AbortSignal | undefined; tell: (state: ConnectionState) => void },
): Promise<void> {
  const retryInMs = backoffMs(failures);
  tell({ kind: 'waiting', retryInMs, error });
  await pause(retryInMs, signal);
}

type Reading = {
  readonly id: string;
  readonly after: number;
  readonly options: FollowOptions;
  readonly tell: (state: ConnectionState) => void;
};

/** One connection, until it ends or falls silent. */
async function* readOnce(calls: HttpCalls, { id, after, options, tell }: Reading): AsyncGenerator<FollowedEvent, void> {
  const connection = new AbortController();
  const stop = (): void => connection.abort(options.signal?.reason);
  options.signal?.addEventListener('abort', stop);
  const limit = options.silenceMaxMs ?? silenceMaxMs;
  let silence = setTimeout(() => connection.abort(silent(limit)), limit);
  try {
    if (isAborted(options.signal)) return;
    const response = await calls.open(`sessions/${segment(id)}/events`, { after }, connection.signal);
    if (response.body === null) throw new ClientError('bad_answer', 'the event stream has no body');
    tell({ kind: 'live' });
    const reader = response.body.getReader();
    const frames = new FrameReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      for (const frame of frames.push(value)) yield readEvent(frame);
      // From here on: the time that the reader of our events takes is not the server's silence.
      silence = setTimeout(() => connection.abort(silent(limit)), limit);
    }
  } finally {
    clearTimeout(silence);
    options.signal?.removeEventListener('abort', stop);
    connection.abort();
  }
}

/** A stream that has nothing to say and ends may be one that has said everything. */
async function isOver(calls: HttpCalls, id: string, cursor: number, signal: AbortSignal | undefined): Promise<boolean> {
  const session = await calls.call({
    method: 'GET',
    path: `sessions/${segment(id)}`,
    answer: Session,
    ...(signal === undefined ? {} : { signal }),
  });
  return finalStatuses.includes(session.status) && session.position <= cursor;
}

/** Gives the error back when another try may help, else throws it. */
function retryable(error: unknown): ClientError {
  if (!(error instanceof ClientError))
    return new ClientError('unreachable', 'the connection was lost', { cause: error });
  const isPassing =
    error.status === undefined ? error.code !== 'bad_answer' : error.status >= 500 || error.status === 429;
  if (!isPassing) throw error;
  return error;
}

/** A function, because a signal changes between two looks at it. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function silent(limit: number): ClientError {
  return new ClientError('timeout', `the server was silent for ${limit / 1000} s`);
}

function readEvent(frame: Frame): FollowedEvent {
  const stored = StoredEventSchema.safeParse(parseJson(frame.data));
  if (!stored.success)
    throw new ClientError('bad_answer', 'an event without type, time or position', { cause: stored.error });
  const { seq, at, ...event } = stored.data;
  const parsed = isAgentEventType(event.type) ? AgentEvent.safeParse(event) : SessionEvent.safeParse(event);
  return parsed.success ? { ...parsed.data, at, seq } : { type: 'unknown', raw: stored.data, at, seq };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ClientError('bad_answer', 'an event that is not JSON', { cause });
  }
}
