import { appendBoth, type Done, type Refused } from '../append-both.ts';
import { checkAppend, checkDocument } from '../check-append.ts';
import { type Append, type Appended, LogError, type StreamName } from '../event-log.ts';
import { type GrowthSignal, growthSignal } from '../growth-signal.ts';
import type { Store, StoreRecord } from '../store.ts';
import { type Commit, type GroupCommit, groupCommit } from './group-commit.ts';
import { type SqliteCommits, sqliteCommits } from './sqlite-commits.ts';
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
  readonly commits: SqliteCommits;
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
      const batches = dumpSqlite(state);
      for (;;) {
        const { value, done } = reading(state, () => batches.next());
        if (done === true) return;
        yield value;
      }
    },
    load: (records) => state.writes.run((commit) => loadIntoSqlite(state, records, commit)),
    size: async () => reading(state, () => usedBytes(state)),
    ping: async () => {
      await state.writes.run((commit) => {
        const fact = state.database.db.prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)');
        commit.inPlace(() => void fact.run('last-ping', String(opening.now())));
      });
    },
    close: async () => {
      if (state.closed) return;
      state.closed = true;
      state.writes.finish();
      state.growth.emitNow();
      state.commits.stop();
      settleIfPossible(state);
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
    const commits = sqliteCommits({ database, streams, documents });
    commits.recover();
    database.stopWaiting();
    return {
      database,
      streams,
      documents,
      leases: sqliteLeases(db, now),
      commits,
      growth: growthSignal(),
      writes: groupCommit(commits, { isHeld, of: (cause) => sqliteFailure(cause, database.path) }),
      now,
      closed: false,
    };
  } catch (error) {
    database.close();
    throw sqliteFailure(error, database.path);
  }
}

/** What waits stays where it is, as durable, when there is no room for it or somebody holds the file. */
function settleIfPossible({ commits }: SqliteState): void {
  try {
    commits.settle();
  } catch {
    // Tried again with the next write, or at the next opening.
  }
}

/** Of the pages that hold something: those that were freed are used again before the file grows. */
function usedBytes(state: SqliteState): number {
  settleIfPossible(state);
  const { db } = state.database;
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
      writes.run((commit) => {
        const found = streams.find(session, stream);
        const inTables = found && streams.trim(found, throughPosition);
        if (inTables !== undefined) commit.inPlace(inTables);
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
    streams.append(target, entries);
    grew ||= target.head > before;
    positions[stream] = target.head;
  }
  for (const write of request.documents ?? []) documents.put(write);
  if (grew) commit.afterCommit(() => growth.emitSoon(request.session));
  return { kind: 'appended', positions };
}

function documentCalls(
  state: SqliteState,
): Pick<Store, 'putDocument' | 'createDocument' | 'getDocument' | 'listDocuments'> {
  const { documents, writes } = state;
  return {
    putDocument: async (write) => {
      checkDocument(write);
      await writes.run(() => documents.put(write));
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
