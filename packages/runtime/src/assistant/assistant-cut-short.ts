import type { Request } from '@concerto/session';
import { replyTo } from '../agent/translate.ts';
import type { AssistantCall, CallResult } from './assistant-history.ts';
import type { AssistantTool } from './assistant-tools.ts';
import type { Steer } from './assistant-turn.ts';

/** What the model is told of a call of which nobody knows how it ended. */
export const lostText = 'lost: it may or may not have been done';

/** A turn whose owner was lost while somebody was asked in it, as far as the log has it. */
export type CutShort = {
  /** How often the model was asked. */
  readonly steps: number;
  /** The calls of its last step, and the results that are there. */
  readonly calls: readonly AssistantCall[];
  readonly results: ReadonlyMap<string, CallResult>;
  /** What was said into it, and not heard yet. */
  readonly steered: readonly Steer[];
  /** All that was asked about each call, oldest first. */
  readonly asked: ReadonlyMap<string, readonly Request[]>;
};

/** What becomes of the calls of its last step: some go on, of the others each has a result. */
export type CutStep = Pick<CutShort, 'steps' | 'calls' | 'results'> & { readonly lost: readonly AssistantCall[] };

/** A call goes on where nothing of it can have been done that must not be done twice. */
export function cutStep(
  { steps, calls, results, asked }: CutShort,
  tools: ReadonlyMap<string, AssistantTool>,
): CutStep {
  const lost = calls.filter(({ id, name }) => {
    const tool = tools.get(name);
    return !results.has(id) && (tool === undefined || !mayGoOn(tool, asked.get(id)?.[0]));
  });
  const all = new Map(results);
  for (const { id, name } of lost) all.set(id, { id, name, text: lostText, failed: true });
  return { steps, calls, results: all, lost };
}

/** `leave`: the first that was asked about it. */
function mayGoOn({ asks, repeats = false }: AssistantTool, leave: Request | undefined): boolean {
  if (repeats) return true;
  if (!asks) return false;
  const isGiven = leave?.state === 'answered' && (leave.answer === undefined || leave.answer.stage === 'sent');
  return !isGiven || replyTo(leave.event, { response: leave.given ?? null }).value !== 'yes';
}
