import type { AgentResult, LifecycleVerb, SessionError, SessionRecord } from '@concerto/protocol';
import { flyingEntry, listedEntries } from '../queue/queue.ts';
import { isBudgetRequest, isBudgetsControl } from './budget.ts';
import { command, type Draft, record } from './draft.ts';
import { dispatchAttemptsMax } from './limits.ts';
import type { SessionState } from './session-state.ts';
import { mayHaveChildren, wasAsked } from './status.ts';

type Confirmation = Extract<SessionRecord, { type: 'control-confirmed' }>['by'];

const ackTypes = {
  interrupt: 'interrupt_ack',
  pause: 'pause_ack',
  resume: 'resume_ack',
  cancel: 'stop_ack',
} as const satisfies Record<LifecycleVerb, string>;

/** Completes the request under way. It is acknowledged on the stream unless nobody did it and it had to be forced. */
export function confirmControl(draft: Draft, by: Confirmation): void {
  const { control, owner } = draft.state;
  if (control === undefined) return;
  const { kind, requestId, messageSince } = control;
  record(draft, { type: 'control-confirmed', kind, requestId, epoch: owner?.epoch, by });
  if (by === 'forced') draft.reason = 'forced';
  if (by !== 'forced') draft.acks.push({ type: ackTypes[kind], requestId, epoch: owner?.epoch ?? draft.state.epoch });
  // "Stop, and do this instead": the message that followed the interrupt already says how to go on.
  if (kind === 'interrupt' && messageSince) record(draft, { type: 'queue-continued' });
}

/** Closes what waits for an answer, and answers that were never handed over. One that was still gets its confirmation. */
export function withdrawRequests(draft: Draft, reason: string): readonly string[] {
  const withdrawn: string[] = [];
  for (const request of draft.state.requests.live.values()) {
    const { requestId, answer } = request;
    // What the session itself asks outlives the turn and the process.
    if (answer?.stage === 'sent' || isBudgetRequest(request)) continue;
    record(draft, { type: 'request-withdrawn', requestId, reason });
    withdrawn.push(requestId);
  }
  return withdrawn;
}

/** Nobody is left to confirm an answer: whoever looks at the session is told that the agent may not have it. */
function withdrawUnconfirmed(draft: Draft, why: string): void {
  for (const { requestId, answer } of draft.state.requests.live.values()) {
    if (answer === undefined) continue;
    const reason = `${why} before it had confirmed the answer`;
    record(draft, { type: 'request-withdrawn', requestId, reason });
    draft.reason ??= reason;
  }
}

type TurnEnd = Extract<SessionRecord, { type: 'turn-ended' }>;
type TurnOutcome = TurnEnd['outcome'];

/** Closes the turn, if one runs, and whatever was asked in it. */
export function endTurn(draft: Draft, outcome: TurnOutcome, told: Pick<TurnEnd, 'value' | 'error'> = {}): void {
  const { turn } = draft.state;
  withdrawRequests(draft, withdrawnBecause[outcome]);
  withdrawUnconfirmed(draft, withdrawnBecause[outcome]);
  if (turn.active) record(draft, { type: 'turn-ended', turn: turn.number, outcome, ...told });
}

const withdrawnBecause: Readonly<Record<TurnOutcome, string>> = {
  result: 'the turn ended',
  error: 'the turn failed',
  interrupted: 'the turn was interrupted',
  lost: 'the agent was lost',
  cancelled: 'the session was cancelled',
};

type Loss = Extract<SessionRecord, { type: 'process-lost' }>['why'];

export type LostProcess = {
  readonly why: Loss;
  readonly error?: SessionError | undefined;
  /** In place of the usual words. */
  readonly reason?: string | undefined;
  readonly undelivered?: readonly string[] | undefined;
};

/** The agent's process is gone: closes what was open in it and decides what the session is now. */
export function loseProcess(draft: Draft, lost: LostProcess): void {
  const { agentProcess, turn } = draft.state;
  if (agentProcess.kind === 'none') return;
  if (changesOwner(lost.why) && outlivesOwner(draft.state))
    return passOn(draft, { incarnation: agentProcess.incarnation, why: lost.why });
  const before = draft.state;
  const wasStarting = agentProcess.kind === 'starting';
  const turnLost = turn.active;
  record(draft, { type: 'process-lost', incarnation: agentProcess.incarnation, why: lost.why, error: lost.error });
  const returned = settleInFlight(draft, lost.undelivered ?? []);
  // Whoever ran it was to end its agents first, and is gone: they are waited for without it, in its turn.
  if (before.control?.kind === 'cancel' && mayHaveChildren(before)) return;
  const interrupting = draft.state.control?.kind === 'interrupt';
  endTurn(draft, interrupting ? 'interrupted' : 'lost', wasAsked(draft.state) ? {} : { error: lost.error });
  const why = lost.error?.message ?? lost.reason ?? lossText[lost.why];
  const message = changesOwner(lost.why) && turnLost ? `${why}; ${whatWasLost(before, draft.state)}` : why;
  if (!wasAsked(draft.state)) draft.reason ??= message;

  const { control } = draft.state;
  if (control?.kind === 'cancel') {
    endCancelled(draft, 'exit');
    return;
  }
  if (control !== undefined) {
    // Past its first step nobody had answered: what ended the process was our force.
    confirmControl(draft, control.kind === 'interrupt' && control.step > 0 ? 'forced' : 'exit');
    if (control.kind === 'interrupt') return;
  }
  if (turnLost && draft.state.once && !returned) {
    endFailed(draft, lost.error ?? { code: 'agent_lost', message });
  } else if (turnLost && !returned) {
    record(draft, { type: 'queue-held', reason: message });
  } else if (wasStarting && !changesOwner(lost.why)) {
    startFailed(draft, lost.error ?? { code: 'start_failed', message });
  }
}

