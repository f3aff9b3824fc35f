import type { EventLog } from '@concerto/log';
import { z } from 'zod';
import { unfinishedCollection } from './session-store.ts';

const Unfinished = z.looseObject({ slot: z.enum(['held', 'wanted', 'none']), unpooled: z.boolean().optional() });
const pageDocuments = 500;

/** Every session that is not over, with what it says about its slot; for the pool without those that need none of it. */
export async function readUnfinished(
  log: EventLog,
  { pooled = false }: { readonly pooled?: boolean } = {},
): Promise<ReadonlyMap<string, 'held' | 'wanted' | 'none'>> {
  const sessions = new Map<string, 'held' | 'wanted' | 'none'>();
  for (let cursor: string | undefined; ; ) {
    const page = await log.listDocuments({
      collection: unfinishedCollection,
      limit: pageDocuments,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { key, value } of page.documents) {
      const { slot, unpooled } = Unfinished.parse(JSON.parse(value));
      if (!pooled || unpooled !== true) sessions.set(key, slot);
    }
    cursor = page.nextCursor;
    if (cursor === undefined) return sessions;
  }
}
