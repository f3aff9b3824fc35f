import type { EventLog } from '@concerto/log';
import { type PublicEvent, readStoredEvent, type Session } from '@concerto/protocol';
import { childrenCollection, sessionsCollection } from '../session/session-append.ts';
import { readRows } from '../session/session-index.ts';

/** So much is read for one answer, the newest sessions first. */
const sessionsMax = 200;
const eventsMax = 200_000;
const pageEntries = 1_000;

export type PastOptions = {
  /** Only this one; the newest without it. */
  readonly session?: string | undefined;
  /** Other types of events are not read; all are without it. */
  readonly wants?: ReadonlySet<string> | undefined;
};

export type PastEvents = { readonly whose: Session; readonly events: readonly PublicEvent[] };

/** Sessions as they were, one at a time; returns whether some were left out. */
export async function* pastSessions(log: EventLog, options: PastOptions): AsyncGenerator<PastEvents, boolean> {
  const { rows, hasMore } = await rowsOf(log, options.session);
  let left = eventsMax;
  for (const whose of rows) {
    if (left <= 0) return true;
    const { events, read } = await eventsOf(log, whose.id, { max: left, wants: options.wants });
    left -= read;
    yield { whose, events };
  }
  return hasMore || left <= 0;
}

async function rowsOf(log: EventLog, session: string | undefined) {
  const collections = [sessionsCollection, childrenCollection];
  if (session !== undefined) {
    const found = await Promise.all(collections.map((collection) => log.getDocument(collection, session)));
    return { rows: readRows(found.filter((document) => document !== undefined)), hasMore: false };
  }
  const pages = await Promise.all(
    collections.map((collection) => log.listDocuments({ collection, limit: sessionsMax })),
  );
  const rows = pages
    .flatMap(({ documents }) => readRows(documents))
    .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
  const hasMore = rows.length > sessionsMax || pages.some(({ nextCursor }) => nextCursor !== undefined);
  return { rows: rows.slice(0, sessionsMax), hasMore };
}

type Wanted = { readonly max: number; readonly wants: ReadonlySet<string> | undefined };

async function eventsOf(log: EventLog, session: string, { max, wants }: Wanted) {
  const events: PublicEvent[] = [];
  let read = 0;
  for (let after = 0; read < max; ) {
    const { entries } = await log.read({ session, stream: 'events', after, limit: pageEntries });
    read += entries.length;
    for (const { type, data } of entries) {
      if (wants?.has(type) === false) continue;
      const event = readStoredEvent(data);
      // What a newer server wrote that we do not know is no word of a session.
      if (event !== undefined && event.type !== 'unknown') events.push(event);
    }
    after = entries.at(-1)?.position ?? after;
    if (entries.length < pageEntries) break;
  }
  return { events, read };
}
