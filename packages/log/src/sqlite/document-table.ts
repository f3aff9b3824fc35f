import type Database from 'libsql';
import type { DocumentPlace } from '../document-cursor.ts';
import type { DocumentWrite, ListRequest, StoredDocument } from '../event-log.ts';
import { integerAt, optionalIntegerAt, optionalTextAt, textAt } from './sqlite-row.ts';

export type KeptDocument = StoredDocument & { readonly collection: string; readonly expiresAt?: number };

export type DocumentTable = {
  put(write: DocumentWrite): void;
  get(collection: string, key: string, now: number): StoredDocument | undefined;
  list(request: Pick<ListRequest, 'collection' | 'tag'>, page: TablePage): StoredDocument[];
  /** Some of them. */
  removeExpired(now: number): void;
  /** Forget what was learned in a transaction that did not commit. */
  forget(): void;
  after(id: number, now: number, limit: number): { readonly id: number; readonly document: KeptDocument }[];
};

type TablePage = {
  readonly now: number;
  /** Those behind it. */
  readonly from: DocumentPlace | undefined;
  readonly limit: number;
  /** Keys that are left out. */
  readonly except: readonly string[];
};

/** Documents whose place is remembered; then all are forgotten. */
const MAX_REMEMBERED = 20_000;
const SWEEP_LIMIT = 1_000;

const live = '(expires_at IS NULL OR expires_at > ?)';
const columns = 'key, value, sort, tag';

export function documentTable(db: Database.Database): DocumentTable {
  const select = db.prepare(`SELECT ${columns} FROM documents WHERE collection = ? AND key = ? AND ${live}`).raw();
  const deleteExpired = db.prepare(
    'DELETE FROM documents WHERE id IN (SELECT id FROM documents WHERE expires_at <= ? LIMIT ?)',
  );
  const selectAfter = db
    .prepare(
      `SELECT ${columns}, collection, expires_at, id FROM documents WHERE id > ? AND ${live} ORDER BY id LIMIT ?`,
    )
    .raw();
  return {
    ...documentWriter(db),
    list: documentLists(db),
    get(collection, key, now) {
      const row: unknown = select.get(collection, key, now);
      return row === undefined ? undefined : toDocument(row);
    },
    removeExpired: (now) => void deleteExpired.run(now, SWEEP_LIMIT),
    after: (id, now, limit) =>
      selectAfter.all(id, now, limit).map((row) => {
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

function documentWriter(db: Database.Database): Pick<DocumentTable, 'put' | 'forget'> {
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
    const name = `${collection.length} ${collection} ${key}`;
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

function documentLists(db: Database.Database): DocumentTable['list'] {
  const statements = new Map<string, Database.Statement>();
  const prepared = (conditions: readonly string[]): Database.Statement => {
    const where = conditions.join(' AND ');
    const known = statements.get(where);
    if (known !== undefined) return known;
    const order = 'ORDER BY sort DESC, key DESC LIMIT ?';
    const statement = db.prepare(`SELECT ${columns} FROM documents WHERE ${where} ${order}`).raw();
    statements.set(where, statement);
    return statement;
  };
  return ({ collection, tag }, { now, from, limit, except }) => {
    const conditions = ['collection = ?'];
    const values: (string | number)[] = [collection];
    const add = (condition: string, ...given: (string | number)[]): void => {
      conditions.push(condition);
      values.push(...given);
    };
    if (tag !== undefined) add('tag = ?', tag);
    if (from !== undefined) add('(sort, key) < (?, ?)', from.sort, from.key);
    add(live, now);
    if (except.length > 0) add('key NOT IN (SELECT value FROM json_each(?))', JSON.stringify(except));
    return prepared(conditions)
      .all(...values, limit)
      .map(toDocument);
  };
}

function toDocument(row: unknown): StoredDocument {
  const tag = optionalTextAt(row, 3);
  return { key: textAt(row, 0), value: textAt(row, 1), sort: integerAt(row, 2), ...(tag !== undefined && { tag }) };
}
