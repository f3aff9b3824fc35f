import type { Json } from '@concerto/base';
import type { IrDecorator } from '@concerto/ir';

export interface RetryPolicy {
  readonly attempts: number;
  /** Milliseconds to wait before attempt n + 1. */
  readonly delay: (attempt: number) => number;
}

const BASE_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;

/** `@retry(max: n, backoff: "none"|"linear"|"exponential", delay_ms: n)`: n attempts. Without it there is one. */
export function retryPolicy(decorators: readonly IrDecorator[]): RetryPolicy {
  const retry = decorators.find(({ name }) => name === 'retry');
  if (retry === undefined) return { attempts: 1, delay: () => 0 };
  const attempts = number(retry.named.max ?? retry.args[0], 3);
  const backoff = retry.named.backoff ?? retry.args[1] ?? 'exponential';
  const base = number(retry.named.delay_ms ?? retry.named.base_ms, BASE_DELAY_MS);
  const most = number(retry.named.max_delay_ms, MAX_DELAY_MS);
  const delay = (attempt: number): number => {
    if (backoff === 'none') return 0;
    return Math.min(most, backoff === 'linear' ? base * attempt : base * 2 ** (attempt - 1));
  };
  return { attempts: Math.max(1, attempts), delay };
}

const DEFAULT_TIMEOUT_S = 30;

/** `@timeout(seconds: n)` in milliseconds; null without it. */
export function timeoutMs(decorators: readonly IrDecorator[]): number | null {
  const timeout = decorators.find(({ name }) => name === 'timeout');
  if (timeout === undefined) return null;
  if (timeout.named.ms !== undefined) return number(timeout.named.ms, DEFAULT_TIMEOUT_S * 1000);
  return number(timeout.named.seconds ?? timeout.args[0], DEFAULT_TIMEOUT_S) * 1000;
}

const DEFAULT_CACHE_S = 300;

/** `@cache(ttl: seconds)` in milliseconds; null without it. */
export function cacheMs(decorators: readonly IrDecorator[]): number | null {
  const cache = decorators.find(({ name }) => name === 'cache');
  if (cache === undefined) return null;
  return number(cache.named.ttl ?? cache.named.seconds ?? cache.args[0], DEFAULT_CACHE_S) * 1000;
}

/** The channel of `@log`; null without it. */
export function logChannel(decorators: readonly IrDecorator[]): string | null {
  const log = decorators.find(({ name }) => name === 'log');
  if (log === undefined) return null;
  const channel = log.named.channel ?? log.args[0];
  return typeof channel === 'string' ? channel : 'model:log';
}

function number(value: Json | undefined, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
