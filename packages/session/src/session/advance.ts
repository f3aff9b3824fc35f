import { pendingEntries, type QueueEntry } from '../queue/queue.ts';
import { isOverBudget } from './budget.ts';
import { command, type Draft, record } from './draft.ts';
import { deliveryTimeoutMs, startTimeoutMs } from './limits.ts';
import type { SessionState } from './session-state.ts';
import { canSteer, needsProcess, nextTurn, openRequests } from './status.ts';

/**
 * Does what can be done next. Only the owner's own words lead here, or a wish decided in its place: what is handed over
 * was decided under the owner's fence, so a message that no living owner saw is pending, not uncertain.
 */
export function advance(draft: Draft): void {
  const { state } = draft;
  if (state.end !== undefined) return;
  takeAnswers(draft);
  if (state.control !== undefined || state.hold !== undefined || isOverBudget(state)) return;
  if (needsProcess(draft.state)) {
    startProcess(draft);
    return;
  }
  dispatchNext(draft);
}

/** After a wish: asks the pool for what is needed, and calls the owner, unless it is here, for what it could do now. */
export function wake(draft: Draft): void {
  const { end, control, hold, owner } = draft.state;
  if (end === undefined && control === undefined && hold === undefined && needsProcess(draft.state)) wantSlot(draft);
  const { attending } = draft.asked;
  if (attending !== undefined && attending.epoch === owner?.epoch) {
    const owners: Draft = { ...draft, asked: { ...draft.asked, actor: attending.actor } };
    advance(owners);
    draft.state = owners.state;
    return;
  }
  const trial: Draft = { ...draft, records: [], commands: [], acks: [], observed: [] };
  advance(trial);
  if (trial.commands.length > 0 || trial.records.length > 0) command(draft, { type: 'attend' });
}

function wantSlot(draft: Draft): void {
  if (draft.state.slot.kind !== 'none') return;
  // A program holds no place of the pool: its agents do.
  record(draft, { type: draft.state.kind === 'program' ? 'slot-granted' : 'slot-wanted' });
}

/** Hands over what was answered, or keeps it while the session is held: either way a living owner has it. */
function takeAnswers(draft: Draft): void {
  const { agentProcess, control, hold } = draft.state;
  const goesOn = control === undefined && hold?.kind !== 'paused' && !isOverBudget(draft.state);
  for (const { requestId, answer } of draft.state.requests.live.values()) {
    if (answer === undefined || answer.stage === 'sent') continue;
    if (goesOn && agentProcess.kind === 'ready') {
      record(draft, { type: 'answer-sent', requestId });
      command(draft, {
        type: 'answer',
        incarnation: agentProcess.incarnation,
        requestId,
        response: answer.response,
        ...(answer.line === undefined ? {} : { line: answer.line }),
        ...(answer.reason === undefined ? {} : { reason: answer.reason }),
      });
    } else if (answer.stage === 'offered') {
      record(draft, { type: 'answer-kept', requestId });
    }
  }
}

function startProcess(draft: Draft): void {
  wantSlot(draft);
  const { state } = draft;
  if (state.slot.kind !== 'held' || state.owner === undefined) return;
  const incarnation = state.incarnations + 1;
  const deadline = draft.asked.at + Math.max(startTimeoutMs, state.owner.startWithinMs ?? 0);
  record(draft, { type: 'start-requested', incarnation, epoch: state.owner.epoch, deadline });
  command(draft, { type: 'start', incarnation, resume: state.everReady, epoch: state.owner.epoch });
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
  const turn = how === 'prompt' ? nextTurn(state) : state.turn.number;
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
    ...(entry.context === undefined ? {} : { context: entry.context }),
    how,
    turn,
  });
}
