import { APICallError, InvalidResponseDataError, JSONParseError, TypeValidationError } from '@ai-sdk/provider';
import { NoOutputGeneratedError } from 'ai';
import * as z from 'zod';
import type { Connection } from './connection.ts';
import { ModelFailure, type ModelFailureKind } from './model-failure.ts';
import { reasonOf } from './reason-of.ts';
import { redact } from './redact.ts';
import { retryAfter } from './retry.ts';

const LONGEST_TEXT = 2000;
/** Of an answer that cannot be read. */
const LONGEST_SHOWN = 200;

export type FailedTurn = {
  readonly connection: Connection;
  readonly model: string;
  readonly timeoutMs: number;
  /** Aborted by whoever asked. */
  readonly cancelled: AbortSignal | undefined;
  readonly deadline: AbortSignal | undefined;
};

/** What went wrong, for a person and a program, without any secret. */
export function readFailure(cause: unknown, failed: FailedTurn): ModelFailure {
  const { connection, model, cancelled, deadline, timeoutMs } = failed;
  const facts = { provider: connection.provider, model };
  const about = `${connection.provider} ${model}`;
  if (cancelled?.aborted === true) return new ModelFailure('cancelled', `${about}: the request was cancelled`, facts);
  if (deadline?.aborted === true) {
    return new ModelFailure('timeout', `${about}: no answer within ${timeoutMs / 1000} s`, facts);
  }
  const shown = (text: string): string => redact(text, connection.secrets).slice(0, LONGEST_TEXT);
  if (cause instanceof ModelFailure) {
    return new ModelFailure(cause.code, shown(`${about}: ${cause.message}`), { ...cause.facts, ...facts });
  }
  if (endedEarly(cause)) return new ModelFailure('network', `${about}: the answer broke off`, facts);
  if (!APICallError.isInstance(cause)) {
    const kind = isNetworkError(cause) ? 'network' : toldKind(cause);
    return new ModelFailure(
      kind,
      shown(`${about}: ${kind === 'network' ? 'the answer broke off: ' : ''}${textOf(cause)}`),
      facts,
    );
  }
  const status = cause.statusCode;
  if (status === undefined) {
    return new ModelFailure(
      'network',
      shown(`${about}: cannot reach ${hostOf(connection)}: ${textOf(reasonOf(cause))}`),
      facts,
    );
  }
  const kind = kindOf(status, cause);
  const wait = retryAfter(cause.responseHeaders, Date.now());
  const why = status < 400 ? textOf(reasonOf(cause)) : `${status}: ${cause.message}`;
  return new ModelFailure(kind, shown(`${about}: ${explain(kind, connection)}${why}`), {
    ...facts,
    status,
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  });
}

function kindOf(status: number, error: APICallError): ModelFailureKind {
  // The answer began, and could not be read to its end.
  if (status < 400) return 'network';
  if (status === 401 || status === 403) return 'auth';
  if (status === 404) return 'not_found';
  if (status === 429) return (error.responseBody ?? '').includes('insufficient_quota') ? 'quota' : 'rate_limited';
  if (status === 408) return 'network';
  return status >= 500 ? 'server' : 'bad_request';
}

/** An error that a stream tells after it has begun; some name a status, some only a word. */
const ToldError = z.object({
  type: z.string().nullish(),
  code: z.union([z.string(), z.number()]).nullish(),
  status: z.string().nullish(),
});

const toldKinds: readonly (readonly [words: RegExp, kind: ModelFailureKind])[] = [
  [/quota|billing|402/, 'quota'],
  [/rate_limit|resource_exhausted|429/, 'rate_limited'],
  [/authentication|permission|40[13]/, 'auth'],
  [/not_found|404/, 'not_found'],
  [/overload|server|api_error|unavailable|internal|timeout|5\d\d/, 'server'],
  [/invalid|context_length|4\d\d/, 'bad_request'],
];

function toldKind(cause: unknown): ModelFailureKind {
  // What a library throws has codes of its own.
  if (cause instanceof Error) return 'provider';
  const told = ToldError.safeParse(cause);
  if (!told.success) return 'provider';
  const { code, type, status } = told.data;
  const words = [code, type, status].join(' ').toLowerCase();
  return toldKinds.find(([known]) => known.test(words))?.[1] ?? 'provider';
}

/** What the libraries say of a stream that ended before the provider had said that it does. */
function endedEarly(cause: unknown): boolean {
  if (NoOutputGeneratedError.isInstance(cause)) return true;
  return InvalidResponseDataError.isInstance(cause) && cause.data === undefined;
}

function explain(kind: ModelFailureKind, { name, keyVariable }: Connection): string {
  if (kind === 'network') return 'the answer broke off: ';
  if (kind !== 'auth' || keyVariable === undefined) return '';
  return `the key in ${keyVariable} of connection "${name}" was refused: `;
}

function hostOf({ address }: Connection): string {
  return new URL(address).host;
}

function textOf(cause: unknown): string {
  // Their messages are all that a reader of it expected.
  if (TypeValidationError.isInstance(cause)) return unreadable(JSON.stringify(cause.value) ?? '');
  if (JSONParseError.isInstance(cause)) return unreadable(cause.text);
  if (cause instanceof Error) return cause.message === '' ? cause.name : cause.message;
  if (typeof cause === 'string') return cause;
  if (typeof cause === 'object' && cause !== null && 'message' in cause) return String(cause.message);
  return JSON.stringify(cause) ?? 'unknown';
}

function unreadable(answer: string): string {
  const shown = answer.length <= LONGEST_SHOWN ? answer : `${answer.slice(0, LONGEST_SHOWN)}…`;
  return `it sent what cannot be read: ${shown}`;
}

function isNetworkError(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  if (cause instanceof TypeError && (cause.message === 'terminated' || cause.message === 'fetch failed')) return true;
  const code = 'code' in cause ? String(cause.code) : '';
  if (/^(ECONN|EPIPE|ETIMEDOUT|UND_ERR)/.test(code)) return true;
  return cause.cause !== undefined && isNetworkError(cause.cause);
}
