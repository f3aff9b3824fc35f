import { appendBoth, type Done, type Refused } from '../append-both.ts';
import { checkAppend, checkDocument } from '../check-append.ts';
import { type Append, type Appended, LogError, type StreamName } from '../event-log.ts';
import { type GrowthSignal, growthSignal } from '../growth-signal.ts';
import type { Store, StoreRecord } from '../store.ts';
import { type Commit, type GroupCommit, groupCommit, type Transactions } from './group-commit.ts';
import { openSqliteDatabase, type SqliteDatabase, type SqliteOpening } from './sqlite-database.ts';
import { type SqliteDocuments, sqliteDocuments } from './sqlite-documents.ts';
import { isHeld, sqliteFailure } from './sqlite-failure.ts';
import { type SqliteLeases, sqliteLeases } from './sqlite-leases.ts';
import { dumpSqlite, loadIntoSqlite } from './sqlite-records.ts';
import { integerAt } from './sqlite-row.ts';
import { type SqliteStreams, sqliteStreams } from './sqlite-streams.ts';

export type SqliteState = {
  readonly database: SqliteDatabase;
  readonly streams: SqliteStreams;
  readonly documents: SqliteDocuments;
  readonly leases: SqliteLeases;
  readonly growth: GrowthSignal;
  readonly writes: GroupCommit;
  readonly now: () => number;
  closed: boolean;
};

/** The embedded store: one file, one process, durable at every acknowledgement. Throws LogError when it cannot open. */
export function sqliteEventLog(path: string, opening: SqliteOpening): Store {
  const state = openState(path, opening);
  return {
    ...streamCalls(state),
    ...documentCalls(state),
    ...leaseCalls(state),
    async *dump(): AsyncGenerator<readonly StoreRecord[]> {
      for (const batch of dumpSqlite(state)) {
        yield batch;
        checkOpen(state);
      }
    },
    load: (records) => state.writes.run((commit) => loadIntoSqlite(state, records, commit)),
    size: async () => reading(state, () => usedBytes(state.database.db)),
    ping: async () => {
      await state.writes.run(() => {
        const fact = state.database.db.prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)');
        fact.run('last-ping', String(opening.now()));
      });
    },
    close: async () => {
      if (state.closed) return;
      state.closed = true;
      state.writes.finish();
      state.database.close();
    },
  };
}

function openState(path: string, opening: SqliteOpening): SqliteState {
  const database = openSqliteDatabase(path, opening);
  const { db } = database;
  const { now } = opening;
  try {
    const streams = sqliteStreams(db);
    const documents = sqliteDocuments(db, now);
    const begin = db.prepare('BEGIN IMMEDIATE');
    const commit = db.prepare('COMMIT');
    const transactions: Transactions = {
      begin: () => {
        begin.run();
        database.ownership.check();
      },
      commit: () => void commit.run(),
      rollback() {
        // SQLite ends some failed transactions itself, a full disk's for example.
        if (db.inTransaction) db.exec('ROLLBACK');
        streams.forget();
        documents.forget();
      },
    };
    return {
      database,
      streams,
      documents,
      leases: sqliteLeases(db, now),
      growth: growthSignal(),
      writes: groupCommit(transactions, { isHeld, of: (cause) => sqliteFailure(cause, database.path) }),
      now,
      closed: false,
    };
  } catch (error) {
    database.close();
    throw sqliteFailure(error, database.path);
  }
}

/** Of the pages that hold something: those that were freed are used again before the file grows. */
function usedBytes(db: SqliteDatabase['db']): number {
  const number = (pragma: string): number => integerAt(db.prepare(`PRAGMA ${pragma}`).raw().get(), 0);
  return (number('page_count') - number('freelist_count')) * number('page_size');
}

function checkOpen(state: SqliteState): void {
  if (state.closed) throw new LogError('closed', 'the log is closed');
}

