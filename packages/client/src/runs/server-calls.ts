import { backoffMs, pause } from '../backoff.ts';
import { AgentRunError } from './agent-run-error.ts';

const triesMax = 5;
const callTimeoutMs = 30_000;

export type PostOptions = {
  readonly fetch: typeof globalThis.fetch;
  readonly signal?: AbortSignal;
  /** The call that is under way when the signal aborts is heard to its end: what it did has to be known. */
  readonly isHeardOut?: boolean;
  readonly key: string;
};

/**
 * Posts JSON until the server has answered: the same key each time, so that a call whose answer was lost is not done
 * twice. Gives back the status; it is the caller who knows which ones are fine.
 */
export async function postJson(url: string, body: object, options: PostOptions): Promise<number> {
  for (let failures = 0; ; ) {
    options.signal?.throwIfAborted();
    const outcome = await postOnce(url, body, options).catch((cause: unknown) => ({ cause }));
    if (options.isHeardOut !== true) options.signal?.throwIfAborted();
    failures++;
    if ('status' in outcome && outcome.status < 500 && outcome.status !== 429) return outcome.status;
    options.signal?.throwIfAborted();
    if (failures >= triesMax) {
      const why = 'status' in outcome ? `the server answered ${outcome.status}` : 'the server cannot be reached';
      throw new AgentRunError(
        'connection_failed',
        `POST ${url}: ${why}`,
        'cause' in outcome ? outcome.cause : undefined,
      );
    }
    await pause(backoffMs(failures), options.signal);
  }
}

async function postOnce(url: string, body: object, options: PostOptions): Promise<{ readonly status: number }> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new Error(`no answer within ${callTimeoutMs / 1000} s`)), callTimeoutMs);
  const stop = (): void => timeout.abort(options.signal?.reason);
  if (options.isHeardOut !== true) options.signal?.addEventListener('abort', stop);
  try {
    const response = await options.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': options.key },
      body: JSON.stringify(body),
      signal: timeout.signal,
    });
    return { status: response.status };
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', stop);
  }
}

/** Called on nothing: a browser's fetch refuses to be called as somebody's method. */
export function detached(given: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) => given(input, init);
}
