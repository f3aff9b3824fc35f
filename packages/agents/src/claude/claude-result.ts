import type { ClaudeResult } from '@concerto/protocol';
import type { DriverMessage } from '../driver-output.ts';
import type { ClaudeCharge } from './claude-account.ts';

/** A part of a turn, and what it alone has cost: it has several when it was steered late, or worked in the background. */
export type ClaudePart = { readonly result: ClaudeResult; readonly charges: readonly ClaudeCharge[] };

/** The result of a turn: what it said last, and the bill for all its parts. */
export function claudeResult(
  text: string,
  parts: readonly ClaudePart[],
  { conversation, message }: { readonly conversation: string | undefined; readonly message: string | undefined },
): DriverMessage {
  const sum = (pick: (part: ClaudePart) => number): number => parts.reduce((total, part) => total + pick(part), 0);
  const used = (pick: (charge: ClaudeCharge) => number) =>
    sum(({ charges }) => charges.reduce((s, c) => s + pick(c), 0));
  const denials = parts.flatMap(({ result }) => result.permission_denials ?? []);
  const last = parts.at(-1)?.result;
  return {
    type: 'result',
    text,
    usage: {
      input_tokens: used(({ usage }) => usage.inputTokens),
      output_tokens: used(({ usage }) => usage.outputTokens),
    },
    cost_usd: used(({ usage }) => usage.costMicroUsd ?? 0) / 1e6,
    turns: sum(({ result }) => result.num_turns ?? 0),
    ...(denials.length === 0 ? {} : { denied: denials.map(({ tool_name: tool = '(unknown tool)' }) => tool) }),
    ...(last?.stop_reason == null ? {} : { stop_reason: last.stop_reason }),
    ...(last?.duration_ms === undefined ? {} : { duration_ms: sum(({ result }) => result.duration_ms ?? 0) }),
    ...(conversation === undefined ? {} : { conversation }),
    // The text was streamed as this message.
    ...(message === undefined ? {} : { message }),
  };
}
