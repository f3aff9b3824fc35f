import type { AgentErrorCode, AgentExit } from '@concerto/agents';
import type { SessionState } from '@concerto/session';
import { WorldFailure } from '../program/program-world.ts';
import type { ChildSessions, StoppedBy } from './child-sessions.ts';

type Child = { readonly children: ChildSessions; readonly id: string; readonly agent: string };

/** What the program hears of an agent's session that is over, or will not go on. */
export async function childFailure({ children, id, agent }: Child, state: SessionState): Promise<WorldFailure> {
  if (state.end?.reason === 'budget') {
    const details = { session: id };
    return new WorldFailure('cancelled', `agent ${agent} was stopped: its budget is used up`, { details });
  }
  const stopped = byOthers({ children, id, agent }, await children.stoppedBy(id));
  if (stopped !== undefined) return stopped;
  if (state.error?.code === 'delivery_refused') return new WorldFailure('protocol', state.error.message);
  if (state.error?.code === 'timeout') {
    return new WorldFailure('timeout', `agent ${agent}: ${state.error.message}`, { details: { session: id } });
  }
  const why = state.error?.message ?? state.hold?.reason ?? state.end?.reason ?? 'its session has ended';
  const details = state.error?.stderr === undefined ? {} : { stderr: state.error.stderr };
  return new WorldFailure('exited', `agent exited without result (${why})`, { details: { session: id, ...details } });
}

/**
 * What the program hears in place of the last word of its call, where somebody stopped the turn before it was said: what an
 * agent says to a question that was withdrawn is no result.
 */
export async function stoppedCall(child: Child, message: string): Promise<WorldFailure | undefined> {
  const { children, id } = child;
  const state = await children.stateOf(id);
  // The records are read only where they may tell of it: most calls are left alone.
  const mayBe = state?.control !== undefined || state?.hold !== undefined || state?.end !== undefined;
  return mayBe ? byOthers(child, await children.stoppedIn(id, message)) : undefined;
}

/** What it hears when the process of its call has ended: by itself, or because somebody has stopped the turn. */
export async function exitedCall(child: Child, exit: AgentExit): Promise<WorldFailure> {
  const state = await child.children.stateOf(child.id);
  if (state?.end?.reason === 'budget') return await childFailure(child, state);
  const by = await child.children.stoppedBy(child.id);
  const stopped = by?.verb === 'cancel' || by?.verb === 'interrupt' ? byOthers(child, by) : undefined;
  if (stopped !== undefined) return stopped;
  const isUnseen = exit.code === null && exit.signal === null;
  if (!isUnseen || state?.error === undefined) return exitFailure(exit);
  return new WorldFailure('exited', state.error.message, { details: { session: child.id, stderr: exit.stderr } });
}

/** A program that stops its own agent hears what that says to it. */
function byOthers({ children, id, agent }: Child, by: StoppedBy | undefined): WorldFailure | undefined {
  if (by === undefined || by.actor === children.actor) return undefined;
  const did = by.verb === 'cancel' ? 'cancelled' : `${by.verb}ed`;
  return new WorldFailure('cancelled', `agent ${agent} was ${did} by ${by.actor}`, { details: { session: id } });
}

/** By how its agent failed to come up. */
const startKinds: { readonly [Code in AgentErrorCode]?: string } = {
  'spawn-failed': 'spawn',
  'missing-variable': 'spawn',
  'init-timeout': 'init',
  'init-refused': 'init',
  exited: 'init',
};

/** Of one that never came up. */
export async function startFailure(child: Child, state: SessionState): Promise<WorldFailure> {
  const { error } = state;
  if (error === undefined) return await childFailure(child, state);
  const kind = Object.entries(startKinds).find(([code]) => code === error.code)?.[1] ?? 'spawn';
  return new WorldFailure(kind, error.message, { details: { stderr: error.stderr ?? '' } });
}

function exitFailure({ code, signal, stderr }: AgentExit): WorldFailure {
  const how = signal === null ? `code ${code ?? '?'}` : `signal ${signal}`;
  const tail = stderr.trim() === '' ? '' : `: ${stderr.trim()}`;
  return new WorldFailure('exited', `agent exited without result (${how})${tail}`, {
    details: { stderr, code, signal },
  });
}
