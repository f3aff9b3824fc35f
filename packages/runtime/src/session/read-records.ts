import type { EventLog } from '@concerto/log';
import { readStored, SessionRecord } from '@concerto/protocol';

const pageEntries = 1_000;

/** All that was decided about a session, in order, a page at a time. */
export async function readRecords(log: EventLog, session: string): Promise<readonly SessionRecord[]> {
  const records: SessionRecord[] = [];
  for (let after = 0; ; ) {
    const page = await log.read({ session, stream: 'domain', after, limit: pageEntries });
    records.push(...page.entries.map((entry) => readStored(SessionRecord, JSON.parse(entry.data))));
    after = page.entries.at(-1)?.position ?? after;
    if (page.entries.length < pageEntries) return records;
  }
}
