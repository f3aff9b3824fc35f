import { assert } from '@concerto/base';
import type Database from 'libsql';
import type { Entry, StreamName } from '../event-log.ts';
import { integerAt, optionalIntegerAt } from './sqlite-row.ts';
import { POSITIONS_PER_STREAM } from './sqlite-schema.ts';

/** An entry between positions: the `place`-th after the entry at `position`. */
export type Aside = {
  readonly position: number;
  readonly place: number;
  readonly type: string;
  readonly data: string;
};

/** What is known of a stream without asking the database; this process is the only writer. */
export type StreamState = {
  readonly session: string;
  readonly stream: StreamName;
  /** Key of the entry before the first; none while nothing of it is in its place. */
  base: number | undefined;
  head: number;
  /** Position of the last entry removed. */
  trimmed: number;
  /** How many asides follow the entry at the head. */
  asides: number;
  /** Its last entries, up to the head: those that are in `recent` and not in their place. */
  tail: Entry[];
  tailAsides: Aside[];
};

export type StreamStates = {
  find(session: string, stream: StreamName): StreamState | undefined;
  /** Made when there is none, in memory only. */
  obtain(session: string, stream: StreamName): StreamState;
  /** To be called before it is changed: it is kept as it was until `keep`, and not forgotten before it is in its place. */
  touch(state: StreamState): void;
  /** Those that were changed since the last `keep`, each with how it was. */
  touched(): ReadonlyMap<StreamState, StreamBefore>;
  /** Those that have something which is not in its place. */
  unsettled(): ReadonlySet<StreamState>;
  /** What was changed stays. */
  keep(): void;
  /** What was changed since the last `keep` is as it was. */
  undo(): void;
  /** All of it is in its place. */
  settled(): void;
  /** What the database knows is asked of it again. */
  forget(): void;
};

type StreamBefore = Pick<StreamState, 'head' | 'trimmed' | 'asides' | 'tail' | 'tailAsides'> & {
  readonly tailLength: number;
  readonly tailAsidesLength: number;
  readonly isNew: boolean;
};

/** Streams remembered; those of the session met longest ago are asked of the database again. */
const MAX_REMEMBERED = 20_000;

export function streamStates(db: Database.Database): StreamStates {
  const touched = new Map<StreamState, StreamBefore>();
  const unsettled = new Set<StreamState>();
  const load = streamLoader(db);
  const remembered = rememberedStreams((state) => unsettled.has(state));

  const find = (session: string, stream: StreamName): StreamState | undefined => {
    const known = remembered.find(session, stream);
    if (known !== undefined) return known;
    const loaded = load(session, stream);
    return loaded === undefined ? undefined : remembered.add(loaded);
  };
  const touch = (state: StreamState, isNew = false): void => {
    if (touched.has(state)) return;
    const { head, trimmed, asides, tail, tailAsides } = state;
    const [tailLength, tailAsidesLength] = [tail.length, tailAsides.length];
    touched.set(state, { head, trimmed, asides, tail, tailAsides, tailLength, tailAsidesLength, isNew });
    unsettled.add(state);
  };

  return {
    find,
    obtain(session, stream) {
      const known = find(session, stream);
      if (known !== undefined) return known;
      const state = { session, stream, base: undefined, head: 0, trimmed: 0, asides: 0, tail: [], tailAsides: [] };
      touch(remembered.add(state), true);
      return state;
    },
    touch,
    touched: () => touched,
    unsettled: () => unsettled,
    keep: () => touched.clear(),
    undo() {
      for (const [state, before] of touched) undoOne(state, before);
      touched.clear();
    },
    settled() {
      unsettled.clear();
      touched.clear();
    },
    forget() {
      assert(unsettled.size === 0, 'what is nowhere else is not forgotten');
      remembered.clear();
    },
  };

  function undoOne(state: StreamState, before: StreamBefore): void {
    const { head, trimmed, asides, tail, tailAsides } = before;
    // What was added is taken off again; what was cut off is in the array that it was cut from.
    tail.length = before.tailLength;
    tailAsides.length = before.tailAsidesLength;
    Object.assign(state, { head, trimmed, asides, tail, tailAsides });
    if (before.isNew) remembered.remove(state);
    if (before.isNew || (tail.length === 0 && tailAsides.length === 0 && state.base !== undefined)) {
      unsettled.delete(state);
    }
  }
}

type RememberedStreams = {
  find(session: string, stream: StreamName): StreamState | undefined;
  add(state: StreamState): StreamState;
  remove(state: StreamState): void;
  clear(): void;
};

/** By session and then by name: to make one name of both for every look costs more than the look. */
function rememberedStreams(isNeeded: (state: StreamState) => boolean): RememberedStreams {
  const sessions = new Map<string, Map<StreamName, StreamState>>();
  let count = 0;
  const forgetOldest = (): void => {
    for (const [session, streams] of sessions) {
      if ([...streams.values()].some(isNeeded)) continue;
      sessions.delete(session);
      count -= streams.size;
      return;
    }
  };
  return {
    find: (session, stream) => sessions.get(session)?.get(stream),
    add(state) {
      if (count >= MAX_REMEMBERED) forgetOldest();
      const streams = sessions.get(state.session) ?? new Map<StreamName, StreamState>();
      sessions.set(state.session, streams.set(state.stream, state));
      count++;
      return state;
    },
    remove({ session, stream }) {
      const streams = sessions.get(session);
      if (streams?.delete(stream) !== true) return;
      count--;
      if (streams.size === 0) sessions.delete(session);
    },
    clear() {
      sessions.clear();
      count = 0;
    },
  };
}

function streamLoader(db: Database.Database): (session: string, stream: StreamName) => StreamState | undefined {
  const selectStream = db.prepare('SELECT id, trimmed FROM streams WHERE session = ? AND stream = ?').raw();
  const selectHead = db.prepare('SELECT max(id) FROM entries WHERE id >= ? AND id < ?').raw();
  const selectAsides = db.prepare('SELECT coalesce(max(place), 0) FROM asides WHERE id = ?').raw();
  return (session, stream) => {
    const row: unknown = selectStream.get(session, stream);
    if (row === undefined) return undefined;
    const base = integerAt(row, 0) * POSITIONS_PER_STREAM;
    const trimmed = integerAt(row, 1);
    const last = optionalIntegerAt(selectHead.get(base, base + POSITIONS_PER_STREAM), 0);
    const head = last === undefined ? trimmed : last - base;
    const asides = integerAt(selectAsides.get(base + head), 0);
    return { session, stream, base, head, trimmed, asides, tail: [], tailAsides: [] };
  };
}
