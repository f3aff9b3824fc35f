import { spanText, unreachable } from '@concerto/base';
import { flyingEntry, pendingEntries, type QueueEntry } from '../queue/queue.ts';
import { advance } from './advance.ts';
import { budgetUnanswered } from './answer-budget.ts';
import { budgetDeadline, budgetRequestOf, isBudgetRequest } from './budget.ts';
import { command, type Draft, record } from './draft.ts';
import {
  cancelBelowMs,
  cancelKillAfterMs,
  cancelTerminateAfterMs,
  deliveryAttemptsMax,
  deliveryTimeoutMs,
  interruptSignalAfterMs,
  interruptTimeoutMs,
  parkAfterMs,
  resumeRepeatAfterMs,
  resumeTimeoutMs,
  starvationNoticeAfterMs,
} from './limits.ts';
import { mindBudget } from './mind-budget.ts';
import { askedOf, passOn } from './route.ts';
import type { SessionState } from './session-state.ts';
import { confirmControl, endCancelled, endFailed, endTurn, loseProcess } from './settle.ts';
import { isCutShort, needsProcess, openRequests, statusOf } from './status.ts';
import { turnCallId } from './turn-events.ts';
import { madeRoomText } from './view.ts';

type Deadline = { readonly at: number } & (
  | { readonly kind: 'control' | 'start' | 'park' | 'budget' }
  | { readonly kind: 'delivery' | 'starvation'; readonly entry: QueueEntry }
  | { readonly kind: 'question' | 'answer'; readonly requestId: string }
);

/** Every instant at which something must happen if nothing else does; derived, so it survives any restart. */
function deadlines(state: SessionState): readonly Deadline[] {
  if (state.end !== undefined) return [];
  const all: Deadline[] = [];
  const { control, agentProcess, queue } = state;
  if (control !== undefined) all.push({ kind: 'control', at: control.deadline });
  if (agentProcess.kind === 'starting') all.push({ kind: 'start', at: agentProcess.deadline });
  const takesAnswers = agentProcess.kind !== 'none' && control === undefined && state.hold === undefined;
  // Before those by which a process is given something: of two at one instant the first counts.
  for (const { requestId, waitsSince, answer } of state.requests.live.values()) {
    if (!takesAnswers || answer?.stage !== 'sent') continue;
    all.push({ kind: 'answer', at: waitsSince + deliveryTimeoutMs * deliveryAttemptsMax, requestId });
  }
  const flying = flyingEntry(queue);
  if (flying?.dispatch !== undefined) all.push({ kind: 'delivery', at: flying.dispatch.deadline, entry: flying });
  for (const entry of pendingEntries(queue)) {
    if (!entry.starved) all.push({ kind: 'starvation', at: entry.createdAt + starvationNoticeAfterMs, entry });
  }
  if (control === undefined && state.hold === undefined) {
    for (const request of openRequests(state)) {
      const { requestId, waitsSince } = request;
      const { withinMs } = askedOf(request);
      if (withinMs !== undefined) all.push({ kind: 'question', at: waitsSince + withinMs, requestId });
    }
  }
  const spent = budgetDeadline(state);
  if (spent !== undefined) all.push({ kind: 'budget', at: spent });
  // It is asked because the session is held, so that is no reason to wait.
  const request = budgetRequestOf(state);
  const { withinMs } = request === undefined ? {} : askedOf(request);
  if (request !== undefined && withinMs !== undefined) {
    const { requestId, waitsSince } = request;
    all.push({ kind: 'question', at: waitsSince + withinMs, requestId });
  }
  if (isQuiet(state)) all.push({ kind: 'park', at: state.activeAt + parkAfterMs });
  return all;
}

/** It has a place and nothing to do with it until somebody asks for something. */
function isQuiet(state: SessionState): boolean {
  const status = statusOf(state);
  const quiet = status === 'idle' || status === 'interrupted';
  return quiet && state.queue.inFlight === undefined && state.slot.kind === 'held';
}

function earliest(state: SessionState): Deadline | undefined {
  return deadlines(state).reduce<Deadline | undefined>(
    (best, deadline) => (best === undefined || deadline.at < best.at ? deadline : best),
    undefined,
  );
}

/** Until when nobody need own it, in milliseconds since the epoch; undefined when it does not rest. */
export function restsUntil(state: SessionState): number | undefined {
  if (state.rests === undefined) return undefined;
  return Math.min(state.rests.until ?? Number.MAX_SAFE_INTEGER, nextDeadline(state) ?? Number.MAX_SAFE_INTEGER);
}

/** When to send `expire`, in milliseconds since the epoch, or undefined when nothing is awaited. */
export function nextDeadline(
  state: SessionState,
  { parks = true }: { readonly parks?: boolean } = {},
): number | undefined {
  const next = earliest(state);
  // It is the only one of a session that has nothing to do.
  return next?.kind === 'park' && !parks ? undefined : next?.at;
}

