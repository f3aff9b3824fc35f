import type { SessionGrowth } from '../session/session-growth.ts';
import type { ChildAgentOptions } from './child-agent-options.ts';

type Child = Pick<ChildAgentOptions, 'children' | 'id'>;

/** Resolves when the child is paused, has nothing to do, or is over. */
export async function untilHeld({ children, id }: Child, growth: SessionGrowth): Promise<void> {
  for (;;) {
    const since = growth.seen;
    const state = await children.stateOf(id);
    if (state === undefined || state.end !== undefined || state.hold?.kind === 'paused') return;
    if (state.control === undefined && !state.turn.active) return;
    await growth.since(since);
  }
}
