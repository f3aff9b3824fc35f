import { couldNotStart, type SessionState } from '@concerto/session';
import { WorldFailure } from '../program/program-world.ts';
import type { SessionGrowth } from '../session/session-growth.ts';
import type { ChildAgentOptions } from './child-agent-options.ts';
import { startFailure } from './child-failure.ts';

export type ChildStarting = {
  readonly growth: SessionGrowth;
  readonly signal: AbortSignal;
  /** Each time that it was looked at. */
  readonly stands: (state: SessionState | undefined) => void;
};

/** Opens the session; resolves when its agent is up, or comes up with its prompt. Rejects with how that failed. */
export async function startChild(options: ChildAgentOptions, starting: ChildStarting): Promise<void> {
  const { growth, signal } = starting;
  const onAbort = (): void => growth.signal();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await untilUp(options, starting);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function untilUp(options: ChildAgentOptions, { growth, signal, stands }: ChildStarting): Promise<void> {
  const { children, id, agent, declared: { supervisor, budget } = {}, onQueued } = options;
  const refused = await children.open(id, { kind: 'agent', agent, title: agent, once: false, supervisor, budget });
  if (refused !== undefined) throw new WorldFailure('spawn', `agent ${agent}: ${refused.message}`);
  let isTold = false;
  for (;;) {
    const since = growth.seen;
    const state = await children.stateOf(id);
    stands(state);
    if (signal.aborted) throw new WorldFailure('cancelled', 'nobody waits for the agent any more');
    if (state !== undefined && (state.end !== undefined || couldNotStart(state)))
      throw await startFailure(options, state);
    if (state?.agentProcess.kind === 'ready' || state?.everReady === true) return;
    // Its start was lost with its owner, and it is parked: its prompt starts it.
    if (state?.slot.kind === 'none') return;
    if (state?.slot.kind === 'wanted' && !isTold) onQueued();
    isTold ||= state?.slot.kind === 'wanted';
    await growth.since(since);
  }
}
