import { ok, type Result } from '@concerto/base';
import type { DocumentWrite, EventLog } from '@concerto/log';
import type { LlmContent, Session } from '@concerto/protocol';
import { messageOf, repeatKnownForMs, type SessionState } from '@concerto/session';
import * as z from 'zod';
import type { ServiceRefusal } from '../session/service-refusal.ts';
import type { SessionIndex } from '../session/session-index.ts';
import type { SessionStore } from '../session/session-store.ts';
import { isSessionId, quietStatuses, whichChild } from './session-wishes.ts';

/** Where a message to a program went that its sender had named, as long as a repeat of it is known as one. */
const passedOnCollection = 'passed-on';

const PassedOn = z.looseObject({ session: z.string() });

type Sent = { readonly program: string; readonly message: string };

/**
 * The session that a message goes to: a program at work hears none, so they go to its one agent that is at work. One that
 * its sender has named may be there already, whoever has come to work since: then it is a repeat, and goes where it went.
 */
export async function messageTarget(
  { log, store, index }: { readonly log: EventLog; readonly store: SessionStore; readonly index: SessionIndex },
  id: string,
  { state, named }: { readonly state: SessionState | undefined; readonly named: string | undefined },
): Promise<Result<string, ServiceRefusal>> {
  if (state?.kind !== 'program') return ok(id);
  if (named !== undefined) {
    if (messageOf(state, named) !== undefined) return ok(id);
    const before = await log.getDocument(passedOnCollection, keyOf({ program: id, message: named }));
    if (before !== undefined) return ok(PassedOn.parse(JSON.parse(before.value)).session);
  }
  if (state.end !== undefined || !state.turn.active) return ok(id);
  const busy = await atWork(await index.childrenOf(id), store);
  const [only, ...others] = busy;
  return only !== undefined && others.length === 0 ? ok(only.id) : whichChild(busy);
}

/** Its agents that have something to do; who answers for it is none of them. */
async function atWork(children: readonly Session[], store: SessionStore): Promise<readonly Session[]> {
  const loud = children.filter(({ status, supervises }) => supervises === undefined && !quietStatuses.has(status));
  const has = await Promise.all(loud.map(async (child) => child.status !== 'paused' || (await hasTurn(child, store))));
  return loud.filter((_, place) => has[place]);
}

/** One that was paused with its program may have been idle. */
async function hasTurn({ id, pending }: Session, store: SessionStore): Promise<boolean> {
  return pending > 0 || (await store.state(id))?.turn.active === true;
}

/** What is said in words goes by the kind of the session alone, which never changes: that need not be read again. */
export async function stateFor(
  store: SessionStore,
  id: string,
  content: string | LlmContent,
): Promise<SessionState | undefined> {
  const known = typeof content === 'string' ? store.known(id) : undefined;
  return known ?? (isSessionId(id) ? await store.state(id) : undefined);
}

/** Written with the message itself: one without the other would send it twice, or nowhere. */
export function passedOn(
  { id, named }: { readonly id: string; readonly named: string | undefined },
  session: string,
  now: number,
): readonly DocumentWrite[] {
  if (session === id || named === undefined) return [];
  const key = keyOf({ program: id, message: named });
  const value = JSON.stringify({ session });
  return [{ collection: passedOnCollection, key, value, expiresAt: now + repeatKnownForMs }];
}

function keyOf({ program, message }: Sent): string {
  return `${program} ${message}`;
}
