import { assert } from '@concerto/base';
import type Database from 'libsql';
import { integerAt, textAt } from './sqlite-row.ts';
import { POSITIONS_PER_STREAM } from './sqlite-schema.ts';
import type { StreamState } from './stream-states.ts';

/** Where an entry stands, and what it says; `aside` is 0 for the one that has the position. */
type PlacedRecord = {
  readonly position: number;
  readonly aside: number;
  readonly type: string;
  readonly data: string;
};

export type StreamTables = {
  /** Key of the entry before its first; its row is made when there is none. */
  obtain(state: Pick<StreamState, 'session' | 'stream' | 'base'>): number;
  page(after: number, through: number, limit: number): unknown[];
  trim(base: number, through: number): void;
  insert(base: number, record: PlacedRecord): void;
  /** Writes the tails; gives the key of each. */
  place(states: Iterable<StreamState>): Map<StreamState, number>;
  sessions(after: string, limit: number): string[];
};

/** Calling the database costs about as much as what it then does with a row. */
const ROWS_TOGETHER = 32;
const ROW_VALUES = 3;

export function streamTables(db: Database.Database): StreamTables {
  const selectPage = db
    .prepare('SELECT id, type, data FROM entries WHERE id > ? AND id <= ? ORDER BY id LIMIT ?')
    .raw();
  const selectSessions = db
    .prepare('SELECT DISTINCT session FROM streams WHERE session > ? ORDER BY session LIMIT ?')
    .raw();
  const updateTrimmed = db.prepare('UPDATE streams SET trimmed = ? WHERE id = ?');
  const deleteEntries = db.prepare('DELETE FROM entries WHERE id > ? AND id <= ?');
  const deleteAsides = db.prepare('DELETE FROM asides WHERE id >= ? AND id <= ?');
  const insertAside = db.prepare('INSERT INTO asides (id, place, type, data) VALUES (?, ?, ?, ?)');
  const obtain = streamKeys(db);
  const entries = entryWriter(db);
  return {
    obtain,
    page: (after, through, limit) => selectPage.all(after, through, limit),
    trim(base, through) {
      updateTrimmed.run(through, base / POSITIONS_PER_STREAM);
      deleteEntries.run(base, base + through);
      deleteAsides.run(base, base + through);
    },
    insert(base, { position, aside, type, data }) {
      if (aside > 0) insertAside.run(base + position, aside, type, data);
      else entries.insert(base + position, type, data);
    },
    place(states) {
      const placed = new Map<StreamState, number>();
      const rows: (number | string)[] = [];
      for (const state of states) {
        const base = obtain(state);
        placed.set(state, base);
        for (const { position, type, data } of state.tail) rows.push(base + position, type, data);
        for (const { position, place, type, data } of state.tailAsides) {
          insertAside.run(base + position, place, type, data);
        }
      }
      entries.insertAll(rows);
      return placed;
    },
    sessions: (after, limit) => selectSessions.all(after, limit).map((row) => textAt(row, 0)),
  };
}

function streamKeys(db: Database.Database): StreamTables['obtain'] {
  const selectStream = db.prepare('SELECT id FROM streams WHERE session = ? AND stream = ?').raw();
  const insertStream = db.prepare('INSERT OR IGNORE INTO streams (session, stream) VALUES (?, ?)');
  return ({ session, stream, base }) => {
    if (base !== undefined) return base;
    insertStream.run(session, stream);
    const row: unknown = selectStream.get(session, stream);
    assert(row !== undefined, 'a stream just inserted is found');
    return integerAt(row, 0) * POSITIONS_PER_STREAM;
  };
}

type EntryWriter = {
  insert(id: number, type: string, data: string): void;
  /** Keys, types and texts, one after the other. */
  insertAll(values: readonly (number | string)[]): void;
};

function entryWriter(db: Database.Database): EntryWriter {
  const inserting = (rows: number): Database.Statement => {
    const values = Array.from({ length: rows }, () => '(?, ?, ?)').join(', ');
    return db.prepare(`INSERT INTO entries (id, type, data) VALUES ${values}`);
  };
  const one = inserting(1);
  const together = inserting(ROWS_TOGETHER);
  return {
    insert: (id, type, data) => void one.run(id, type, data),
    insertAll(values) {
      let at = 0;
      for (const length = ROWS_TOGETHER * ROW_VALUES; at + length <= values.length; at += length) {
        together.run(...values.slice(at, at + length));
      }
      for (; at < values.length; at += ROW_VALUES) one.run(...values.slice(at, at + ROW_VALUES));
    },
  };
}