function reading<T>(state: SqliteState, read: () => T): T {
  checkOpen(state);
  try {
    return read();
  } catch (error) {
    throw sqliteFailure(error, state.database.path);
  }
}

function streamCalls(
  state: SqliteState,
): Pick<Store, 'joins' | 'append' | 'read' | 'head' | 'onGrowth' | 'onRewind' | 'trim' | 'listSessions'> {
  const { streams, writes } = state;
  return {
    joins: true,
    append: async (request) => {
      checkAppend(request);
      return writes.run((commit) => appendAll(state, request, commit));
    },
    read: async (request) => reading(state, () => streams.read(request)),
    head: async (session, stream) => reading(state, () => streams.find(session, stream)?.head ?? 0),
    onGrowth: (listener, session) => state.growth.listen(listener, session),
    // One process has it, and what was replaced under it is no store any more.
    onRewind: () => () => undefined,
    trim: (session, stream, throughPosition) =>
      writes.run(() => {
        const found = streams.find(session, stream);
        if (found !== undefined) streams.trim(found, throughPosition);
      }),
    listSessions: async (after, limit) => reading(state, () => streams.sessions(after, limit)),
  };
}

function appendAll(state: SqliteState, request: Append, commit: Commit): Appended {
  return appendBoth(request, {
    headOf: (session, stream) => headOf(state, session, stream),
    refusal: (append) => refusal(state, append),
    append: (append) => appended(state, append, commit),
  });
}

function headOf({ streams }: SqliteState, session: string, stream: StreamName): number {
  return streams.find(session, stream)?.head ?? 0;
}

function refusal(state: SqliteState, { session, fence, streams: named }: Append): Refused | undefined {
  if (fence !== undefined) {
    const epoch = state.leases.fenced(fence.lease, fence.epoch);
    if (epoch !== undefined) return { kind: 'fenced', epoch };
  }
  for (const { stream, expected } of named) {
    if (expected === undefined) continue;
    const actual = headOf(state, session, stream);
    if (expected !== actual) return { kind: 'conflict', stream, actual };
  }
  return undefined;
}

function appended(state: SqliteState, request: Append, commit: Commit): Done {
  const { streams, documents, growth } = state;
  const positions: Partial<Record<StreamName, number>> = {};
  let grew = false;
  for (const { stream, entries } of request.streams) {
    if (entries.length === 0) {
      positions[stream] = headOf(state, request.session, stream);
      continue;
    }
    const target = streams.obtain(request.session, stream);
    const before = target.head;
    streams.append(target, stream, entries);
    grew ||= target.head > before;
    positions[stream] = target.head;
  }
  for (const write of request.documents ?? []) documents.put(write);
  documents.sweep();
  if (grew) commit.announce(() => growth.emit(request.session));
  return { kind: 'appended', positions };
}

function documentCalls(
  state: SqliteState,
): Pick<Store, 'putDocument' | 'createDocument' | 'getDocument' | 'listDocuments'> {
  const { documents, writes } = state;
  return {
    putDocument: async (write) => {
      checkDocument(write);
      await writes.run(() => {
        documents.put(write);
        documents.sweep();
      });
    },
    createDocument: async (write) => {
      checkDocument(write);
      return writes.run(() => documents.create(write));
    },
    getDocument: async (collection, key) => reading(state, () => documents.get(collection, key)),
    listDocuments: async (request) => reading(state, () => documents.list(request)),
  };
}

function leaseCalls(state: SqliteState): Pick<Store, 'acquireLease' | 'renewLease' | 'releaseLease'> {
  const { leases, writes } = state;
  return {
    acquireLease: (request) => writes.run((commit) => leases.acquire(request, commit)),
    renewLease: async (request) => {
      checkOpen(state);
      return leases.renew(request);
    },
    releaseLease: async ({ name, epoch }) => {
      checkOpen(state);
      leases.release(name, epoch);
    },
  };
}
