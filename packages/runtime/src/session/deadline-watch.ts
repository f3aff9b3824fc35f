import { nextDeadline, type SessionState } from '@concerto/session';
import type { Clock } from '../ports.ts';

/** `parks`: one that has nothing to do for long is let go of. */
type Watched = { readonly state: SessionState; readonly parks: boolean };

/** Calls when the session's next deadline has been waited for; the returned call takes it back. */
export function atNextDeadline(
  { state, parks }: Watched,
  clock: Clock,
  passed: (deadline: number) => void,
): () => void {
  const deadline = nextDeadline(state, { parks });
  if (deadline === undefined) return () => {};
  const now = clock.now();
  // A clock that was set back stands still at the last record, and the wait is for what is left from there.
  const left = Math.max(0, deadline - Math.max(now, state.updatedAt));
  return clock.at(now + left, () => passed(deadline));
}

/** Beside the time in which the agent must introduce itself: to be spawned, and to be given up in good order. */
const startMarginMs = 5_000;

export function startWithin(initTimeoutMs: number | undefined): { readonly startWithinMs?: number } {
  return initTimeoutMs === undefined ? {} : { startWithinMs: initTimeoutMs + startMarginMs };
}