/** Each expiry moves its deadline on or removes it, so this ends; the bound only catches our own mistakes. */
const expiriesMax = 1_000;

export function expire(draft: Draft): void {
  for (let count = 0; count < expiriesMax; count++) {
    const due = earliest(draft.state);
    if (due === undefined || due.at > draft.asked.at) return;
    passed(draft, due);
  }
}

function passed(draft: Draft, due: Deadline): void {
  switch (due.kind) {
    case 'control':
      return controlPassed(draft);
    case 'start':
      kill(draft, 'the agent did not start in time');
      loseProcess(draft, { why: 'start-timeout', error: startTimeout });
      return advance(draft);
    case 'delivery':
      return deliveryPassed(draft, due.entry);
    case 'starvation':
      record(draft, {
        type: 'message-starved',
        messageId: due.entry.id,
        waitedMs: draft.asked.at - due.entry.createdAt,
      });
      return;
    case 'question':
      return questionPassed(draft, due.requestId);
    case 'answer':
      kill(draft, tookNoAnswer);
      loseProcess(draft, { why: 'unresponsive', reason: tookNoAnswer });
      return advance(draft);
    case 'budget':
      return mindBudget(draft);
    case 'park':
      return park(draft, { reason: 'nothing to do' });
    default:
      return unreachable(due);
  }
}

const tookNoAnswer = 'the agent took no answer';
const startTimeout = { code: 'start_timeout', message: 'the agent did not start in time' };

function kill(draft: Draft, reason: string): void {
  const { agentProcess, owner } = draft.state;
  if (agentProcess.kind === 'none' || owner === undefined) return;
  command(draft, { type: 'kill', incarnation: agentProcess.incarnation, reason });
}

/** The ladder of each request: a second, stronger word, and at the end the state itself, by force. */
function controlPassed(draft: Draft): void {
  const { control, agentProcess, capabilities } = draft.state;
  if (control === undefined) return;
  const { kind, requestId, step } = control;
  const next = (deadlineMs: number) => {
    const deadline = Math.max(draft.asked.at, control.deadline) + deadlineMs;
    record(draft, { type: 'control-escalated', kind, requestId, step: step + 1, deadline });
  };
  if (agentProcess.kind === 'none') {
    if (kind !== 'cancel') confirmControl(draft, 'forced');
    else if (step === 0 && belowEndMs(draft.state) > 0) next(cancelLastMs(draft.state));
    else endCancelled(draft, 'forced');
    return;
  }
  const { incarnation } = agentProcess;
  switch (kind) {
    case 'interrupt':
      if (step > 0 || draft.asked.at >= control.since + interruptTimeoutMs) return forceInterrupt(draft);
      next(interruptTimeoutMs - interruptSignalAfterMs);
      // One that never announced `interrupt` had its SIGINT at once; one that did so late has been asked since.
      if (!capabilities.includes('interrupt')) command(draft, { type: 'terminate', incarnation, requestId });
      return;
    case 'pause':
      command(draft, { type: 'freeze', incarnation, requestId });
      return confirmControl(draft, 'forced');
    case 'resume':
      if (step > 0) return forceResume(draft);
      next(resumeTimeoutMs - resumeRepeatAfterMs);
      command(draft, { type: 'resume', incarnation, requestId, frozen: true });
      return;
    case 'cancel':
      if (step > 0) {
        kill(draft, 'the session was cancelled');
        return endCancelled(draft, 'forced');
      }
      next(cancelLastMs(draft.state));
      // What is below was told to end, and is on the same ladder: whoever waits for it is over after it.
      if (belowEndMs(draft.state) === 0) command(draft, { type: 'terminate', incarnation, requestId });
      return;
  }
}

function cancelLastMs(state: SessionState): number {
  return cancelKillAfterMs - cancelTerminateAfterMs + belowEndMs(state);
}

/** How much longer than what it opened a session may take to end. */
function belowEndMs({ kind, children }: SessionState): number {
  return kind === 'agent' || children.size === 0 ? 0 : cancelBelowMs[kind];
}

function forceInterrupt(draft: Draft): void {
  kill(draft, 'the agent did not stop when interrupted');
  endTurn(draft, 'interrupted');
  confirmControl(draft, 'forced');
  loseProcess(draft, { why: 'forced' });
  advance(draft);
}

/** An agent that does not go on when told is ended; what it was doing is lost, what is queued is kept. */
function forceResume(draft: Draft): void {
  kill(draft, 'the agent did not go on when resumed');
  confirmControl(draft, 'forced');
  loseProcess(draft, { why: 'forced' });
  if (draft.state.end === undefined && draft.state.hold === undefined) {
    record(draft, { type: 'queue-held', reason: 'forced' });
  }
}

