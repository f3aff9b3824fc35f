import type { Usage } from './agent-event.ts';

/** Optional figures appear once somebody reports them; absent is not the same as none. */
export function addUsage(total: Usage, more: Usage): Usage {
  const { cacheReadTokens, cacheWriteTokens, costMicroUsd } = more;
  return {
    ...total,
    inputTokens: total.inputTokens + more.inputTokens,
    outputTokens: total.outputTokens + more.outputTokens,
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens: (total.cacheReadTokens ?? 0) + cacheReadTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens: (total.cacheWriteTokens ?? 0) + cacheWriteTokens }),
    ...(costMicroUsd === undefined ? {} : { costMicroUsd: (total.costMicroUsd ?? 0) + costMicroUsd }),
  };
}
