import { AgentError, type AgentExit } from '@concerto/agents';
import type { JsonObject } from '@concerto/base';
import { type LlmContent, type SessionError, textContent, type WorkEvent } from '@concerto/protocol';
import type { Report } from '@concerto/session';
import type { Translation } from './translate.ts';

/** Whose word it is. */
export type Speaker = { readonly epoch: number; readonly incarnation: number };

/** The domain's report of a message that changes the session; `observed` was heard before it. */
export function reportOf(
  { turn, ...speaker }: Speaker & { readonly turn: number },
  translation: Exclude<Translation, { kind: 'events' }>,
  observed: readonly WorkEvent[],
): Report {
  switch (translation.kind) {
    case 'request': {
      const { event } = translation;
      return { type: 'request-opened', ...speaker, observed, requestId: event.requestId, event };
    }
    case 'result':
      return {
        type: 'turn-ended',
        ...speaker,
        ...(turn === 0 ? {} : { turn }),
        outcome: 'result',
        observed,
        closing: translation.events,
        late: translation.late,
        value: translation.value,
        result: { success: true, href: '/', outcomes: outcomeOf(translation.value) },
      };
    case 'error':
      return {
        type: 'turn-ended',
        ...speaker,
        ...(turn === 0 ? {} : { turn }),
        outcome: 'error',
        observed,
        closing: translation.events,
        late: translation.late,
        error: { code: translation.code, message: translation.message },
      };
    case 'usage':
      return {
        type: 'usage',
        epoch: speaker.epoch,
        usage: translation.usage,
        source: translation.source,
        observed,
      };
    case 'ack':
      return { type: 'control-acked', ...speaker, observed, requestId: translation.id };
  }
}

export function sessionError(cause: unknown, exit?: AgentExit): SessionError {
  const tail = exit?.stderr ?? (cause instanceof AgentError ? cause.stderr : undefined);
  const stderr = tail === undefined || tail === '' ? {} : { stderr: tail };
  if (cause instanceof AgentError) return { code: cause.code, message: cause.message, ...stderr };
  return { code: 'internal', message: cause instanceof Error ? cause.message : String(cause), ...stderr };
}

function outcomeOf(value: JsonObject): LlmContent {
  return typeof value.text === 'string' ? textContent(value.text) : { role: 'model', parts: [{ json: value }] };
}
