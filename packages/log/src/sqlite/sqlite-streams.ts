import { assert } from '@concerto/base';
import type Database from 'libsql';
import type { Entry, NewEntry, Page, ReadRequest, StreamName } from '../event-log.ts';
import { stampSeq } from '../stamp-seq.ts';
import { byCodePoint } from './code-point-order.ts';
import { type StreamTables, streamTables } from './place-streams.ts';
import type { RecentStream } from './recent-text.ts';
import { integerAt, textAt } from './sqlite-row.ts';
import { POSITIONS_PER_STREAM } from './sqlite-schema.ts';
import { type StreamState, type StreamStates, streamStates } from './stream-states.ts';
import { type Tally, tally, type Unsettled, withPlaces } from './unsettled.ts';

export type SqliteStreams = Unsettled<RecentStream> & {
  find(session: string, stream: StreamName): StreamState | undefined;
  obtain(session: string, stream: StreamName): StreamState;
  append(state: StreamState, entries: readonly NewEntry[]): void;
  /** Takes up what `recent` held; false when it does not follow what is there. */
  restore(recent: RecentStream): boolean;
  read(request: ReadRequest): Page;
  /** In memory; returns what is to be done in the tables, unless nothing is removed. */
  trim(state: StreamState, throughPosition: number): (() => void) | undefined;
  sessions(after: string | undefined, limit: number): string[];
  /** For loading a dump; what they then hold is not known here until it is asked for again. */
  readonly tables: Pick<StreamTables, 'obtain' | 'insert' | 'trim'>;
  /** What the database knows is asked of it again. */
  forget(): void;
};

export function sqliteStreams(db: Database.Database): SqliteStreams {
  const states = streamStates(db);
  const tables = streamTables(db);
  const amounts = tally();
  return {
    find: (session, stream) => states.find(session, stream),
    obtain: (session, stream) => states.obtain(session, stream),
    ...streamChanges(states, tables, amounts),
    read: (request) => {
      const state = states.find(request.session, request.stream);
      return state === undefined ? { entries: [], head: 0, oldest: 1 } : readPage(state, request, tables);
    },
    sessions(after, limit) {
      const inPlace = tables.sessions(after ?? '', limit);
      const waiting = [...states.unsettled()].filter(({ base }) => base === undefined).map(({ session }) => session);
      if (waiting.length === 0) return inPlace;
      const more = waiting.filter((session) => byCodePoint(session, after ?? '') > 0);
      return [...new Set([...inPlace, ...more])].sort(byCodePoint).slice(0, limit);
    },
    tables,
    forget: () => states.forget(),
    ...unsettledStreams(states, tables, amounts),
  };
}

function streamChanges(
  states: StreamStates,
  tables: StreamTables,
  amounts: Tally,
): Pick<SqliteStreams, 'append' | 'restore' | 'trim'> {
  return {
    append(state, entries) {
      states.touch(state);
      for (const { type, data, aside } of entries) {
        amounts.count(1, type.length + data.length);
        if (aside) {
          state.tailAsides.push({ position: state.head, place: ++state.asides, type, data });
          continue;
        }
        const position = ++state.head;
        assert(position < POSITIONS_PER_STREAM, 'a stream holds fewer entries than keys');
        state.asides = 0;
        state.tail.push({ position, type, data: state.stream === 'events' ? stampSeq(data, position) : data });
      }
    },
    restore(recent) {
      const state = states.obtain(recent.session, recent.stream);
      const asides = asidesAfter(recent, state);
      if (state.head !== recent.after || asides === undefined) return false;
      states.touch(state);
      state.tail.push(...recent.entries);
      state.tailAsides.push(...recent.asides);
      state.head += recent.entries.length;
      state.asides = asides;
      return true;
    },
    trim(state, throughPosition) {
      const through = Math.min(throughPosition, state.head);
      if (through <= state.trimmed) return undefined;
      states.touch(state);
      state.tail = state.tail.filter(({ position }) => position > through);
      state.tailAsides = state.tailAsides.filter(({ position }) => position > through);
      if (through === state.head) state.asides = 0;
      state.trimmed = through;
      return () => tables.trim(tables.obtain(state), through);
    },
  };
}

function unsettledStreams(states: StreamStates, tables: StreamTables, amounts: Tally): Unsettled<RecentStream> {
  return {
    added: () => withPlaces(amounts.added(), states.touched().size),
    waiting: () => withPlaces(amounts.waiting(), states.unsettled().size),
    recent: () =>
      [...states.touched()].map(([state, before]) => ({
        session: state.session,
        stream: state.stream,
        after: before.head,
        entries: state.tail.slice(before.tailLength),
        asides: state.tailAsides.slice(before.tailAsidesLength),
      })),
    keep() {
      states.keep();
      amounts.keep();
    },
    undo() {
      states.undo();
      amounts.undo();
    },
    place() {
      const placed = tables.place(states.unsettled());
      return () => {
        for (const [state, base] of placed) {
          state.base = base;
          state.tail = [];
          state.tailAsides = [];
        }
        states.settled();
        amounts.settled();
      };
    },
  };
}

/** How many stand at the end then; undefined when they do not count on from those that are there. */
function asidesAfter({ after, entries, asides }: RecentStream, state: StreamState): number | undefined {
  const head = after + entries.length;
  let position = after;
  let place = state.asides;
  for (const aside of asides) {
    if (aside.position !== position) place = 0;
    if (aside.position < position || aside.position > head || aside.place !== place + 1) return undefined;
    position = aside.position;
    place = aside.place;
  }
  return position === head ? place : 0;
}

/** Up to the tail from the table, the rest from memory: who follows the end asks nobody. */
function readPage(state: StreamState, { after, limit }: ReadRequest, tables: StreamTables): Page {
  const { base, head, trimmed, tail } = state;
  const placed = head - tail.length;
  const oldest = trimmed + 1;
  if (after >= placed) return { entries: tail.slice(after - placed, after - placed + limit), head, oldest };
  if (base === undefined) return { entries: tail.slice(0, limit), head, oldest };
  const entries: Entry[] = tables.page(base + after, base + placed, limit).map((row) => ({
    position: integerAt(row, 0) - base,
    type: textAt(row, 1),
    data: textAt(row, 2),
  }));
  for (let at = 0; at < tail.length && entries.length < limit; at++) {
    const entry = tail[at];
    if (entry !== undefined) entries.push(entry);
  }
  return { entries, head, oldest };
}
