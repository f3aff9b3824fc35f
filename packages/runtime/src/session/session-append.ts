import type { JsonObject } from '@concerto/base';
import {
  type Append,
  type DocumentWrite,
  LazyDocument,
  LazyEntry,
  type NewEntry,
  type StreamAppend,
} from '@concerto/log';
import type { PublicEvent } from '@concerto/protocol';
import { type Decision, restsUntil, rowView, type SessionState, statusOf, waitsForChildren } from '@concerto/session';

export const sessionsCollection = 'sessions';
/** Sessions that others opened, by their parent. */
export const childrenCollection = 'children';
/** Sessions that are not over: what runners look through. */
export const unfinishedCollection = 'unfinished';

export type Fence = { readonly lease: string; readonly epoch: number };

/** Decisions that were made one upon the other, and what goes with them, in one commit. */
export type Deciding = {
  readonly before: { readonly state: SessionState | undefined; readonly position: number };
  readonly decisions: readonly Decision[];
  readonly fence: Fence | undefined;
  readonly documents: readonly DocumentWrite[];
  readonly journal: readonly NewEntry[];
  /** What its events begin with, of a session that this begins. */
  readonly events: readonly NewEntry[];
};

export function appendTo<Stream extends 'commands' | 'events' | 'journal'>(
  stream: Stream,
  entries: readonly NewEntry[],
): readonly (StreamAppend & { readonly stream: Stream })[] {
  return entries.length === 0 ? [] : [{ stream, entries }];
}

export function toAppend(id: string, deciding: Deciding): Append {
  const { before, decisions, fence, documents, journal, events } = deciding;
  const records: NewEntry[] = [];
  const commands: NewEntry[] = [];
  const shown: NewEntry[] = [...events];
  for (const decision of decisions) {
    for (const record of decision.records) records.push(new LazyEntry(record));
    for (const command of decision.commands) commands.push(new LazyEntry(command));
    // First: what follows from an acknowledgement comes after it, and nothing comes after `finish`.
    for (const ack of decision.acks) shown.push(new LazyEntry(ack, undefined, true));
    for (const event of decision.events) shown.push(eventEntry(event, decision.at));
  }
  const state = decisions.at(-1)?.state;
  const rows = records.length === 0 || state === undefined ? [] : indexDocuments(id, before.state, state);
  return {
    session: id,
    ...(fence === undefined ? {} : { fence }),
    streams: [
      { stream: 'domain', expected: before.position, entries: records },
      ...appendTo('commands', commands),
      ...appendTo('events', shown),
      ...appendTo('journal', journal),
    ],
    documents: documents.length === 0 ? rows : [...documents, ...rows],
  };
}

export function eventEntry(event: PublicEvent, at: string): NewEntry {
  return new LazyEntry(event, at);
}

/** A program runs without a place of the pool. */
function unfinishedRow(state: SessionState): JsonObject {
  const { kind, slot, parent, supervises, code, rests, turn } = state;
  const until = restsUntil(state);
  return {
    ...(until === undefined ? {} : { restsUntil: until }),
    ...(rests?.on === undefined ? {} : { restsOn: true }),
    ...(waitsForChildren(state) ? { endsBelow: true } : {}),
    slot: slot.kind,
    ...(kind === 'program' ? { unpooled: true, ...(turn.active ? {} : { idle: true }) } : {}),
    // A supervisor ends by itself when what it supervises does.
    ...(parent === undefined || supervises !== undefined
      ? {}
      : { parent, ...(code === undefined ? { called: true } : {}) }),
  };
}

/** The list's row, and what runners look through; the latter only when it says something new, since every page counts. */
function indexDocuments(id: string, before: SessionState | undefined, state: SessionState): readonly DocumentWrite[] {
  const same =
    before?.slot.kind === state.slot.kind &&
    before.end === state.end &&
    before.rests === state.rests &&
    waitsForChildren(before) === waitsForChildren(state) &&
    (state.kind !== 'program' || before.turn.active === state.turn.active);
  const place = {
    collection: state.parent === undefined ? sessionsCollection : childrenCollection,
    key: id,
    sort: state.createdAt,
    tag: state.parent ?? statusOf(state),
  };
  const row: DocumentWrite =
    state.deleted === true
      ? { ...place, value: undefined }
      : new LazyDocument(place, () => JSON.stringify(rowView(state, 0)));
  if (same) return [row];
  const unfinished: DocumentWrite = {
    collection: unfinishedCollection,
    key: id,
    value: state.end === undefined ? JSON.stringify(unfinishedRow(state)) : undefined,
    sort: state.createdAt,
  };
  return [row, unfinished];
}
