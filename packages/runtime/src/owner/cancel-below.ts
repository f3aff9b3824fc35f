import { type SessionState, type Wish, waitsForChildren } from '@concerto/session';
import { passedOnId } from '../session/passed-on-id.ts';

type Ports = {
  readonly state: (id: string) => Promise<SessionState | undefined>;
  readonly execute: (id: string, wish: Wish) => Promise<unknown>;
  readonly now: () => number;
  /** Of a runner: its deadline has passed. */
  readonly expire?: (id: string) => Promise<unknown>;
};

/** Those that it opened and that are not over; a supervisor hears the end, and ends by itself then. */
async function liveBelow(
  { children }: Pick<SessionState, 'children'>,
  state: Ports['state'],
): Promise<readonly SessionState[]> {
  const states = (await Promise.all([...children].map((id) => state(id)))).filter((child) => child !== undefined);
  return states.filter(({ end, supervises }) => end === undefined && supervises === undefined);
}

/** Nobody runs it, and nothing goes on of what it opened. */
export async function isLeftAlone(of: SessionState, state: Ports['state']): Promise<boolean> {
  return of.agentProcess.kind === 'none' && (await liveBelow(of, state)).length === 0;
}

/**
 * Goes on with the cancel of a session that nobody runs: what it opened first, and then itself. Nothing of it is kept
 * anywhere but in their records, so anybody may look at any time, and whoever comes next goes on.
 */
export async function cancelBelow(id: string, { state, execute, now, expire }: Ports): Promise<void> {
  const top = await state(id);
  if (top?.control === undefined || !waitsForChildren(top)) return;
  for (const { id: child, control } of await liveBelow(top, state)) {
    if (control?.kind === 'cancel') continue;
    await execute(child, { type: 'control', kind: 'cancel', requestId: passedOnId(top.control.requestId, child) });
  }
  const live = await liveBelow(top, state);
  if (live.length === 0) await execute(id, { type: 'children-over' });
  // Somebody who has taken one of them up again has given it its time again.
  else if ([top, ...live].every(({ control }) => (control?.deadline ?? 0) <= now())) await expire?.(id);
}
