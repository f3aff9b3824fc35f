import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CallPatience } from './call-patience.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('it runs out, later with every word of progress, but not for ever', () => {
  const patience = new CallPatience(100);
  for (let passed = 0; passed < 990; passed += 90) {
    expect(patience.late.aborted).toBe(false);
    vi.advanceTimersByTime(90);
    patience.progressed();
  }
  vi.advanceTimersByTime(20);
  expect(patience.late.aborted).toBe(true);
});

test('it stands still while somebody is asked, and goes on after it', async () => {
  const patience = new CallPatience(100);
  let answer: (text: string) => void = () => {};
  const asked = patience.during(new Promise<string>((resolve) => (answer = resolve)));
  vi.advanceTimersByTime(1_000_000);
  patience.progressed();
  vi.advanceTimersByTime(1_000_000);
  expect(patience.late.aborted).toBe(false);
  answer('yes');
  expect(await asked).toBe('yes');
  vi.advanceTimersByTime(99);
  expect(patience.late.aborted).toBe(false);
  vi.advanceTimersByTime(2);
  expect(patience.late.aborted).toBe(true);
});

test('nothing is left of it after the call', async () => {
  const patience = new CallPatience(100);
  const asked = patience.during(Promise.reject(new Error('nobody answers')));
  patience.end();
  await expect(asked).rejects.toThrow('nobody answers');
  expect(vi.getTimerCount()).toBe(0);
});
