import { unreachable } from '@concerto/base';
import { type Said, said } from '../driver-output.ts';
import type { CodexEnd } from './codex-translator.ts';
import { type Turn, wireTokens } from './codex-turn.ts';

/** Why a turn was stopped, if it was. */
export type CodexStop = { readonly broken: string | undefined; readonly isAsked: boolean };

/** What is told of the end of a turn; whoever has asked for it hears of it otherwise. */
export function endSaid(end: CodexEnd, turn: Turn, { broken, isAsked }: CodexStop, thread: string): readonly Said[] {
  if (broken !== undefined) return [said({ type: 'error', message: broken, code: 'tool_forbidden' })];
  switch (end.kind) {
    // It may have been done before it heard that it should stop; but not what it only waited for.
    case 'completed':
      return isAsked && turn.waitsFor !== '' ? [] : [resultOf(end, turn, thread)];
    case 'interrupted':
      return isAsked ? [] : [said({ type: 'error', message: 'the turn was interrupted', code: 'interrupted' })];
    case 'failed':
      return isAsked ? [] : [said({ type: 'error', message: end.message, code: end.code })];
    default:
      return unreachable(end);
  }
}

function resultOf(
  { text, message }: Extract<CodexEnd, { kind: 'completed' }>,
  { used, durationMs }: Turn,
  thread: string,
): Said {
  return said({
    type: 'result',
    text,
    usage: wireTokens(used),
    ...(thread === '' ? {} : { conversation: thread }),
    ...(message === undefined ? {} : { message }),
    ...(durationMs === undefined ? {} : { duration_ms: durationMs }),
  });
}
