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

/** One that rests after a failed turn must not look like one that rests after its work. */
export function wordsOf(status: SessionStatus, hasFailed: boolean): Words {
  return status === 'idle' && hasFailed ? { label: 'Idle, turn failed', tone: 'bad' } : statusWords[status];
}

export const needsYou: readonly SessionStatus[] = ['waitingForInput', 'waitingForApproval'];

/** Whether it waits for a person: what a rule, a model or a supervisor is asked is not theirs yet. */
export function asksYou({ status, waiting }: Pick<Session, 'status' | 'waiting'>): boolean {
  return needsYou.includes(status) && (waiting?.asked === undefined || waiting.asked === 'person');
}
