import { canonicalJson, err, type Result } from '@concerto/base';
import { type ReviseMessage, type Session, SessionId, type SessionStatus, type StartSession } from '@concerto/protocol';
import type { Wish } from '@concerto/session';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';

type Refused = Result<never, ServiceRefusal>;

export function noSuchSession(id: string): Refused {
  return err(refusal('no_such_session', `there is no session ${JSON.stringify(id)}`));
}

export function noSuchMessage(id: string): Refused {
  return err(refusal('no_such_message', `there is no message ${JSON.stringify(id)}`));
}

export function refusedStopping(): Refused {
  return err(refusal('stopping', 'the server is stopping; try again in a moment'));
}

/** A program hears no messages, and it is not plain which of its agents is meant. */
export function whichChild(busy: readonly Session[]): Refused {
  const children = busy.map(({ id, agent, status }) => ({ id, agent, status }));
  const why = busy.length === 0 ? 'none of its agents is at work' : `${busy.length} of its agents are at work`;
  const message = `a program hears no messages, and ${why}: send it to the session of an agent`;
  return err(refusal('which_child', message, { children }));
}

export function revisionWish(messageId: string, revision: Exclude<ReviseMessage, { content: unknown }>): Wish {
  if ('priority' in revision) return { type: 'promote', messageId };
  return { type: revision.uncertain, messageId };
}

/** How each session was asked for, so that the same start again is known as such. */
export const startsCollection = 'starts';

/** The same for the same start, in whatever order its keys were written. */
export function startText(request: StartSession): string {
  return canonicalJson(JSON.parse(JSON.stringify(request)));
}

export function isSessionId(id: string): boolean {
  return SessionId.safeParse(id).success;
}

/** 120 bits of the key's digest. */
export const keyedIdLength = 20;

/** Nobody works in a session that is so. */
export const quietStatuses: ReadonlySet<SessionStatus> = new Set([
  'idle',
  'interrupted',
  'completed',
  'failed',
  'cancelled',
]);
