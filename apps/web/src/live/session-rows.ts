import { activeAtOf, type Session } from '@concerto/protocol';
import { asksYou } from '../status/status-words.ts';

export type Rows = ReadonlyMap<string, Session>;

/** Rows and changes come on different ways and pass each other: of two the one that knows more events is right. */
export function newerOf(a: Session, b: Session): Session {
  if (a.position !== b.position) return a.position > b.position ? a : b;
  return a.updatedAt > b.updatedAt ? a : b;
}

/** The very same map when nothing in it is newer. */
export function withRows(rows: Rows, more: readonly Session[]): Rows {
  let next: Map<string, Session> | undefined;
  for (const session of more) {
    const known = (next ?? rows).get(session.id);
    if (known !== undefined && newerOf(known, session) === known) continue;
    next ??= new Map(rows);
    next.set(session.id, session);
  }
  return next ?? rows;
}

/** Every session that waits for a person, who has waited longest first. */
export function waitingIn(rows: Rows): readonly Session[] {
  return [...rows.values()].filter(asksYou).toSorted((a, b) => (sinceOf(a) < sinceOf(b) ? -1 : 1));
}

function sinceOf(session: Session): string {
  return session.waiting?.since ?? activeAtOf(session);
}
