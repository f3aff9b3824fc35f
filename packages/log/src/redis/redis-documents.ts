import { assert } from '@concerto/base';
import { decodeCursor, encodeCursor } from '../document-cursor.ts';
import type { DocumentPage, ListRequest, StoredDocument } from '../event-log.ts';
import type { RedisClient } from './redis-connection.ts';
import { tagText } from './redis-operations.ts';
import { listReply, textReply, timeReply } from './redis-reply.ts';
import { sortFromText, sortText } from './sort-text.ts';

const SORT_LENGTH = 16;

export const documentsKey = (collection: string): string => `concerto:documents:${encodeURIComponent(collection)}`;

export type KeptDocument = StoredDocument & { readonly expiresAt?: number };

/** The stored form is `SORT|EXPIRY|TAG|VALUE`; only the value may contain a bar. */
function parseDocument(key: string, stored: string): KeptDocument {
  const match = /^([0-9a-f]+)\|(\d*)\|([^|]*)\|/.exec(stored);
  assert(match !== null, 'a document begins with its place');
  const [head, sort = '', expires = '', tag = ''] = match;
  return {
    key,
    value: stored.slice(head.length),
    sort: sortFromText(sort),
    ...(tag !== '' && { tag: decodeURIComponent(tag.slice(1)) }),
    ...(expires !== '' && { expiresAt: Number(expires) }),
  };
}

const isLive = ({ expiresAt }: KeptDocument, now: number): boolean => expiresAt === undefined || expiresAt > now;

function toStored({ key, value, sort, tag }: KeptDocument): StoredDocument {
  return { key, value, sort, ...(tag !== undefined && { tag }) };
}

type Reading = { readonly client: RedisClient; readonly aheadMs: number };

export async function readDocument(
  { client, aheadMs }: Reading,
  collection: string,
  key: string,
): Promise<StoredDocument | undefined> {
  const [stored, time] = await Promise.all([
    client.sendCommand(['HGET', documentsKey(collection), key]),
    client.sendCommand(['TIME']),
  ]);
  const now = timeReply(time) + aheadMs;
  if (stored === null) return undefined;
  const document = parseDocument(key, textReply(stored));
  return isLive(document, now) ? toStored(document) : undefined;
}

export async function readDocuments({ client, aheadMs }: Reading, request: ListRequest): Promise<DocumentPage> {
  const { collection, tag, cursor, limit } = request;
  const key = documentsKey(collection);
  const order = tag === undefined ? `${key}:order` : `${key}:tag${tagText(tag)}`;
  const now = timeReply(await client.sendCommand(['TIME'])) + aheadMs;
  const wanted = limit + 1;
  const found: StoredDocument[] = [];
  let below = cursor === undefined ? '+' : `(${placeOf(cursor)}`;
  for (;;) {
    const command = ['ZREVRANGEBYLEX', order, below, '-', 'LIMIT', '0', String(wanted)];
    const members = listReply(await client.sendCommand(command)).map(textReply);
    for (const document of await fetchMembers(client, key, members)) {
      if (isLive(document, now)) found.push(toStored(document));
    }
    if (found.length >= wanted || members.length < wanted) break;
    below = `(${members.at(-1)}`;
  }
  const documents = found.slice(0, limit);
  const last = documents.at(-1);
  return found.length > limit && last !== undefined ? { documents, nextCursor: encodeCursor(last) } : { documents };
}

function placeOf(cursor: string): string {
  const { sort, key } = decodeCursor(cursor);
  return sortText(sort) + key;
}

/** The documents behind members of an order; one that was removed meanwhile is left out. */
export async function fetchMembers(
  client: RedisClient,
  key: string,
  members: readonly string[],
): Promise<readonly KeptDocument[]> {
  if (members.length === 0) return [];
  const keys = members.map((member) => member.slice(SORT_LENGTH));
  const values = listReply(await client.sendCommand(['HMGET', key, ...keys]));
  return keys.flatMap((name, index) => {
    const stored = values[index];
    return typeof stored === 'string' ? [parseDocument(name, stored)] : [];
  });
}
