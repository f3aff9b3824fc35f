import type { DriverMessage } from '../driver-output.ts';
import type { ClaudeBill } from './claude-translator.ts';

/** A part of a turn, and what it alone has cost. */
export type ClaudePart = { readonly bill: ClaudeBill; readonly cost: number };

/** The result of a turn: what it said last, and the bill for all its parts. */
export function claudeResult(
  text: string,
  parts: readonly ClaudePart[],
  conversation: string | undefined,
): DriverMessage {
  const sum = (pick: (part: ClaudePart) => number): number => parts.reduce((total, part) => total + pick(part), 0);
  const denied = parts.flatMap(({ bill }) => bill.denied);
  return {
    type: 'result',
    text,
    usage: {
      input_tokens: sum(({ bill }) => bill.usage.inputTokens),
      output_tokens: sum(({ bill }) => bill.usage.outputTokens),
    },
    cost_usd: sum(({ cost }) => cost),
    turns: sum(({ bill }) => bill.turns),
    ...(denied.length === 0 ? {} : { denied }),
    ...(conversation === undefined ? {} : { conversation }),
  };
}