/** For whoever decides how to go on. */
function whatWasLost({ turn, requests }: SessionState, { queue }: SessionState): string {
  const open = [...requests.live.values()].filter(({ state }) => state === 'open').length;
  const uncertain = listedEntries(queue).filter(({ state }) => state === 'uncertain').length;
  return [
    `turn ${turn.number} was cut`,
    ...(open === 0 ? [] : [open === 1 ? 'its open request was withdrawn' : `its ${open} open requests were withdrawn`]),
    ...(uncertain === 0 ? [] : ['whether its last message was read is not known']),
  ].join(', ');
}

/**
 * Its turn is in the log, and nobody wants it to end: a program's is in its journal; an assistant's is all there while
 * it asks somebody, since then its model is not at work.
 */
export function outlivesOwner(state: SessionState): boolean {
  const { kind, turn, requests } = state;
  if (!turn.active || wasAsked(state)) return false;
  const isAsking = [...requests.live.values()].some((request) => !isBudgetRequest(request));
  return kind === 'program' || (kind === 'assistant' && isAsking);
}

/** Its turn goes on, and whatever it asked stays asked. Its prompt is in the log, or read again from the queue. */
function passOn(draft: Draft, { incarnation, why }: { readonly incarnation: number; readonly why: Loss }): void {
  record(draft, { type: 'process-lost', incarnation, why });
  const entry = flyingEntry(draft.state.queue);
  if (entry?.dispatch !== undefined) {
    const { dispatchId, how, epoch } = entry.dispatch;
    record(draft, { type: 'message-delivered', messageId: entry.id, dispatchId, how, epoch });
  }
  if (draft.state.control !== undefined) confirmControl(draft, 'exit');
}

const lossText: Readonly<Record<Loss, string>> = {
  exited: 'the agent exited',
  'start-failed': 'the agent could not be started',
  'start-timeout': 'the agent did not start in time',
  'taken-over': 'the agent was lost with its runner',
  'handed-over': 'the agent was stopped with its runner',
  forced: 'forced',
  unresponsive: 'the agent took no message',
};

function changesOwner(why: Loss): boolean {
  return why === 'taken-over' || why === 'handed-over';
}

/** What was asked for stays in the queue: it is tried again by `resume` or with the next message. */
function startFailed(draft: Draft, error: SessionError): void {
  if (draft.state.once) endFailed(draft, error);
  else record(draft, { type: 'queue-held', reason: error.message });
}

/**
 * A message that was handed over and never confirmed may or may not have been read: only a person sends it again.
 * Tells whether it certainly was not, so that it waits in the queue again.
 */
function settleInFlight(draft: Draft, undelivered: readonly string[]): boolean {
  const entry = flyingEntry(draft.state.queue);
  if (entry?.dispatch === undefined) return false;
  const { id: messageId, dispatches } = entry;
  const { dispatchId } = entry.dispatch;
  if (!undelivered.includes(dispatchId)) {
    record(draft, { type: 'message-uncertain', messageId, dispatchId, reason: 'the agent may have received it' });
    return false;
  }
  record(draft, { type: 'message-returned', messageId, dispatchId, reason: 'the agent never received it' });
  return dispatches < dispatchAttemptsMax;
}

export function endCancelled(draft: Draft, by: Confirmation): void {
  const own = by === 'forced' ? 'forced' : 'cancelled';
  const reason = isBudgetsControl(draft.state.control?.requestId) ? 'budget' : own;
  confirmControl(draft, by);
  endSession(draft, { status: 'cancelled', reason });
}

export function endFailed(draft: Draft, error: SessionError): void {
  endSession(draft, { status: 'failed', reason: error.message, error });
}

export type Ending = {
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly reason?: string;
  readonly error?: SessionError;
  readonly result?: AgentResult;
};

/** The last decision of a session: nothing stays open, nothing stays pending, no process stays alive. */
export function endSession(draft: Draft, ending: Ending): void {
  const { agentProcess, control, owner } = draft.state;
  endTurn(draft, ending.status === 'cancelled' ? 'cancelled' : 'lost', { error: ending.error });
  for (const { requestId } of draft.state.requests.live.values()) {
    record(draft, { type: 'request-withdrawn', requestId, reason: `the session is ${ending.status}` });
  }
  for (const entry of listedEntries(draft.state.queue)) {
    const messageId = entry.id;
    const mayHaveIt = entry.state !== 'pending';
    if (entry.dispatch !== undefined) {
      const { dispatchId } = entry.dispatch;
      record(draft, { type: 'message-uncertain', messageId, dispatchId, reason: 'the agent may have received it' });
    }
    const over = `the session is ${ending.status}`;
    const reason = mayHaveIt ? `${over}; the agent may have received it` : over;
    record(draft, { type: 'message-cancelled', messageId, reason });
  }
  const { settingsAsked } = draft.state;
  if (settingsAsked !== undefined) {
    const { requestId, params } = settingsAsked;
    record(draft, { type: 'settings-refused', requestId, params, reason: `the session is ${ending.status}` });
  }
  if (control !== undefined && draft.state.control !== undefined) {
    record(draft, {
      type: 'control-superseded',
      kind: control.kind,
      requestId: control.requestId,
      by: ending.status,
    });
  }
  record(draft, { type: 'ended', ...ending });
  draft.reason = ending.reason;
  if (agentProcess.kind !== 'none' && owner !== undefined) {
    command(draft, { type: 'stop', incarnation: agentProcess.incarnation, reason: 'ended' });
  }
}
