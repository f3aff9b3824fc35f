import type { SuspendEvent, UsageSum } from '@concerto/protocol';
import { answerSchemaOf, questionOf } from '../requests.ts';
import type { Call, Standing } from '../told.ts';
import type { AguiEvent, AguiInterrupt, AguiUsage } from './agui-events.ts';

export function opening(kind: 'text' | 'thought', messageId: string): readonly AguiEvent[] {
  if (kind === 'text') return [{ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }];
  return [
    { type: 'REASONING_START', messageId },
    { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
  ];
}

export function closing(kind: 'text' | 'thought', messageId: string): readonly AguiEvent[] {
  if (kind === 'text') return [{ type: 'TEXT_MESSAGE_END', messageId }];
  return [
    { type: 'REASONING_MESSAGE_END', messageId },
    { type: 'REASONING_END', messageId },
  ];
}

export function custom(name: string, value: unknown): AguiEvent {
  return { type: 'CUSTOM', name: `concerto.${name}`, value };
}

/** AG-UI's own three reasons. */
function reasonOf({ type, callId }: SuspendEvent): string {
  if (type !== 'queryConsent') return 'input_required';
  return callId === undefined ? 'confirmation' : 'tool_call';
}

export function interruptOf(event: SuspendEvent): AguiInterrupt {
  const { requestId, callId, expiresAt } = event;
  return {
    id: requestId,
    reason: reasonOf(event),
    message: questionOf(event),
    ...(callId === undefined ? {} : { toolCallId: callId }),
    responseSchema: answerSchemaOf(event),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    metadata: { request: event },
  };
}

export const standingKeys = [
  'status',
  'plan',
  'usage',
  'context',
  'queue',
  'agent',
] as const satisfies (keyof Standing)[];

export function standingValue(standing: Standing, key: keyof Standing): unknown {
  if (key === 'usage') return { ...standing.usage.total, byModel: Object.fromEntries(standing.usage.byModel) };
  const value = standing[key];
  return value ?? null;
}

export function touchedOf({ locations, changes }: Call): object {
  return {
    ...(locations.length === 0 ? {} : { locations: locations }),
    ...(changes.length === 0 ? {} : { changes: changes }),
  };
}

export function usageOf({ total, byModel }: UsageSum): readonly AguiUsage[] {
  const sums = byModel.size === 0 ? [[undefined, total] as const] : [...byModel];
  return sums.flatMap(([model, sum]) =>
    sum.inputTokens + sum.outputTokens === 0
      ? []
      : [
          {
            ...(model === undefined ? {} : { model }),
            inputTokens: Math.round(sum.inputTokens),
            outputTokens: Math.round(sum.outputTokens),
            ...(sum.cacheReadTokens === undefined ? {} : { cachedInputTokens: Math.round(sum.cacheReadTokens) }),
            ...(sum.cacheWriteTokens === undefined ? {} : { cacheWriteInputTokens: Math.round(sum.cacheWriteTokens) }),
          },
        ],
  );
}
