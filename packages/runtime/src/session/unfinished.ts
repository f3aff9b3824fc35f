import type { EventLog } from '@concerto/log';
import * as z from 'zod';
import { unfinishedCollection } from './session-append.ts';

const Unfinished = z.looseObject({
  slot: z.enum(['held', 'wanted', 'none']),
  /** It runs without a place of the pool. */
  unpooled: z.boolean().optional(),
  parent: z.string().optional(),
  /** It is a call of an assistant, and lives no longer than the turn of that. */
  called: z.boolean().optional(),
  /** No run of it is under way, so nobody works for it. */
  idle: z.boolean().optional(),
  /** Nobody need own it before then. */
  restsUntil: z.number().optional(),
  /** It waits on sessions that wait for people. */
  restsOn: z.boolean().optional(),
  /** It is cancelled, and ends after what it opened. */
  endsBelow: z.boolean().optional(),
});
type Unfinished = z.infer<typeof Unfinished>;
const pageDocuments = 500;

/** Every session that is not over, with what it says about its slot and who opened it. */
export async function readUnfinished(log: EventLog): Promise<ReadonlyMap<string, Unfinished>> {
  const sessions = new Map<string, Unfinished>();
  for (let cursor: string | undefined; ; ) {
    const page = await log.listDocuments({
      collection: unfinishedCollection,
      limit: pageDocuments,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { key, value } of page.documents) sessions.set(key, Unfinished.parse(JSON.parse(value)));
    cursor = page.nextCursor;
    if (cursor === undefined) return sessions;
  }
}
