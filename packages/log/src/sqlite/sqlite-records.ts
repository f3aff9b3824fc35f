import { unreachable } from '@concerto/base';
import { type StreamName, streamNames } from '../event-log.ts';
import { DUMP_BATCH, type StoreRecord } from '../store.ts';
import type { Commit } from './group-commit.ts';
import type { SqliteState } from './sqlite-event-log.ts';
import { integerAt, textAt } from './sqlite-row.ts';
import { POSITIONS_PER_STREAM } from './sqlite-schema.ts';

export function* dumpSqlite(state: SqliteState): Generator<readonly StoreRecord[]> {
  let after: string | undefined;
  for (;;) {
    const sessions = state.streams.sessions(after, DUMP_BATCH);
    if (sessions.length === 0) break;
    for (const session of sessions) for (const stream of streamNames) yield* dumpStream(state, session, stream);
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

function* dumpStream(state: SqliteState, session: string, stream: StreamName): Generator<readonly StoreRecord[]> {
  const found = state.streams.find(session, stream);
  if (found === undefined) return;
  const { base, head, trimmed } = found;
  yield [{ kind: 'stream', session, stream, head, oldest: trimmed + 1 }];
  const select = state.database.db
    .prepare(
      `SELECT id, 0 AS place, type, data FROM entries WHERE (id, 0) > (?, ?) AND id < ?
       UNION ALL
       SELECT id, place, type, data FROM asides WHERE (id, place) > (?, ?) AND id < ?
       ORDER BY id, place LIMIT ?`,
    )
    .raw();
  let id = base;
  let place = 0;
  for (;;) {
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
    const rows = state.documents.after(last, DUMP_BATCH);
    if (rows.length === 0) return;
    last = rows.at(-1)?.id ?? last;
    yield rows.map(({ document }) => ({ kind: 'document', ...document }));
  }
}

export function loadIntoSqlite(state: SqliteState, batch: readonly StoreRecord[], commit: Commit): void {
  const { streams, documents, leases } = state;
  for (const record of batch) {
    switch (record.kind) {
      case 'stream': {
        const stream = streams.obtain(record.session, record.stream);
        stream.head = record.head;
        streams.trim(stream, record.oldest - 1);
        break;
      }
      case 'entry':
        streams.insert(streams.obtain(record.session, record.stream), record);
        break;
      case 'document':
        documents.put(record);
        break;
      case 'lease':
        leases.load(record.name, record.epoch, commit);
        break;
      default:
        unreachable(record);
    }
  }
  // Heads and asides are counted anew from what is stored.
  commit.afterCommit(() => streams.forget());
}
