import type { LifecycleVerb, SessionStatus } from '@concerto/protocol';
import { finalStatuses } from '@concerto/protocol';

const working: readonly LifecycleVerb[] = ['interrupt', 'pause', 'cancel'];

/** What may be asked in which status; the server decides, this only keeps buttons from inviting a refusal. */
const allowed: Readonly<Record<SessionStatus, readonly LifecycleVerb[]>> = {
  queued: ['cancel'],
  starting: ['cancel'],
  running: working,
  waitingForInput: working,
  waitingForApproval: working,
  interrupting: ['cancel'],
  pausing: ['cancel'],
  resuming: ['cancel'],
  cancelling: [],
  interrupted: ['pause', 'resume', 'cancel'],
  paused: ['resume', 'cancel'],
  idle: ['pause', 'cancel'],
  completed: [],
  failed: [],
  cancelled: [],
};

export function isAllowed(status: SessionStatus, verb: LifecycleVerb): boolean {
  return allowed[status].includes(verb);
}

export function isOver(status: SessionStatus): boolean {
  return finalStatuses.includes(status);
}

/** After how long the server acts by force on what was asked. */
export const forcedAfterSeconds: Readonly<Partial<Record<SessionStatus, number>>> = {
  interrupting: 10,
  pausing: 20,
  resuming: 10,
  cancelling: 15,
};
