import type { Session, SessionStatus } from '@concerto/protocol';

/** How a status looks: what wants a person stands out, what moves is alive, what is over is quiet. */
type StatusTone = 'attention' | 'active' | 'between' | 'held' | 'quiet' | 'good' | 'bad';

type Words = { readonly label: string; readonly tone: StatusTone };

export const statusWords: Readonly<Record<SessionStatus, Words>> = {
  queued: { label: 'Waiting to start', tone: 'between' },
  starting: { label: 'Starting', tone: 'between' },
  running: { label: 'Working', tone: 'active' },
  waitingForInput: { label: 'Needs answer', tone: 'attention' },
  waitingForApproval: { label: 'Needs approval', tone: 'attention' },
  interrupting: { label: 'Interrupting', tone: 'between' },
  interrupted: { label: 'Interrupted', tone: 'held' },
  pausing: { label: 'Pausing', tone: 'between' },
  paused: { label: 'Paused', tone: 'held' },
  resuming: { label: 'Resuming', tone: 'between' },
  cancelling: { label: 'Cancelling', tone: 'between' },
  cancelled: { label: 'Cancelled', tone: 'quiet' },
  idle: { label: 'Idle', tone: 'quiet' },
  completed: { label: 'Completed', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
};

/**
 * One that rests after a failed turn must not look like one that rests after its work, and one that is paused because it
 * asks (its budget is used up) not like one that somebody paused.
 */
export function wordsOf(status: SessionStatus, hasFailed: boolean, isAsking = false): Words {
  if (status === 'paused' && isAsking) return { label: 'Paused, needs answer', tone: 'attention' };
  return status === 'idle' && hasFailed ? { label: 'Idle, turn failed', tone: 'bad' } : statusWords[status];
}

export const needsYou: readonly SessionStatus[] = ['waitingForInput', 'waitingForApproval'];

/** Whether it waits for a person: what a rule, a model or a supervisor is asked is not theirs yet. */
export function asksYou({ status, waiting }: Pick<Session, 'status' | 'waiting'>): boolean {
  const isAsking = needsYou.includes(status) || waiting?.for === 'input' || waiting?.for === 'approval';
  return isAsking && (waiting?.asked === undefined || waiting.asked === 'person');
}
