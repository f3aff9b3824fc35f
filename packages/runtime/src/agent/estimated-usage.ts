import { estimatedCost, type Prices } from '@concerto/models';
import type { Usage, UsageSource } from '@concerto/protocol';

/** With what it would cost by the list prices, marked as that, where the agent tells its tokens and model but no cost. */
export function estimatedUsage(
  usage: Usage,
  source: UsageSource = {},
  prices: Prices = {},
): { readonly usage: Usage; readonly source: UsageSource } {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, costMicroUsd } = usage;
  const { model } = source;
  // Writing to a cache has a price of its own, which the list does not know.
  if (costMicroUsd !== undefined || model === undefined || cacheWriteTokens > 0) return { usage, source };
  const cost = estimatedCost(model, { inputTokens, outputTokens, cachedInputTokens: cacheReadTokens }, prices);
  if (cost === undefined) return { usage, source };
  return { usage: { ...usage, costMicroUsd: Math.round(cost * 1e6) }, source: { ...source, isEstimate: true } };
}
