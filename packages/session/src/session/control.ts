import { err, ok } from '@concerto/base';
import type { LifecycleVerb } from '@concerto/protocol';
import { find } from '../archive.ts';
import { wake } from './advance.ts';
import { budgetRequestOf, isBudgetRequest } from './budget.ts';
import { command, type Draft, record } from './draft.ts';
import { isoTime } from './iso-time.ts';
import { lifecycleMatrix } from './lifecycle-matrix.ts';
import {
  cancelTerminateAfterMs,
  interruptSignalAfterMs,
  interruptTimeoutMs,
  pauseTimeoutMs,
  resumeRepeatAfterMs,
} from './limits.ts';
import type { Refusal, Wish } from './session-command.ts';
import type { SessionState } from './session-state.ts';
import { confirmControl, endCancelled, endTurn, withdrawRequests } from './settle.ts';
import { announces, isCutShort, mayHaveChildren, openRequests, statusOf } from './status.ts';

/** When the first step of each request's ladder is due. */
function firstDeadlineMs(state: SessionState, kind: LifecycleVerb): number {
  switch (kind) {
    case 'interrupt':
      // One that said it can has all the time there is to do it.
      return announces(state, 'interrupt') ? interruptTimeoutMs : interruptSignalAfterMs;
    case 'pause':
      return pauseTimeoutMs;
    case 'resume':
      return resumeRepeatAfterMs;
    case 'cancel':
      return cancelTerminateAfterMs;
  }
}

type Verdict = { readonly ok: true; readonly value: undefined } | { readonly ok: false; readonly error: Refusal };

type ControlWish = Extract<Wish, { type: 'control' }>;

export function requestControl(draft: Draft, { kind, requestId, goOn, alone }: ControlWish): Verdict {
  const { state } = draft;
  // The same wish again, from a client that lost the answer.
  if (state.control?.requestId === requestId || find(state.settledControls, requestId) !== undefined) {
    return ok(undefined);
  }
  const permission = lifecycleMatrix[statusOf(state)][kind];
  const refusal = refusalOf(state, kind, permission);
  if (refusal !== undefined) return err(refusal);

  if (state.control !== undefined) {
    const { kind: older, requestId: olderId } = state.control;
    record(draft, { type: 'control-superseded', kind: older, requestId: olderId, by: requestId });
  }
  if (kind === 'resume' && goOn !== undefined && canGoOn(state)) {
    const words = { content: goOnText, priority: 'immediate', source: 'system' } as const;
    record(draft, { type: 'message-enqueued', messageId: goOn, ...words });
  }
  const deadline = draft.asked.at + firstDeadlineMs(state, kind);
  record(draft, { type: 'control-requested', kind, requestId, epoch: state.owner?.epoch, deadline });
  if (permission === 'direct' || !concernsAgent(state, kind)) confirmHere(draft, kind, alone);
  else askAgent(draft, kind, requestId);
  return ok(undefined);
}

/** What an agent is told that has its conversation, but not the turn in which it was lost. */
const goOnText = 'continue';

/** It was lost in the middle of a turn, and nobody has said yet how to go on. A prompt that nobody read is only given again. */
export function canGoOn(state: SessionState): boolean {
  return statusOf(state) === 'interrupted' && state.turn.isCut === true && state.turn.isUnread !== true;
}

function refusalOf(state: SessionState, kind: LifecycleVerb, permission: string): Refusal | undefined {
  const status = statusOf(state);
  if (permission === 'wrong') {
    return { code: 'wrong_status', status, message: `a session that is ${status} cannot be asked to ${kind}` };
  }
  if (kind === 'resume' && budgetRequestOf(state) !== undefined) {
    const message = 'the budget is used up: answer its request with "more" or "stop"';
    return { code: 'over_budget', message };
  }
  if (permission !== 'busy' || state.control === undefined) return undefined;
  const { kind: running, since, requestId } = state.control;
  return {
    code: 'lifecycle_request_in_progress',
    kind: running,
    since: isoTime(since),
    requestId,
    message: `the session is ${status} since ${isoTime(since)}`,
  };
}

/** Whether somebody beside us must act, so that the request has to wait for a word. */
function concernsAgent(state: SessionState, kind: LifecycleVerb): boolean {
  if (state.agentProcess.kind === 'none') return false;
  switch (kind) {
    case 'interrupt':
      // A message that waits to be handed over is held, and there is no turn to stop.
      return state.turn.active;
    case 'cancel':
      return true;
    case 'pause':
      // An agent that cannot pause is already held while it waits for an answer.
      return state.turn.active && (announces(state, 'pause') || openRequests(state).every(isBudgetRequest));
    case 'resume':
      return state.hold?.agentHolds === true;
  }
}

function confirmHere(draft: Draft, kind: LifecycleVerb, alone = false): void {
  if (kind === 'cancel') {
    if (alone || !mayHaveChildren(draft.state)) endCancelled(draft, 'domain');
    // Its agents end first: it waits for them, and asks nobody any more.
    else withdrawRequests(draft, 'the session was cancelled');
    return;
  }
  // Of a turn that nobody works on just now nobody else can say that it is over.
  if (kind === 'interrupt' && isCutShort(draft.state)) endTurn(draft, 'interrupted');
  confirmControl(draft, 'domain');
  wake(draft);
}

/** What is done where the agent has not announced that it can be asked. */
const insteadOf: Readonly<Record<LifecycleVerb, string | undefined>> = {
  interrupt: 'the agent cannot be asked to: its process is signalled',
  pause: 'the agent cannot be asked to: it is held at the end of the turn',
  resume: undefined,
  cancel: 'the agent cannot be asked to: its process is ended',
};

function askAgent(draft: Draft, kind: LifecycleVerb, requestId: string): void {
  const { agentProcess, hold } = draft.state;
  if (agentProcess.kind === 'none') return;
  const { incarnation } = agentProcess;
  if (!announces(draft.state, kind)) draft.reason = insteadOf[kind];
  if (kind === 'interrupt' || kind === 'cancel') {
    const reason = kind === 'interrupt' ? 'the turn was interrupted' : 'the session was cancelled';
    for (const question of withdrawRequests(draft, reason)) {
      command(draft, { type: 'withdraw', incarnation, requestId: question, reason });
    }
  }
  if (kind === 'resume') command(draft, { type: 'resume', incarnation, requestId, frozen: hold?.frozen === true });
  else command(draft, { type: kind, incarnation, requestId });
}
