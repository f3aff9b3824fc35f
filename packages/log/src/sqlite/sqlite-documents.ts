import type Database from 'libsql';
import { decodeCursor, encodeCursor } from '../document-cursor.ts';
import type { DocumentPage, DocumentWrite, ListRequest, StoredDocument } from '../event-log.ts';
import { integerAt, optionalIntegerAt, optionalTextAt, textAt } from './sqlite-row.ts';

export type SqliteDocuments = {
  put(write: DocumentWrite): void;
  create(write: DocumentWrite): boolean;
  get(collection: string, key: string): StoredDocument | undefined;
  list(request: ListRequest): DocumentPage;
  /** Removes some of what has expired. */
  sweep(): void;
  /** Forget what was learned in a transaction that did not commit. */
  forget(): void;
  /** Those after a row, all collections, with what `load` needs. */
  after(id: number, limit: number): { readonly id: number; readonly document: KeptDocument }[];
};

type KeptDocument = StoredDocument & { readonly collection: string; readonly expiresAt?: number };

/** Documents whose place is remembered; then all are forgotten. */
const MAX_REMEMBERED = 20_000;
const SWEEP_EVERY_MS = 60_000;
const SWEEP_LIMIT = 1_000;

const live = '(expires_at IS NULL OR expires_at > ?)';
const columns = 'key, value, sort, tag';
const order = 'ORDER BY sort DESC, key DESC LIMIT ?';

export function sqliteDocuments(db: Database.Database, now: () => number): SqliteDocuments {
  const { put, forget } = documentWriter(db);
  const select = db.prepare(`SELECT ${columns} FROM documents WHERE collection = ? AND key = ? AND ${live}`).raw();
  const deleteExpired = db.prepare(
    'DELETE FROM documents WHERE id IN (SELECT id FROM documents WHERE expires_at <= ? LIMIT ?)',
  );
  const selectAfter = db
    .prepare(
      `SELECT ${columns}, collection, expires_at, id FROM documents WHERE id > ? AND ${live} ORDER BY id LIMIT ?`,
    )
    .raw();
  const list = listStatements(db);
  let lastSweep = now();
  const get = (collection: string, key: string): StoredDocument | undefined => {
    const row: unknown = select.get(collection, key, now());
    return row === undefined ? undefined : toDocument(row);
  };

  return {
    put,
    get,
    create(write) {
      if (get(write.collection, write.key) !== undefined) return false;
      put(write);
      return true;
    },
    list(request) {
      const documents = list(request, now(), request.limit + 1).map(toDocument);
      const shown = documents.slice(0, request.limit);
      const last = shown.at(-1);
      return documents.length > request.limit && last !== undefined
        ? { documents: shown, nextCursor: encodeCursor(last) }
        : { documents: shown };
    },
    sweep() {
      if (now() - lastSweep < SWEEP_EVERY_MS) return;
      lastSweep = now();
      deleteExpired.run(now(), SWEEP_LIMIT);
    },
    forget,
    after: (id, limit) =>
      selectAfter.all(id, now(), limit).map((row) => {
        const expiresAt = optionalIntegerAt(row, 5);
        const document = {
          ...toDocument(row),
          collection: textAt(row, 4),
          ...(expiresAt !== undefined && { expiresAt }),
        };
        return { id: integerAt(row, 6), document };
      }),
  };
}

function documentWriter(db: Database.Database): Pick<SqliteDocuments, 'put' | 'forget'> {
  const upsert = db.prepare(
    `INSERT INTO documents (collection, key, value, sort, tag, expires_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (collection, key)
     DO UPDATE SET value = excluded.value, sort = excluded.sort, tag = excluded.tag, expires_at = excluded.expires_at`,
  );
  const replace = db.prepare('UPDATE documents SET value = ? WHERE collection = ? AND key = ?');
  const remove = db.prepare('DELETE FROM documents WHERE collection = ? AND key = ?');
  /** Where a document stands in the indexes: one that stays there costs no page of theirs. This process is the only writer. */
  const places = new Map<string, string>();

  const put = (write: DocumentWrite): void => {
    const { collection, key, value, sort, tag, expiresAt } = write;
    const name = `${collection}/${key}`;
    if (value === undefined) {
      places.delete(name);
      remove.run(collection, key);
      return;
    }
    const place = `${sort ?? 0} ${expiresAt ?? ''} ${tag === undefined ? '' : `:${tag}`}`;
    if (places.get(name) === place && replace.run(value, collection, key).changes === 1) return;
    upsert.run(collection, key, value, sort ?? 0, tag ?? null, expiresAt ?? null);
    if (places.size >= MAX_REMEMBERED) places.clear();
    places.set(name, place);
  };
  return { put, forget: () => places.clear() };
}

type List = (request: ListRequest, now: number, limit: number) => unknown[];

function listStatements(db: Database.Database): List {
  const page = (where: string): Database.Statement =>
    db.prepare(`SELECT ${columns} FROM documents WHERE collection = ? AND ${where}${live} ${order}`).raw();
  const all = page('');
  const allFrom = page('(sort, key) < (?, ?) AND ');
  const tagged = page('tag = ? AND ');
  const taggedFrom = page('tag = ? AND (sort, key) < (?, ?) AND ');
  return ({ collection, tag, cursor }, now, limit) => {
    if (cursor === undefined) {
      return tag === undefined ? all.all(collection, now, limit) : tagged.all(collection, tag, now, limit);
    }
    const { sort, key } = decodeCursor(cursor);
    return tag === undefined
      ? allFrom.all(collection, sort, key, now, limit)
      : taggedFrom.all(collection, tag, sort, key, now, limit);
  };
}

function toDocument(row: unknown): StoredDocument {
  const tag = optionalTextAt(row, 3);
  return { key: textAt(row, 0), value: textAt(row, 1), sort: integerAt(row, 2), ...(tag !== undefined && { tag }) };
}
