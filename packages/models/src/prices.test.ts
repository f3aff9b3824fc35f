import { expect, test } from 'vitest';
import { costOf } from './prices.ts';

const usage = { inputTokens: 1_000_000, outputTokens: 100_000, totalTokens: 1_100_000, cachedInputTokens: 0 };

test('by the list, also for a dated name', () => {
  expect(costOf('openai', 'gpt-4o', usage)).toBeCloseTo(3.5);
  expect(costOf('openai', 'gpt-4o-2024-08-06', usage)).toBeCloseTo(3.5);
  expect(costOf('openai-responses', 'gpt-4o', usage)).toBeCloseTo(3.5);
  expect(costOf('anthropic', 'claude-haiku-4-5-20251001', usage)).toBeCloseTo(1.5);
});

test('what came from the cache is cheaper', () => {
  expect(costOf('openai', 'gpt-4o', { ...usage, cachedInputTokens: 400_000 })).toBeCloseTo(0.6 * 2.5 + 0.4 * 1.25 + 1);
});

test.each([
  ['openai', 'gpt-4o-audio-preview'],
  ['openai', 'gpt-99'],
  ['custom', 'gpt-4o'],
  ['google', 'gemini-2.0-flash'],
  ['ollama', 'qwen3'],
])('the cost of %s %s is not known', (provider, model) => {
  expect(costOf(provider, model, usage)).toBeUndefined();
});

test('nor that of a prompt so long that another price may hold', () => {
  const short = { ...usage, inputTokens: 100_000 };
  expect(costOf('anthropic', 'claude-sonnet-4-5-20250929', short)).toBeCloseTo(0.3 + 1.5);
  expect(costOf('anthropic', 'claude-sonnet-4-5-20250929', { ...usage, inputTokens: 200_000 })).toBeUndefined();
});

test('nor that of cached tokens without a price', () => {
  expect(costOf('google', 'gemini-2.5-flash', { ...usage, cachedInputTokens: 1 })).toBeUndefined();
});
