import { assert } from '@concerto/base';
import type Database from 'libsql';
import type { NewEntry, Page, ReadRequest, StreamName } from '../event-log.ts';
import { stampSeq } from '../stamp-seq.ts';
import { integerAt, optionalIntegerAt, textAt } from './sqlite-row.ts';
import { POSITIONS_PER_STREAM } from './sqlite-schema.ts';

/** What is known of a stream without asking the database; this process is the only writer. */
type StreamState = {
  /** Key of the entry before the first. */
  readonly base: number;
  head: number;
  /** Position of the last entry removed. */
  trimmed: number;
  /** How many asides follow the entry at the head. */
  asides: number;
};

export type SqliteStreams = {
  find(session: string, stream: StreamName): StreamState | undefined;
  obtain(session: string, stream: StreamName): StreamState;
  append(state: StreamState, stream: StreamName, entries: readonly NewEntry[]): void;
  /** As it is, without counting: for loading a dump. */
  insert(state: StreamState, record: { position: number; aside: number; type: string; data: string }): void;
  read(request: ReadRequest): Page;
  trim(state: StreamState, throughPosition: number): void;
  sessions(after: string | undefined, limit: number): string[];
  /** Forget what was learned in a transaction that did not commit. */
  forget(): void;
};

/** Streams remembered; the one met longest ago is asked of the database again. */
const MAX_REMEMBERED = 20_000;

/** Calling the database costs about as much as what it then does with a row. */
const ROWS_TOGETHER = 32;
const ROW_VALUES = 3;

export function sqliteStreams(db: Database.Database): SqliteStreams {
  const states = streamStates(db);
  const updateTrimmed = db.prepare('UPDATE streams SET trimmed = ? WHERE id = ?');
  const insertEntry = db.prepare('INSERT INTO entries (id, type, data) VALUES (?, ?, ?)');
  const insertEntries = db.prepare(
    `INSERT INTO entries (id, type, data) VALUES ${Array.from({ length: ROWS_TOGETHER }, () => '(?, ?, ?)').join(', ')}`,
  );
  const insertAside = db.prepare('INSERT INTO asides (id, place, type, data) VALUES (?, ?, ?, ?)');
  const selectPage = db
    .prepare('SELECT id, type, data FROM entries WHERE id > ? AND id <= ? ORDER BY id LIMIT ?')
    .raw();
  const deleteEntries = db.prepare('DELETE FROM entries WHERE id > ? AND id <= ?');
  const deleteAsides = db.prepare('DELETE FROM asides WHERE id >= ? AND id <= ?');
  const selectSessions = db
    .prepare('SELECT DISTINCT session FROM streams WHERE session > ? ORDER BY session LIMIT ?')
    .raw();
  return {
    ...states,
    append(state, stream, entries) {
      let together: (string | number)[] = [];
      const insertTogether = (): void => {
        if (together.length === ROWS_TOGETHER * ROW_VALUES) insertEntries.run(...together);
        else
          for (let at = 0; at < together.length; at += ROW_VALUES)
            insertEntry.run(...together.slice(at, at + ROW_VALUES));
        together = [];
      };
      for (const { type, data, aside } of entries) {
        if (aside) {
          insertTogether();
          insertAside.run(state.base + state.head, ++state.asides, type, data);
          continue;
        }
        const position = ++state.head;
        assert(position < POSITIONS_PER_STREAM, 'a stream holds fewer entries than keys');
        state.asides = 0;
        together.push(state.base + position, type, stream === 'events' ? stampSeq(data, position) : data);
        if (together.length === ROWS_TOGETHER * ROW_VALUES) insertTogether();
      }
      insertTogether();
    },
    insert(state, { position, aside, type, data }) {
      if (aside > 0) insertAside.run(state.base + position, aside, type, data);
      else insertEntry.run(state.base + position, type, data);
    },
    read({ session, stream, after, limit }) {
      const state = states.find(session, stream);
      if (state === undefined) return { entries: [], head: 0, oldest: 1 };
      const { base, head, trimmed } = state;
      const rows: unknown[] = after >= head ? [] : selectPage.all(base + after, base + head, limit);
      const entries = rows.map((row) => ({
        position: integerAt(row, 0) - base,
        type: textAt(row, 1),
        data: textAt(row, 2),
      }));
      return { entries, head, oldest: trimmed + 1 };
    },
    trim(state, throughPosition) {
      const through = Math.min(throughPosition, state.head);
      if (through <= state.trimmed) return;
      updateTrimmed.run(through, state.base / POSITIONS_PER_STREAM);
      deleteEntries.run(state.base, state.base + through);
      deleteAsides.run(state.base, state.base + through);
      if (through === state.head) state.asides = 0;
      state.trimmed = through;
    },
    sessions: (after, limit) => selectSessions.all(after ?? '', limit).map((row) => textAt(row, 0)),
  };
}

function streamStates(db: Database.Database): Pick<SqliteStreams, 'find' | 'obtain' | 'forget'> {
  const remembered = new Map<string, StreamState>();
  const selectStream = db.prepare('SELECT id, trimmed FROM streams WHERE session = ? AND stream = ?').raw();
  const insertStream = db.prepare('INSERT INTO streams (session, stream) VALUES (?, ?)');
  const selectHead = db.prepare('SELECT max(id) FROM entries WHERE id >= ? AND id < ?').raw();
  const selectAsides = db.prepare('SELECT coalesce(max(place), 0) FROM asides WHERE id = ?').raw();

  const load = (session: string, stream: StreamName): StreamState | undefined => {
    const row: unknown = selectStream.get(session, stream);
    if (row === undefined) return undefined;
    const base = integerAt(row, 0) * POSITIONS_PER_STREAM;
    const trimmed = integerAt(row, 1);
    const last = optionalIntegerAt(selectHead.get(base, base + POSITIONS_PER_STREAM), 0);
    const head = last === undefined ? trimmed : last - base;
    return { base, head, trimmed, asides: integerAt(selectAsides.get(base + head), 0) };
  };
  const find = (session: string, stream: StreamName): StreamState | undefined => {
    const name = `${session}/${stream}`;
    const known = remembered.get(name);
    if (known !== undefined) return known;
    const state = load(session, stream);
    if (state === undefined) return undefined;
    if (remembered.size >= MAX_REMEMBERED) {
      const [oldest] = remembered.keys();
      if (oldest !== undefined) remembered.delete(oldest);
    }
    remembered.set(name, state);
    return state;
  };
  return {
    find,
    obtain(session, stream) {
      const known = find(session, stream);
      if (known !== undefined) return known;
      insertStream.run(session, stream);
      const created = find(session, stream);
      assert(created !== undefined, 'a stream just inserted is found');
      return created;
    },
    forget: () => remembered.clear(),
  };
}
