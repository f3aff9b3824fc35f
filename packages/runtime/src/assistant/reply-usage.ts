import type { ModelReply } from '@concerto/models';
import type { Usage } from '@concerto/protocol';

/** What a model's answer cost, as sessions count it. */
export function usageOf({ usage, cost }: ModelReply): Usage {
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  return {
    inputTokens,
    outputTokens,
    ...(cachedInputTokens === 0 ? {} : { cacheReadTokens: cachedInputTokens }),
    ...(cost === undefined ? {} : { costMicroUsd: Math.round(cost * 1_000_000) }),
  };
}
