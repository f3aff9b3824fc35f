import { ok, type Result } from '@concerto/base';
import { messageOf, type SessionState } from '@concerto/session';
import type { ServiceRefusal } from './service-refusal.ts';
import type { SessionIndex } from './session-index.ts';
import type { SessionStore } from './session-store.ts';
import { quietStatuses, whichChild } from './session-wishes.ts';

/** A repeat comes soon after: further back than so many agents nobody looks, since each is read. */
const lookedAtMax = 500;

type Ports = { readonly store: SessionStore; readonly index: SessionIndex };

/**
 * The session that a message goes to: a program at work hears none, so they go to its one agent that is at work. One that
 * its sender has named may be there already, whoever has come to work since: then it is a repeat, and goes where it went.
 */
export async function messageTarget(
  { store, index }: Ports,
  id: string,
  { state, named }: { readonly state: SessionState | undefined; readonly named: string | undefined },
): Promise<Result<string, ServiceRefusal>> {
  if (state?.kind !== 'program') return ok(id);
  const before = named === undefined ? undefined : await whereItIs(store, { id, state }, named);
  if (before !== undefined) return ok(before);
  if (state.end !== undefined || !state.turn.active) return ok(id);
  const busy = (await index.childrenOf(id)).filter(({ status }) => !quietStatuses.has(status));
  const [only, ...others] = busy;
  return only !== undefined && others.length === 0 ? ok(only.id) : whichChild(busy);
}

/** The newest first: a repeat comes soon after. */
async function whereItIs(
  store: SessionStore,
  { id, state }: { readonly id: string; readonly state: SessionState },
  message: string,
): Promise<string | undefined> {
  if (messageOf(state, message) !== undefined) return id;
  for (const child of [...state.children].slice(-lookedAtMax).reverse()) {
    const its = await store.state(child);
    if (its !== undefined && messageOf(its, message) !== undefined) return child;
  }
  return undefined;
}
