import { pendingEntries, type QueueEntry } from '../queue/queue.ts';
import { command, type Draft, record } from './draft.ts';
import { deliveryTimeoutMs, startTimeoutMs } from './limits.ts';
import type { SessionState } from './session-state.ts';
import { canSteer, needsProcess, openRequests } from './status.ts';

/** Does what can be done next, in the same decision as what made it possible: one commit from wish to command. */
export function advance(draft: Draft): void {
  const { state } = draft;
  if (state.end !== undefined || state.control !== undefined) return;
  if (state.hold?.kind !== 'paused') releaseAnswers(draft);
  if (draft.state.hold !== undefined) return;
  if (needsProcess(draft.state)) {
    startProcess(draft);
    return;
  }
  dispatchNext(draft);
}

function releaseAnswers(draft: Draft): void {
  const { agentProcess } = draft.state;
  if (agentProcess.kind !== 'ready') return;
  for (const { requestId, held } of draft.state.requests.live.values()) {
    if (held === undefined) continue;
    record(draft, { type: 'answer-sent', requestId });
    command(draft, { type: 'answer', incarnation: agentProcess.incarnation, requestId, response: held.response });
  }
}

function startProcess(draft: Draft): void {
  const { state } = draft;
  if (state.slot.kind === 'none') record(draft, { type: 'slot-wanted' });
  if (state.slot.kind !== 'held' || state.owner === undefined) return;
  const incarnation = state.incarnations + 1;
  const deadline = draft.asked.at + startTimeoutMs;
  record(draft, { type: 'start-requested', incarnation, epoch: state.owner.epoch, deadline });
  command(draft, { type: 'start', incarnation, resume: state.everReady });
}

function dispatchNext(draft: Draft): void {
  const { state } = draft;
  if (state.agentProcess.kind !== 'ready' || state.owner === undefined) return;
  if (state.queue.inFlight !== undefined || openRequests(state).length > 0) return;
  const [next] = pendingEntries(state.queue);
  if (next === undefined) return;
  if (!state.turn.active) handOver(draft, next, 'prompt');
  else if (mayEnterTurn(state, next)) handOver(draft, next, 'steer');
}

/** Only an Immediate message enters a turn, and only where the agent can take it there. */
function mayEnterTurn(state: SessionState, entry: QueueEntry): boolean {
  return entry.priority === 'immediate' && canSteer(state) && !entry.steerRefused;
}

function handOver(draft: Draft, entry: QueueEntry, how: 'prompt' | 'steer'): void {
  const { state, asked } = draft;
  if (state.agentProcess.kind !== 'ready' || state.owner === undefined) return;
  const { incarnation } = state.agentProcess;
  const messageId = entry.id;
  // Derived, so that the pure room needs no ids: unique because a message id is, and dispatches are counted.
  const dispatchId = `${messageId}.${entry.dispatches + 1}`;
  const turn = how === 'prompt' ? state.turn.number + 1 : state.turn.number;
  record(draft, {
    type: 'message-dispatched',
    messageId,
    dispatchId,
    how,
    epoch: state.owner.epoch,
    incarnation,
    turn,
    deadline: asked.at + deliveryTimeoutMs,
  });
  if (how === 'prompt') record(draft, { type: 'turn-started', turn, messageId });
  command(draft, {
    type: 'deliver',
    incarnation,
    dispatchId,
    messageId,
    content: entry.content,
    ...(entry.objective === undefined ? {} : { objective: entry.objective }),
    how,
    turn,
  });
}
