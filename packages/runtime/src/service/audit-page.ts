import type { EventLog } from '@concerto/log';
import type { Audit } from '@concerto/protocol';
import { audit, messageHistory, type PageOf } from '@concerto/session';
import { readRecords } from '../session/read-records.ts';

const pageEntries = 1_000;

export type AuditQuery = Partial<PageOf> & { readonly message?: string };

export async function auditPage(
  log: EventLog,
  session: string,
  { message, after = 0, limit = pageEntries }: AuditQuery,
): Promise<Audit> {
  const records = await readRecords(log, session);
  const all = message === undefined ? audit(records) : messageHistory(records, message);
  const entries = all.slice(after, after + limit);
  return { entries, position: after + entries.length, more: all.length > after + limit };
}
