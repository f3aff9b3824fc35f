import { addUsage } from '../add-usage.ts';
import type { Usage } from '../agent-event.ts';
import type { EventOf } from './cells.ts';
import type { UsageSum } from './session-view.ts';

export const noUsage: UsageSum = { total: { inputTokens: 0, outputTokens: 0 }, byModel: new Map() };

/** One without a turn is the session's sum, as older logs have it. */
export function usageAfter(sum: UsageSum, event: EventOf<'usage'>): UsageSum {
  const used = figuresOf(event);
  if (event.turn === undefined) return { ...sum, total: used };
  const total = addUsage(sum.total, used);
  if (event.model === undefined) return { ...sum, total };
  const before = sum.byModel.get(event.model);
  const ofModel = before === undefined ? used : addUsage(before, used);
  return { total, byModel: new Map(sum.byModel).set(event.model, ofModel) };
}

function figuresOf(event: EventOf<'usage'>): Usage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costMicroUsd } = event;
  return {
    inputTokens,
    outputTokens,
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
    ...(costMicroUsd === undefined ? {} : { costMicroUsd }),
  };
}