function deliveryPassed(draft: Draft, entry: QueueEntry): void {
  const { dispatch } = entry;
  const { agentProcess, turn, hold, control } = draft.state;
  if (dispatch === undefined) return;
  const { dispatchId, how, attempt, incarnation } = dispatch;
  const mayRepeat = turn.active && hold === undefined && control === undefined && agentProcess.kind === 'ready';
  if (mayRepeat && attempt < deliveryAttemptsMax) {
    const deadline = Math.max(draft.asked.at, dispatch.deadline) + deliveryTimeoutMs;
    record(draft, { type: 'message-redispatched', messageId: entry.id, dispatchId, deadline });
    command(draft, {
      type: 'deliver',
      incarnation,
      dispatchId,
      messageId: entry.id,
      content: entry.content,
      ...(entry.objective === undefined ? {} : { objective: entry.objective }),
      ...(entry.context === undefined ? {} : { context: entry.context }),
      how,
      turn: dispatch.turn,
    });
    return;
  }
  if (mayRepeat && how === 'prompt') {
    // A turn whose prompt was never taken will not end by itself.
    kill(draft, 'the agent took no message');
    loseProcess(draft, { why: 'unresponsive' });
    return;
  }
  record(draft, {
    type: 'message-uncertain',
    messageId: entry.id,
    dispatchId,
    reason: 'the agent did not confirm it in time',
  });
  advance(draft);
}

/** What was said beforehand happens: a no, an answer, an end; never a yes that nobody gave. */
function questionPassed(draft: Draft, requestId: string): void {
  const request = draft.state.requests.live.get(requestId);
  if (request === undefined) return;
  const { event, onTimeout = 'deny', answerWithinMs = 0, routedTo = 'person' } = request;
  record(draft, { type: 'request-timed-out', requestId, asked: routedTo });
  if (routedTo !== 'person') {
    passOn(draft, request, `${routedTo} did not answer within ${spanText(askedOf(request).withinMs ?? 0)}`);
    return;
  }
  if (onTimeout === 'keep') return;
  const reason = `nobody answered within ${spanText(answerWithinMs)}`;
  draft.reason = reason;
  if (isBudgetRequest(request)) return budgetUnanswered(draft, request, reason);
  if (onTimeout === 'fail') {
    failTurn(draft, requestId, reason);
  } else if (onTimeout.startsWith('answer:')) {
    const response = onTimeout.slice('answer:'.length);
    record(draft, { type: 'request-answered', requestId, response, held: true, by: 'timeout', reason });
  } else if (event.type === 'queryConsent') {
    record(draft, { type: 'request-answered', requestId, response: false, held: true, by: 'timeout', reason });
  } else {
    withdraw(draft, requestId, reason);
  }
  advance(draft);
}

/** As a turn that took too long: it has failed, and its process, which waits for an answer, is ended; nobody was lost. */
function failTurn(draft: Draft, requestId: string, message: string): void {
  const { turn, once } = draft.state;
  const error = { code: 'timeout', message };
  const said = { $error: message, metadata: { origin: 'server' } } as const;
  draft.observed.push({ type: 'subagentError', callId: turnCallId(turn.number), error: said });
  record(draft, { type: 'request-withdrawn', requestId, reason: message });
  endTurn(draft, 'error', { error });
  if (once) return endFailed(draft, error);
  kill(draft, message);
  loseProcess(draft, { why: 'forced' });
}

/** The agent hears that no answer came, and decides itself how to go on. */
function withdraw(draft: Draft, requestId: string, reason: string): void {
  const { agentProcess } = draft.state;
  record(draft, { type: 'request-withdrawn', requestId, reason });
  if (agentProcess.kind !== 'ready') return;
  command(draft, { type: 'withdraw', incarnation: agentProcess.incarnation, requestId, reason });
}

/** A quiet session gives way to one that needs its place. */
export function makeRoom(draft: Draft, madeRoomFor: string): void {
  const { control, parent, turn } = draft.state;
  if (!isQuiet(draft.state) || control !== undefined) return;
  // Opened for a call and just come up: what it is to do follows at once.
  if (parent !== undefined && turn.number === 0) return;
  draft.reason = madeRoomText(madeRoomFor);
  park(draft, { reason: 'another session needed its place', madeRoomFor });
}

/** Without a process, and without anything for which it would start one, a session holds no slot. */
export function yieldSlot(draft: Draft): void {
  const { end, agentProcess, slot, hold } = draft.state;
  if (end !== undefined || slot.kind !== 'held' || agentProcess.kind !== 'none') return;
  // Somebody must own it, to take what it is answered while it is held.
  if (isCutShort(draft.state)) return;
  if (needsProcess(draft.state) && hold === undefined) return;
  record(draft, { type: 'parked', reason: 'it has no process' });
}

/** A quiet session gives its slot back; its next message brings it up again. */
function park(draft: Draft, why: { readonly reason: string; readonly madeRoomFor?: string }): void {
  const { agentProcess, owner } = draft.state;
  if (agentProcess.kind !== 'none' && owner !== undefined) {
    command(draft, { type: 'stop', incarnation: agentProcess.incarnation, reason: 'parked' });
  }
  record(draft, { type: 'parked', ...why });
}
