import type { EventLog } from '@concerto/log';
import { type Insight, readStored, type Session, SessionRecord } from '@concerto/protocol';
import { InsightFold, type InsightSpan, insightRecords, isoTime } from '@concerto/session';
import { childrenCollection, sessionsCollection } from '../session/session-append.ts';
import { readRows } from '../session/session-index.ts';

/** So much is read for one answer, the newest sessions first; more is left out, and it says so. */
const sessionsMax = 2_000;
const recordsMax = 200_000;
const pageRows = 200;
const pageEntries = 1_000;

/** What all sessions, and those that they opened, did in some days. */
export async function readInsight(log: EventLog, span: InsightSpan): Promise<Insight> {
  const fold = new InsightFold(span);
  // A day more: where the caller's begins is not where ours does.
  const from = isoTime(span.now - (span.days + 1) * 86_400_000);
  let left = recordsMax;
  let isCut = false;
  for (const collection of [sessionsCollection, childrenCollection]) {
    const rows = await newestRows(log, collection);
    isCut ||= rows.hasMore;
    for (const { id, agent, kind, updatedAt } of rows.sessions) {
      if (updatedAt < from) continue;
      if (left <= 0) return fold.result(true);
      const records = await readNeeded(log, id, left);
      left -= records.read;
      isCut ||= records.isCut;
      fold.take({ id, agent, kind }, records.needed);
    }
  }
  return fold.result(isCut || left <= 0);
}

async function newestRows(log: EventLog, collection: string) {
  const sessions: Session[] = [];
  let cursor: string | undefined;
  do {
    const page = await log.listDocuments({ collection, limit: pageRows, ...(cursor === undefined ? {} : { cursor }) });
    sessions.push(...readRows(page.documents));
    cursor = page.nextCursor;
  } while (cursor !== undefined && sessions.length < sessionsMax);
  return { sessions, hasMore: cursor !== undefined };
}

async function readNeeded(log: EventLog, session: string, max: number) {
  const needed: SessionRecord[] = [];
  let read = 0;
  let isCut = false;
  for (let after = 0; read < max; ) {
    const page = await log.read({ session, stream: 'domain', after, limit: pageEntries });
    read += page.entries.length;
    for (const { data } of page.entries) {
      const stored: { readonly type?: unknown } = JSON.parse(data);
      if (typeof stored.type !== 'string' || !insightRecords.has(stored.type)) continue;
      try {
        needed.push(readStored(SessionRecord, stored));
      } catch {
        isCut = true; // The figures of all others do not hang on it.
      }
    }
    after = page.entries.at(-1)?.position ?? after;
    if (page.entries.length < pageEntries) break;
  }
  return { needed, read, isCut };
}
