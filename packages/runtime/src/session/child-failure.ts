import { AgentError, type AgentErrorCode } from '@concerto/agents';
import type { SessionState } from '@concerto/session';
import { WorldFailure } from '../program/program-world.ts';
import type { ChildSessions } from './child-sessions.ts';

type Child = { readonly children: ChildSessions; readonly id: string; readonly agent: string };

/** What the program hears of an agent's session that is over, or will not go on. */
export async function childFailure({ children, id, agent }: Child, state: SessionState): Promise<WorldFailure> {
  const by = await children.stoppedBy(id);
  if (by !== undefined && by.actor !== children.actor) {
    const did = by.verb === 'cancel' ? 'cancelled' : `${by.verb}ed`;
    return new WorldFailure('cancelled', `agent ${agent} was ${did} by ${by.actor}`, { details: { session: id } });
  }
  const why = state.error?.message ?? state.hold?.reason ?? state.end?.reason ?? 'its session has ended';
  const details = state.error?.stderr === undefined ? {} : { stderr: state.error.stderr };
  return new WorldFailure('exited', `agent exited without result (${why})`, { details: { session: id, ...details } });
}

const codes: readonly AgentErrorCode[] = ['spawn-failed', 'missing-variable', 'init-timeout', 'init-refused', 'exited'];

/** Of one that never came up. */
export async function startFailure(child: Child, state: SessionState): Promise<Error> {
  const { error } = state;
  if (error === undefined) return await childFailure(child, state);
  return new AgentError(
    codes.find((known) => known === error.code) ?? 'spawn-failed',
    error.message,
    error.stderr === undefined ? {} : { stderr: error.stderr },
  );
}
