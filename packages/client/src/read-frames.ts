import { backoffMs, pause } from './backoff.ts';
import { ClientError } from './client-error.ts';
import type { HttpCalls } from './http-calls.ts';
import { type Frame, FrameReader } from './server-sent-events.ts';

/** Three of the server's pings: a connection that is quiet for longer is dead, whatever the system thinks of it. */
const silenceMaxMs = 45_000;

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

export type Reading = {
  /** Below `/api/`. */
  readonly path: string;
  /** Without `after` for a stream that begins by itself where it should. */
  readonly query: Readonly<Record<string, string | number | boolean>>;
  readonly options: FollowOptions;
  readonly tell: (state: ConnectionState) => void;
};

/** One connection, until it ends or falls silent. */
export async function* readFrames(
  calls: HttpCalls,
  { path, query, options, tell }: Reading,
): AsyncGenerator<Frame, void> {
  const connection = new AbortController();
  const stop = (): void => connection.abort(options.signal?.reason);
  options.signal?.addEventListener('abort', stop);
  const limit = options.silenceMaxMs ?? silenceMaxMs;
  let silence = setTimeout(() => connection.abort(silent(limit)), limit);
  try {
    if (isAborted(options.signal)) return;
    const response = await calls.open(path, query, connection.signal);
    if (response.body === null) throw new ClientError('bad_answer', 'the event stream has no body');
    tell({ kind: 'live' });
    const reader = response.body.getReader();
    const frames = new FrameReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      for (const frame of frames.push(value)) yield frame;
      // From here on: the time that the reader of our events takes is not the server's silence.
      silence = setTimeout(() => connection.abort(silent(limit)), limit);
    }
  } finally {
    clearTimeout(silence);
    options.signal?.removeEventListener('abort', stop);
    connection.abort();
  }
}

function silent(limit: number): ClientError {
  return new ClientError('timeout', `the server was silent for ${limit / 1000} s`);
}

/** Before the next try. */
export async function wait(
  error: ClientError,
  failures: number,
  { signal, tell }: { signal: AbortSignal | undefined; tell: (state: ConnectionState) => void },
): Promise<void> {
  const retryInMs = backoffMs(failures);
  tell({ kind: 'waiting', retryInMs, error });
  await pause(retryInMs, signal);
}

/** Gives the error back when another try may help, else throws it. */
export function retryable(error: unknown): ClientError {
  if (!(error instanceof ClientError))
    return new ClientError('unreachable', 'the connection was lost', { cause: error });
  const isPassing =
    error.status === undefined ? error.code !== 'bad_answer' : error.status >= 500 || error.status === 429;
  if (!isPassing) throw error;
  return error;
}

/** A function, because a signal changes between two looks at it. */
export function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ClientError('bad_answer', 'an event that is not JSON', { cause });
  }
}
