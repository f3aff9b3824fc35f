import { describe, expect, test } from 'vitest';
import { ModelFailure, type ModelFailureKind } from './model-failure.ts';
import { NO_RETRY, pause, type RetrySettings, retryAfter, retryDelay } from './retry.ts';
import { TestClock } from './testing/test-clock.ts';

const settings: RetrySettings = { max_attempts: 5, backoff: 'exponential', initial_delay_ms: 100, max_delay_ms: 500 };
const busy = new ModelFailure('server', 'busy');

describe('the delay before another attempt', () => {
  test.each([
    ['none', [0, 0, 0, 0]],
    ['linear', [100, 200, 300, 400]],
    ['exponential', [100, 200, 400, 500]],
  ] as const)('grows %s, up to the limit', (backoff, delays) => {
    expect([1, 2, 3, 4].map((attempt) => retryDelay({ ...settings, backoff }, attempt, busy))).toEqual(delays);
    expect(retryDelay(settings, 5, busy)).toBeUndefined();
  });

  test('without settings there is one attempt', () => {
    expect(retryDelay(NO_RETRY, 1, busy)).toBeUndefined();
  });

  test('the provider’s own time counts, unless it is too long to wait', () => {
    const after = (retryAfterMs: number) => new ModelFailure('rate_limited', 'slow down', { retryAfterMs });
    expect(retryDelay(settings, 1, after(450))).toBe(450);
    expect(retryDelay(settings, 1, after(10))).toBe(100);
    expect(retryDelay(settings, 1, after(501))).toBeUndefined();
  });

  test.each<[ModelFailureKind, boolean]>([
    ['rate_limited', true],
    ['server', true],
    ['network', true],
    ['auth', false],
    ['bad_request', false],
    ['quota', false],
    ['timeout', false],
    ['cancelled', false],
    ['content_filter', false],
  ])('after %s: %s', (code, retried) => {
    expect(retryDelay(settings, 1, new ModelFailure(code, '')) !== undefined).toBe(retried);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  test.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '120', 'retry-after': '7' }, 120],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('%j', (headers, expected) => {
    expect(retryAfter(headers as Record<string, string>, now)).toBe(expected);
  });
});

test('a pause ends when it is aborted, and leaves no timer', async () => {
  const clock = new TestClock();
  const controller = new AbortController();
  const paused = pause(1000, clock, controller.signal).then(
    () => 'over',
    (cause: unknown) => cause,
  );
  controller.abort(new Error('enough'));
  expect(await paused).toEqual(new Error('enough'));
  expect(clock.next).toBeUndefined();
});
