import { assert } from '@concerto/base';
import type Database from 'libsql';
import { type StreamName, streamNames } from '../event-log.ts';
import { DUMP_BATCH, type StoreRecord } from '../store.ts';
import type { Commit } from './group-commit.ts';
import type { SqliteState } from './sqlite-event-log.ts';
import { integerAt, textAt } from './sqlite-row.ts';
import { POSITIONS_PER_STREAM } from './sqlite-schema.ts';

/** Reads the tables themselves: whatever was written meanwhile is put there before each look. */
export function* dumpSqlite(state: SqliteState): Generator<readonly StoreRecord[]> {
  // Once: a statement's memory is not the engine's, which sees no reason to let thousands of them go.
  const select = state.database.db
    .prepare(
      `SELECT id, 0 AS place, type, data FROM entries WHERE (id, 0) > (?, ?) AND id < ?
       UNION ALL
       SELECT id, place, type, data FROM asides WHERE (id, place) > (?, ?) AND id < ?
       ORDER BY id, place LIMIT ?`,
    )
    .raw();
  let after: string | undefined;
  for (;;) {
    const sessions = state.streams.sessions(after, DUMP_BATCH);
    if (sessions.length === 0) break;
    for (const session of sessions)
      for (const stream of streamNames) yield* dumpStream(state, select, { session, stream });
    after = sessions.at(-1);
  }
  yield* dumpDocuments(state);
  const leases: StoreRecord[] = [];
  for (const [name, { epoch, owner, expiresAt }] of state.leases.all()) {
    const held = owner !== undefined && expiresAt > state.now();
    leases.push({ kind: 'lease', name, epoch, ...(held && { heldBy: owner }) });
  }
  for (let start = 0; start < leases.length; start += DUMP_BATCH) yield leases.slice(start, start + DUMP_BATCH);
}

function* dumpStream(
  state: SqliteState,
  select: Database.Statement,
  { session, stream }: { readonly session: string; readonly stream: StreamName },
): Generator<readonly StoreRecord[]> {
  state.commits.settle();
  const found = state.streams.find(session, stream);
  if (found === undefined) return;
  const { base, head, trimmed } = found;
  assert(base !== undefined, 'what is settled has a place');
  yield [{ kind: 'stream', session, stream, head, oldest: trimmed + 1 }];
  let id = base;
  let place = 0;
  for (;;) {
    state.commits.settle();
    const end = base + POSITIONS_PER_STREAM;
    const rows: unknown[] = select.all(id, place, end, id, place, end, DUMP_BATCH);
    if (rows.length === 0) return;
    id = integerAt(rows.at(-1), 0);
    place = integerAt(rows.at(-1), 1);
    yield rows.map((row) => ({
      kind: 'entry',
      session,
      stream,
      position: integerAt(row, 0) - base,
      aside: integerAt(row, 1),
      type: textAt(row, 2),
      data: textAt(row, 3),
    }));
  }
}

function* dumpDocuments(state: SqliteState): Generator<readonly StoreRecord[]> {
  let last = 0;
  for (;;) {
    state.commits.settle();
    const rows = state.documents.after(last, DUMP_BATCH);
    if (rows.length === 0) return;
    last = rows.at(-1)?.id ?? last;
    yield rows.map(({ document }) => ({ kind: 'document', ...document }));
  }
}

export function loadIntoSqlite(state: SqliteState, batch: readonly StoreRecord[], commit: Commit): void {
  const { documents, leases, streams } = state;
  for (const record of batch) {
    if (record.kind === 'document') documents.put(record);
    else if (record.kind === 'lease') leases.load(record.name, record.epoch, commit);
  }
  commit.inPlace(() => loadStreams(state, batch));
  // Heads and asides are counted anew from what is stored.
  commit.afterCommit(() => streams.forget());
}

function loadStreams({ streams: { tables } }: SqliteState, batch: readonly StoreRecord[]): void {
  const bases = new Map<string, number>();
  const baseOf = (session: string, stream: StreamName): number => {
    const name = `${session}/${stream}`;
    const base = bases.get(name) ?? tables.obtain({ session, stream, base: undefined });
    bases.set(name, base);
    return base;
  };
  for (const record of batch) {
    if (record.kind === 'stream') {
      const base = baseOf(record.session, record.stream);
      if (record.oldest > 1) tables.trim(base, record.oldest - 1);
    } else if (record.kind === 'entry') tables.insert(baseOf(record.session, record.stream), record);
  }
}
