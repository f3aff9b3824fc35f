import type { Entry, Page, ReadRequest, StreamName } from '../event-log.ts';
import type { RedisClient } from './redis-connection.ts';
import { listReply, numberReply, streamEntry, textReply } from './redis-reply.ts';

export const streamKey = (session: string, stream: StreamName): string => `concerto:{${session}}:${stream}`;
export const metaKey = (session: string): string => `concerto:{${session}}:meta`;

/** Entries asked for beyond what was wanted, for the asides that may lie between. */
const MARGIN = 16;

export async function readPage(client: RedisClient, request: ReadRequest): Promise<Page> {
  const { session, stream, after, limit } = request;
  const key = streamKey(session, stream);
  // In this order in one write: what the range shows is never older than the head.
  const [meta, firstItems] = await Promise.all([
    client.sendCommand(['HMGET', metaKey(session), stream, `${stream}:trimmed`]),
    client.sendCommand(['XRANGE', key, String(after + 1), '+', 'COUNT', String(limit + MARGIN)]),
  ]);
  const [head, trimmed] = listReply(meta).map(numberReply);
  const entries: Entry[] = [];
  // Positions have no gaps: what comes after one that has, others have written, and it is nobody's cursor.
  let end = head ?? 0;
  let isForeign = false;
  let items = listReply(firstItems);
  for (;;) {
    for (const item of items) {
      const { position, aside, type, data } = streamEntry(item);
      isForeign ||= position > end + 1;
      if (isForeign || aside !== 0 || entries.length >= limit) continue;
      entries.push({ position, type, data });
      end = Math.max(end, position);
    }
    if (isForeign || entries.length >= limit || items.length < limit + MARGIN) break;
    const last = textReply(listReply(items.at(-1))[0]);
    items = listReply(await client.sendCommand(['XRANGE', key, `(${last}`, '+', 'COUNT', String(limit + MARGIN)]));
  }
  return { entries, head: Math.max(head ?? 0, entries.at(-1)?.position ?? 0), oldest: (trimmed ?? 0) + 1 };
}

export async function readHead(client: RedisClient, session: string, stream: StreamName): Promise<number> {
  return numberReply(await client.sendCommand(['HGET', metaKey(session), stream]));
}

export async function readSessions(client: RedisClient, after: string | undefined, limit: number): Promise<string[]> {
  const from = after === undefined ? '-' : `(${after}`;
  const reply = await client.sendCommand(['ZRANGEBYLEX', 'concerto:sessions', from, '+', 'LIMIT', '0', String(limit)]);
  return listReply(reply).map(textReply);
}
