import type { LifecycleVerb, SessionStatus } from '@concerto/protocol';

/**
 * What a user may ask, by status.
 * `ask`: goes to the agent and waits for its word, unless no agent is concerned. `direct`: done at once.
 * `busy`: another request is under way. `wrong`: means nothing in this status.
 */
export type Permission = 'ask' | 'direct' | 'busy' | 'wrong';

type Row = Readonly<Record<LifecycleVerb, Permission>>;

const nothing: Row = { interrupt: 'wrong', pause: 'wrong', resume: 'wrong', cancel: 'wrong' };
const between: Row = { interrupt: 'busy', pause: 'busy', resume: 'busy', cancel: 'ask' };
const working: Row = { interrupt: 'ask', pause: 'ask', resume: 'wrong', cancel: 'ask' };

export const lifecycleMatrix: Readonly<Record<SessionStatus, Row>> = {
  queued: { ...nothing, cancel: 'ask' },
  starting: { ...nothing, cancel: 'ask' },
  running: working,
  waitingForInput: working,
  waitingForApproval: working,
  interrupting: between,
  pausing: between,
  resuming: between,
  cancelling: { ...between, cancel: 'busy' },
  interrupted: { interrupt: 'wrong', pause: 'direct', resume: 'direct', cancel: 'ask' },
  paused: { interrupt: 'wrong', pause: 'wrong', resume: 'ask', cancel: 'ask' },
  idle: { interrupt: 'wrong', pause: 'direct', resume: 'wrong', cancel: 'ask' },
  completed: nothing,
  failed: nothing,
  cancelled: nothing,
};
