import { isRetryable, type ModelFailure } from './model-failure.ts';
import type { Clock } from './rate-limit.ts';

export type RetrySettings = {
  readonly max_attempts: number;
  readonly backoff: 'none' | 'linear' | 'exponential';
  readonly initial_delay_ms: number;
  readonly max_delay_ms: number;
};

export const NO_RETRY: RetrySettings = {
  max_attempts: 1,
  backoff: 'none',
  initial_delay_ms: 1000,
  max_delay_ms: 30_000,
};

/**
 * Milliseconds before the next attempt; undefined when there is none. A provider that names a time is obeyed; when
 * that is later than we may wait, asking earlier would only be refused again.
 */
export function retryDelay(settings: RetrySettings, attempt: number, failure: ModelFailure): number | undefined {
  if (attempt >= settings.max_attempts || !isRetryable(failure)) return undefined;
  const asked = failure.facts.retryAfterMs ?? 0;
  if (asked > settings.max_delay_ms) return undefined;
  return Math.max(asked, Math.min(settings.max_delay_ms, backoff(settings, attempt)));
}

function backoff({ backoff: kind, initial_delay_ms: base }: RetrySettings, attempt: number): number {
  if (kind === 'none') return 0;
  return kind === 'linear' ? base * attempt : base * 2 ** (attempt - 1);
}

/** Waits, or rejects with the reason when aborted. */
export async function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    const onAbort = (): void => {
      stop();
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** `Retry-After` in seconds or as a date, and the finer `retry-after-ms` some send. */
export function retryAfter(headers: Readonly<Record<string, string>> | undefined, now: number): number | undefined {
  const fine = Number(headers?.['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(fine) && fine >= 0) return fine;
  const written = headers?.['retry-after'];
  if (written === undefined) return undefined;
  const seconds = Number(written);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(written);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
