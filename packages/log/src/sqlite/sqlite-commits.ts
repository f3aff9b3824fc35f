import type { Transactions } from './group-commit.ts';
import { encodeRecent } from './recent-text.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import type { SqliteDocuments } from './sqlite-documents.ts';
import { sqliteRecent } from './sqlite-recent.ts';
import type { SqliteStreams } from './sqlite-streams.ts';
import { type Amount, sum } from './unsettled.ts';

export type SqliteCommits = Transactions & {
  /** Puts everything in its place. */
  settle(): void;
  /** What a process that was killed left in `recent`, in its place. */
  recover(): void;
  /** Ends the wait for a quiet moment. */
  stop(): void;
};

/** Of the database, in bytes: what a place costs, however little is written there. */
const PAGE = 4_096;
/** Most that waits to be put in its place: bounds the memory, and how long that keeps the process from other work. */
const WAITING_MAX: Amount = { rows: 256, length: 256 * 1024, places: 128 };
/** What waits is put in its place when nothing was written for so long. */
const QUIET_MS = 200;

type Parts = {
  readonly database: SqliteDatabase;
  readonly streams: SqliteStreams;
  readonly documents: SqliteDocuments;
};

/**
 * How a group is stored. A small one is one row of `recent`, because a commit costs what it touches, and in their
 * places a message's few entries and documents touch ten pages. From there everything moves to its place together: with a
 * large group, when too much waits, in a quiet moment, and before somebody reads the tables themselves.
 */
export function sqliteCommits({ database, streams, documents }: Parts): SqliteCommits {
  const { db, ownership } = database;
  const begin = db.prepare('BEGIN IMMEDIATE');
  const end = db.prepare('COMMIT');
  const recent = sqliteRecent(database);
  /** Groups that are in `recent`. */
  let waiting = 0;

  const place = (inPlace: readonly (() => void)[]): void => {
    let placed: readonly (() => void)[];
    begin.run();
    try {
      ownership.check();
      for (const action of inPlace) action();
      placed = [streams.place(), documents.place()];
      if (waiting > 0) recent.clear();
      end.run();
    } catch (error) {
      // SQLite ends some failed transactions itself, a full disk's for example.
      if (db.inTransaction) db.exec('ROLLBACK');
      documents.forget();
      throw error;
    }
    for (const action of placed) action();
    waiting = 0;
  };
  const settle = (): void => {
    if (waiting > 0) place([]);
  };
  const quiet = whenQuiet(QUIET_MS, settle);
  const keep = (): void => {
    streams.keep();
    documents.keep();
    waiting++;
    quiet.later();
  };

  return {
    commit(inPlace) {
      const added = sum(streams.added(), documents.added());
      if (inPlace.length === 0 && added.places === 0) return ownership.check();
      const mayWait =
        inPlace.length === 0 && isSmall(added) && isWithin(sum(streams.waiting(), documents.waiting()), WAITING_MAX);
      const text = mayWait && encodeRecent({ streams: streams.recent(), documents: documents.recent() });
      if (typeof text !== 'string') return place(inPlace);
      recent.add(text);
      keep();
    },
    rollback() {
      streams.undo();
      documents.undo();
    },
    settle,
    recover() {
      for (const { streams: grown, documents: written } of recent.all()) {
        for (const stream of grown) if (!streams.restore(stream)) throw recent.damaged();
        for (const write of written) documents.put(write);
        waiting++;
      }
      settle();
    },
    stop: () => quiet.stop(),
  };
}

type Quiet = { later(): void; stop(): void };

/** Does it when nobody said `later` for so long. It keeps no process alive. */
function whenQuiet(ms: number, action: () => void): Quiet {
  let timer: NodeJS.Timeout | undefined;
  const go = (): void => {
    try {
      action();
    } catch {
      // What waits is as durable where it is. Whoever needs room for more is told.
      timer?.refresh();
    }
  };
  return {
    later() {
      if (timer === undefined) timer = setTimeout(go, ms).unref();
      else timer.refresh();
    },
    stop: () => clearTimeout(timer),
  };
}

/** Together it takes fewer pages than in its places: what is larger is better written once. */
function isSmall({ length, places }: Amount): boolean {
  return length <= places * PAGE;
}

function isWithin(amount: Amount, limit: Amount): boolean {
  return amount.rows <= limit.rows && amount.length <= limit.length && amount.places <= limit.places;
}
