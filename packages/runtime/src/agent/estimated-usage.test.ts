import { expect, test } from 'vitest';
import { estimatedUsage } from './estimated-usage.ts';

const usage = { inputTokens: 1_000_000, outputTokens: 100_000 };

test('tokens of a known model without a cost get one by the list, marked as an estimate', () => {
  expect(estimatedUsage(usage, { model: 'gpt-5' })).toEqual({
    usage: { ...usage, costMicroUsd: 2_250_000 },
    source: { model: 'gpt-5', isEstimate: true },
  });
});

test.each([
  ['a cost that is told', { ...usage, costMicroUsd: 7 }, { model: 'gpt-5' }],
  ['no model', usage, {}],
  ['a model whose price is not known', usage, { model: 'gpt-99' }],
  ['tokens that were written to a cache', { ...usage, cacheWriteTokens: 5 }, { model: 'gpt-5' }],
])('%s: nothing is guessed', (_what, used, source) => {
  expect(estimatedUsage(used, source)).toEqual({ usage: used, source });
});
