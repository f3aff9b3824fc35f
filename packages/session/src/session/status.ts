import type { LifecycleVerb, SessionStatus, SuspendEvent } from '@concerto/protocol';
import { closedValues, find } from '../archive.ts';
import { hasPending } from '../queue/queue.ts';
import type { Request, SessionState } from './session-state.ts';

const statusDuring: Readonly<Record<LifecycleVerb, SessionStatus>> = {
  interrupt: 'interrupting',
  pause: 'pausing',
  resume: 'resuming',
  cancel: 'cancelling',
};

/** The one status users see: final over a request under way, over a hold, over an open question, over the turn. */
export function statusOf(state: SessionState): SessionStatus {
  if (state.end !== undefined) return state.end.status;
  if (state.control !== undefined) return statusDuring[state.control.kind];
  if (state.hold !== undefined) return state.hold.kind;
  const question = firstOpen(state);
  if (question !== undefined) return waitingStatus(question.event);
  if (state.turn.active) return 'running';
  if (state.agentProcess.kind === 'starting') return 'starting';
  if (needsProcess(state)) return 'queued';
  // What the owner is about to hand over counts as work: a client that waits for `idle` must not see it in between.
  return hasPending(state.queue) ? 'running' : 'idle';
}

export function waitingStatus(event: SuspendEvent): 'waitingForInput' | 'waitingForApproval' {
  return event.type === 'queryConsent' ? 'waitingForApproval' : 'waitingForInput';
}

function firstOpen({ requests }: SessionState): Request | undefined {
  for (const request of requests.live.values()) if (request.state === 'open') return request;
  return undefined;
}

/** Those that are over. One whose prompt nobody read was none. */
export function turnsOver({ turn }: SessionState): number {
  return turn.number - (turn.active || turn.isUnread === true ? 1 : 0);
}

/** The number of the turn that begins next. */
export function nextTurn({ turn }: SessionState): number {
  return turn.isUnread === true ? turn.number : turn.number + 1;
}

/** Oldest first. */
export function openRequests(state: SessionState): readonly Request[] {
  return [...state.requests.live.values()].filter((request) => request.state === 'open');
}

/** All that was asked about a call, oldest first. */
export function requestsAbout({ requests }: SessionState, callId: string): readonly Request[] {
  return [...closedValues(requests), ...requests.live.values()]
    .filter(({ event }) => event.callId === callId)
    .toSorted((a, b) => a.since - b.since);
}

/** All that it waits for are answers of people, or of the program that called it: nothing comes of it by itself. */
export function onlyWaits(state: SessionState): boolean {
  if (state.end !== undefined || state.control !== undefined || !state.turn.active) return false;
  const live = [...state.requests.live.values()];
  return (
    live.length > 0 &&
    live.every((request) => request.state === 'open' && (isToPerson(request) || isToProgram(request)))
  );
}

/** The program that called its agent is to answer. */
export function isToProgram({ routedTo }: Pick<Request, 'routedTo'>): boolean {
  return routedTo?.startsWith('program:') === true;
}

export function isToPerson({ routedTo = 'person' }: Pick<Request, 'routedTo'>): boolean {
  return routedTo === 'person';
}

/** It has no process, and the last try to start one failed: it waits for somebody to try again. */
export function couldNotStart({ agentProcess, hold, error }: SessionState): boolean {
  return agentProcess.kind === 'none' && hold?.kind === 'interrupted' && error !== undefined;
}

/** Answered or withdrawn; one that is not known is not. */
export function isSettled(state: SessionState, requestId: string): boolean {
  const request = find(state.requests, requestId);
  return request !== undefined && request.state !== 'open';
}

/** Something is to be done and nothing is there to do it: never started, messages wait, or a turn is to be gone on with. */
export function needsProcess(state: SessionState): boolean {
  if (state.agentProcess.kind !== 'none') return false;
  return state.incarnations === 0 || hasPending(state.queue) || isCutShort(state);
}

/** Nobody works on its turn, which did not end with whoever did: the log has it. */
export function isCutShort({ kind, agentProcess, turn }: SessionState): boolean {
  return kind !== 'agent' && agentProcess.kind === 'none' && turn.active;
}

/** Whether the agent itself does it when told. One that could stop but not be told to go on would stop for ever. */
export function announces(state: SessionState, kind: LifecycleVerb): boolean {
  if (kind === 'pause' && !state.capabilities.includes('resume')) return false;
  return state.capabilities.includes(kind);
}

/** Whether the end of its process is what was asked for. */
export function wasAsked({ control }: SessionState): boolean {
  return control?.kind === 'interrupt' || control?.kind === 'cancel';
}

/** It is cancelled and nobody runs it: its end waits for the end of what it opened, of which it knows nothing. */
export function waitsForChildren({ end, control, agentProcess }: SessionState): boolean {
  return end === undefined && control?.kind === 'cancel' && agentProcess.kind === 'none';
}

/** A run of it is under way, so what it opened may go on. */
export function mayHaveChildren({ kind, children, turn }: SessionState): boolean {
  return kind !== 'agent' && children.size > 0 && turn.active;
}

export function canSteer(state: SessionState): boolean {
  return state.capabilities.includes('steer');
}
