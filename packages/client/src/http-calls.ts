import type { Json } from '@concerto/base';
import { Problem } from '@concerto/protocol';
import { backoffMs, pause } from './backoff.ts';
import { ClientError } from './client-error.ts';
import { randomId } from './random-id.ts';

/** One try of a call; longer than any answer takes that is not a stream. */
const callTimeoutMs = 30_000;
/** Of each answer, until it is read: `AbortSignal.any` holds its timeout weakly, and one that is collected never comes. */
const timeouts = new WeakMap<Response, AbortSignal>();
/** The same for one that carries a file, or takes its time. */
const slowTimeoutMs = 600_000;
const triesMax = 4;
/** We wait no longer than this at a server's request. */
const retryAfterMaxMs = 10_000;

export type ClientOptions = {
  /** Where the server is, for example `http://127.0.0.1:4242`. */
  readonly url: string;
  /** Without it the browser's cookie says who we are. */
  readonly token?: string;
  readonly fetch?: typeof globalThis.fetch;
};

export type CallOptions = {
  readonly signal?: AbortSignal;
  /** For a call that changes something: the same key with the same body is the same wish. A new one is made when it is left out. */
  readonly idempotencyKey?: string;
};

type Shape<T> = {
  safeParse(
    value: unknown,
  ): { readonly success: true; readonly data: T } | { readonly success: false; readonly error: Error };
};

type Call<T> = CallOptions & {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: Json | object;
  /** The bytes of a file, in place of a JSON body. */
  readonly file?: { readonly content: Blob | Uint8Array<ArrayBuffer>; readonly mimeType: string };
  /** Undefined when the answer has no body to read. */
  readonly answer: Shape<T>;
  /** Much is done before it is answered. */
  readonly isSlow?: true;
};

/** Makes calls and reads their answers; a call that can be repeated safely is, when the network fails. */
export class HttpCalls {
  readonly #base: string;
  readonly #token: string | undefined;
  readonly #fetch: typeof globalThis.fetch;

  constructor(options: ClientOptions) {
    this.#base = options.url.endsWith('/') ? options.url : `${options.url}/`;
    this.#token = options.token;
    // Called on nothing: a browser's fetch refuses to be called as somebody's method.
    const given = options.fetch ?? globalThis.fetch;
    this.#fetch = (input, init) => given(input, init);
  }

  async call<T>(call: Call<T>): Promise<T> {
    const response = await this.#repeatedly(call);
    if (!response.ok) throw await problemOf(response);
    const value = await readJson(response);
    const parsed = call.answer.safeParse(value);
    if (parsed.success) return parsed.data;
    throw new ClientError(
      'bad_answer',
      `${call.method} ${call.path}: the answer is not what this version expects: ${parsed.error.message}`,
      {
        status: response.status,
        cause: parsed.error,
      },
    );
  }

  /** A response whose body is still to come; `signal` ends it. */
  async open(path: string, query: Call<unknown>['query'], signal: AbortSignal): Promise<Response> {
    const headers = { ...this.#headers(), accept: 'text/event-stream' };
    const response = await this.#fetch(this.address(path, query), { headers, signal, cache: 'no-store' });
    if (!response.ok) throw await problemOf(response);
    return response;
  }

  async #repeatedly(call: Call<unknown>): Promise<Response> {
    // The key makes a change safe to repeat: a server that has already done it answers as it did then.
    const key = call.method === 'GET' ? undefined : (call.idempotencyKey ?? randomId(16));
    for (let failures = 0; ; ) {
      const outcome = await this.#once(call, key).catch((cause: unknown) => unreachable(call, cause));
      call.signal?.throwIfAborted();
      failures++;
      if (outcome instanceof ClientError) {
        if (failures >= triesMax) throw outcome;
        await pause(backoffMs(failures), call.signal);
      } else {
        if (outcome.status !== 503 || failures >= triesMax) return outcome;
        await pause(Math.max(retryAfterMs(outcome), backoffMs(failures)), call.signal);
      }
      call.signal?.throwIfAborted();
    }
  }

  async #once(call: Call<unknown>, key: string | undefined): Promise<Response> {
    const { file } = call;
    const timeout = AbortSignal.timeout(timeoutMsOf(call));
    const response = await this.#fetch(this.address(call.path, call.query), {
      method: call.method,
      headers: {
        ...this.#headers(),
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(file === undefined ? {} : { 'content-type': file.mimeType }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      ...(file === undefined ? {} : { body: file.content }),
      signal: call.signal === undefined ? timeout : AbortSignal.any([timeout, call.signal]),
    });
    timeouts.set(response, timeout);
    return response;
  }

  #headers(): Record<string, string> {
    return {
      accept: 'application/json, application/problem+json',
      ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
    };
  }

  address(path: string, query: Call<unknown>['query'] = {}): URL {
    const address = new URL(`api/${path}`, this.#base);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) address.searchParams.set(name, String(value));
    }
    return address;
  }
}

/** A part of a path, whatever it holds. */
export function segment(text: string): string {
  return encodeURIComponent(text);
}

async function problemOf(response: Response): Promise<ClientError> {
  const { status } = response;
  const parsed = Problem.safeParse(await response.json().catch(() => undefined));
  if (parsed.success) {
    const problem = parsed.data;
    return new ClientError(problem.code, problem.detail ?? problem.title, { status, problem });
  }
  return new ClientError('bad_answer', `the server answered ${status} ${response.statusText} without saying why`, {
    status,
  });
}

async function readJson(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  try {
    return await response.json();
  } catch (cause) {
    throw new ClientError('bad_answer', 'the answer is not JSON', { status: response.status, cause });
  }
}

function timeoutMsOf({ file, isSlow }: Call<unknown>): number {
  return file === undefined && isSlow !== true ? callTimeoutMs : slowTimeoutMs;
}

function unreachable(call: Call<unknown>, cause: unknown): ClientError {
  if (cause instanceof DOMException && cause.name === 'TimeoutError') {
    return new ClientError('timeout', `${call.method} ${call.path}: no answer within ${timeoutMsOf(call) / 1000} s`, {
      cause,
    });
  }
  return new ClientError('unreachable', `${call.method} ${call.path}: the server cannot be reached`, { cause });
}

function retryAfterMs(response: Response): number {
  const seconds = Number(response.headers.get('retry-after') ?? 0);
  return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds * 1000), retryAfterMaxMs) : 0;
}
