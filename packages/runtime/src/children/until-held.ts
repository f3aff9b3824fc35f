import { SessionGrowth } from '../session/session-growth.ts';
import type { ChildSessions } from './child-sessions.ts';

/** Resolves when the child is paused, has nothing to do, or is over. */
export async function untilHeld(children: ChildSessions, id: string): Promise<void> {
  const growth = new SessionGrowth(children, id);
  try {
    for (;;) {
      const since = growth.seen;
      const state = await children.stateOf(id);
      if (state === undefined || state.end !== undefined || state.hold?.kind === 'paused') return;
      if (state.control === undefined && !state.turn.active) return;
      await growth.since(since);
    }
  } finally {
    growth.close();
  }
}
