import type { Usage } from './agent-event.ts';

/** The largest figure that is stored: JSON has none that is infinite, and nobody uses as much. */
const figureMax = Number.MAX_SAFE_INTEGER;

/** Optional figures appear once somebody reports them; absent is not the same as none. */
export function addUsage(total: Usage, more: Usage): Usage {
  const { cacheReadTokens, cacheWriteTokens, costMicroUsd } = more;
  return {
    ...total,
    inputTokens: figure(total.inputTokens + more.inputTokens),
    outputTokens: figure(total.outputTokens + more.outputTokens),
    ...(cacheReadTokens === undefined
      ? {}
      : { cacheReadTokens: figure((total.cacheReadTokens ?? 0) + cacheReadTokens) }),
    ...(cacheWriteTokens === undefined
      ? {}
      : { cacheWriteTokens: figure((total.cacheWriteTokens ?? 0) + cacheWriteTokens) }),
    ...(costMicroUsd === undefined ? {} : { costMicroUsd: figure((total.costMicroUsd ?? 0) + costMicroUsd) }),
  };
}

/** What somebody tells, as it can be stored and read again. */
export function storableUsage(told: Usage): Usage {
  const { cacheReadTokens, cacheWriteTokens, costMicroUsd } = told;
  return {
    inputTokens: figure(told.inputTokens),
    outputTokens: figure(told.outputTokens),
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens: figure(cacheReadTokens) }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens: figure(cacheWriteTokens) }),
    ...(costMicroUsd === undefined ? {} : { costMicroUsd: Math.round(figure(costMicroUsd)) }),
  };
}

function figure(value: number): number {
  return value > 0 ? Math.min(value, figureMax) : 0;
}
