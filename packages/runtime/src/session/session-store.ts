import { assert, err, type JsonObject, ok, type Result } from '@concerto/base';
import type { Append, DocumentWrite, EventLog, NewEntry, StreamAppend } from '@concerto/log';
import { encodeEvent, type PublicEvent, readStored, SessionRecord } from '@concerto/protocol';
import {
  type Decision,
  decide,
  evolve,
  type OpenCall,
  type Refusal,
  restsUntil,
  type SessionCommand,
  type SessionState,
  sessionView,
} from '@concerto/session';
import { recallOpenCalls } from './open-calls.ts';

export const sessionsCollection = 'sessions';
/** Sessions that others opened, by their parent. */
export const childrenCollection = 'children';
/** Sessions that are not over: what runners look through. */
export const unfinishedCollection = 'unfinished';

/** Conflicts in a row before we say that the store is not getting anywhere; each one means that somebody else did. */
const conflictsMax = 100;
const pageEntries = 1_000;
const cachedSessionsMax = 2_000;

export type Fence = { readonly lease: string; readonly epoch: number };
/** The owner of a session, where it lives in this process. */
type OwnerHere = {
  readonly fence: Fence;
  readonly actor: string;
  /** What a turn that a wish ends has to close. */
  readonly openCalls: () => readonly OpenCall[];
  /** Told of each durable decision of this process before anybody else; the head of the commands is after its own. */
  readonly decided: (decision: Decision, head: number | undefined) => void;
};

/** The writer has lost the session to another owner and must stop at once. */
type Fenced = { readonly kind: 'fenced' };
export type Executed = Result<Decision, Refusal | Fenced>;

/** A command, or how to make it from the state that it will be decided on. */
type CommandSource = SessionCommand | ((state: SessionState | undefined) => SessionCommand);

export type ExecuteOptions = {
  readonly fence?: Fence | undefined;
  /** Written in the same commit, if there is one. */
  readonly documents?: readonly DocumentWrite[];
  /** For the journal, in the same commit; there is one then. */
  readonly journal?: readonly NewEntry[];
  /** The same for all tries of one command, so that one which got through unheard is not made again. */
  readonly tries?: Tries;
  /** What its events begin with, of a session that this begins. */
  readonly events?: readonly NewEntry[];
};

/** The tries of one command while the store is away. */
type Tries = {
  /** Positions that nothing of it can be before. */
  readonly since: Heads;
  /** What it became in a try of which no answer came. */
  written?: Decision;
};

/** An append of which no answer came: the store was lost meanwhile, and has perhaps written it. */
type Unheard = { readonly tries: Tries; readonly decision: Decision; readonly append: Append };

type Cached = {
  state: SessionState | undefined;
  position: number;
  busy: Promise<unknown>;
  /** It was deleted: only its last record is left. */
  gone: boolean;
  /** Known before anything else is decided: what follows must see it. */
  unheard?: Unheard | undefined;
};

/**
 * Load, decide, append. The state is kept beside its position: a decision is made on what we know and appended on
 * the condition that nothing has happened since; when something has, we read it and decide again.
 */
export class SessionStore {
  readonly #log: EventLog;
  readonly #cache = new Map<string, Cached>();
  readonly #listeners: ((session: string, decision: Decision) => void)[] = [];
  readonly #owners = new Map<string, OwnerHere>();

  constructor(log: EventLog) {
    this.#log = log;
    log.onRewind(() => this.#cache.clear());
  }

  /** Calls after every decision of this process that is durable. */
  onDecision(listener: (session: string, decision: Decision) => void): void {
    this.#listeners.push(listener);
  }

  /** Until the returned call, what others wish of the session is decided in its owner's place: one commit instead of two. */
  ownedHere(id: string, owner: OwnerHere): () => void {
    this.#owners.set(id, owner);
    return () => {
      if (this.#owners.get(id) === owner) this.#owners.delete(id);
    };
  }

  /** The state as of now; undefined when there is no such session. */
  async state(id: string): Promise<SessionState | undefined> {
    const cached = this.#cached(id);
    await this.#refresh(id, cached);
    if (cached.state === undefined) this.#cache.delete(id);
    return cached.state?.deleted === true ? undefined : cached.state;
  }

  /** What is known without reading; for owners, who are told of everything that happens to their sessions. */
  known(id: string): SessionState | undefined {
    return this.#cache.get(id)?.state;
  }

  async execute(id: string, command: CommandSource, options: ExecuteOptions = {}): Promise<Executed> {
    const cached = this.#cached(id);
    // One decision at a time for a session in this process: our own two would only conflict.
    const run = cached.busy.then(() => this.#decideAndAppend(id, cached, command, options));
    cached.busy = run.catch(() => undefined);
    return await run;
  }

  /**
   * Events and lines of the journal that decide nothing; they touch only these streams. `after` are positions that they
   * cannot be before; when given, what is already there since then is not written again. Gives the heads, or undefined
   * when fenced off.
   */
  async show(id: string, shown: Shown, { at, fence, after, documents = [] }: ShowOptions): Promise<Heads | undefined> {
    const entries = shown.events.map((event) => eventEntry(event, at));
    const streams = [...appendTo('events', entries), ...appendTo('journal', shown.journal)];
    const [first] = streams;
    if (first === undefined) return after ?? { events: 0, journal: 0 };
    // All of it was appended in one piece or not at all: the first of them tells.
    if (after !== undefined && (await this.#holds(id, first, after[first.stream]))) return after;
    const appended = await this.#log.append({ session: id, fence, streams, documents });
    assert(appended.kind !== 'conflict', 'an append without an expected position cannot conflict');
    if (appended.kind === 'fenced') return undefined;
    const { events = 0, journal = 0 } = appended.positions;
    return { events, journal };
  }

  /** Whether these very entries stand in a row after the position. They were appended in one piece or not at all. */
  async #holds(id: string, { stream, entries }: StreamAppend, after: number): Promise<boolean> {
    let matched = 0;
    for (let from = after; ; ) {
      const page = await this.#log.read({ session: id, stream, after: from, limit: pageEntries });
      for (const { data } of page.entries) {
        const wanted = entries[matched]?.data;
        matched = wanted !== undefined && data.startsWith(wanted.slice(0, -1)) ? matched + 1 : 0;
        if (matched === entries.length) return true;
      }
      from = page.entries.at(-1)?.position ?? from;
      if (page.entries.length < pageEntries) return false;
    }
  }

  async #decideAndAppend(
    id: string,
    cached: Cached,
    command: CommandSource,
    options: ExecuteOptions,
  ): Promise<Executed> {
    if (cached.unheard !== undefined) await this.#findOut(id, cached, cached.unheard);
    if (options.tries?.written !== undefined) return ok(options.tries.written);
    let fresh = false;
    if (cached.state === undefined) {
      await this.#refresh(id, cached);
      fresh = true;
    }
    for (let attempt = 0; attempt < conflictsMax; attempt++) {
      const owner = options.fence === undefined ? this.#owners.get(id) : undefined;
      const made = typeof command === 'function' ? command(cached.state) : command;
      const asked = endsLeft(cached.state, made) ? await this.#withOpenCalls(id, made) : made;
      if (cached.gone && asked.type === 'start')
        return err({ code: 'id_in_use', message: `session ${id} was deleted, and its id is not given again` });
      const decided = decide(cached.state, owner === undefined ? asked : inPlaceOf(owner, asked));
      if (!decided.ok || (isEmpty(decided.value) && (options.journal ?? []).length === 0)) {
        if (fresh) return decided;
        // A refusal, and nothing to do, may be about a state that is over.
        await this.#refresh(id, cached);
        fresh = true;
        continue;
      }
      const fence = options.fence ?? owner?.fence;
      const appended = await this.#append(id, { cached, decision: decided.value, options: { ...options, fence } });
      if (appended === 'appended') return ok(decided.value);
      if (appended === 'fenced' && owner === undefined) return err({ kind: 'fenced' });
      // An owner that has lost the session and does not know it yet: the wish is still the user's.
      if (appended === 'fenced' && this.#owners.get(id) === owner) this.#owners.delete(id);
      await this.#refresh(id, cached);
      fresh = true;
    }
    throw new Error(`session ${id}: ${conflictsMax} conflicts in a row`);
  }

  async #withOpenCalls(id: string, asked: SessionCommand): Promise<SessionCommand> {
    return { ...asked, openCalls: (await recallOpenCalls(this.#log, id)).list };
  }

  async #append(id: string, pending: Pending): Promise<'appended' | 'fenced' | 'conflict'> {
    const { cached, decision } = pending;
    const { tries } = pending.options;
    const append = toAppend(id, pending);
    if (tries !== undefined) cached.unheard = { tries, decision, append };
    const appended = await this.#log.append(append);
    cached.unheard = undefined;
    switch (appended.kind) {
      case 'appended':
        // A reader may have come by meanwhile and folded these very records already.
        if (cached.position < (appended.positions.domain ?? 0)) {
          cached.state = decision.state;
          cached.position = appended.positions.domain ?? cached.position;
        }
        this.#tell(id, decision, appended.positions.commands);
        return 'appended';
      case 'fenced':
        return 'fenced';
      case 'conflict':
        return 'conflict';
    }
  }

  async #findOut(id: string, cached: Cached, { tries, decision, append }: Unheard): Promise<void> {
    // The records tell, where there are any: they could only be written at their place.
    const telling = append.streams.find(({ entries }) => entries.length > 0);
    assert(telling !== undefined, 'nothing is appended without entries');
    const { stream, expected } = telling;
    const since = stream === 'events' || stream === 'journal' ? tries.since[stream] : 0;
    const isWritten = await this.#holds(id, telling, expected ?? since);
    if (isWritten) await this.#refresh(id, cached);
    cached.unheard = undefined;
    if (!isWritten) return;
    tries.written = { ...decision, state: cached.state ?? decision.state };
    // Its commands are read back as those of others are: where they stand is not known.
    this.#tell(id, tries.written, undefined);
  }

  #tell(id: string, decision: Decision, commands: number | undefined): void {
    this.#owners.get(id)?.decided(decision, commands);
    for (const listener of this.#listeners) listener(id, decision);
  }

  async #refresh(id: string, cached: Cached): Promise<void> {
    for (;;) {
      const page = await this.#log.read({ session: id, stream: 'domain', after: cached.position, limit: pageEntries });
      cached.gone = cached.position === 0 && page.head > 0 && page.oldest > 1;
      if (page.head < cached.position) {
        // The store has less than it acknowledged: what it holds now is what is true.
        cached.state = undefined;
        cached.position = 0;
        continue;
      }
      for (const entry of page.entries) {
        // Another decision of ours may have moved the state while we read.
        if (entry.position !== cached.position + 1) continue;
        cached.state = evolve(cached.state, readStored(SessionRecord, JSON.parse(entry.data)));
        cached.position = entry.position;
      }
      if (page.entries.length < pageEntries) return;
    }
  }

  #cached(id: string): Cached {
    const known = this.#cache.get(id);
    if (known !== undefined) {
      // Re-inserted, so that the first in the map is the one unused for longest.
      this.#cache.delete(id);
      this.#cache.set(id, known);
      return known;
    }
    const fresh: Cached = { state: undefined, position: 0, busy: Promise.resolve(), gone: false };
    this.#cache.set(id, fresh);
    if (this.#cache.size > cachedSessionsMax) {
      const oldest = this.#cache.keys().next();
      if (oldest.done !== true) this.#cache.delete(oldest.value);
    }
    return fresh;
  }
}

type Pending = { readonly cached: Cached; readonly decision: Decision; readonly options: ExecuteOptions };

function inPlaceOf({ fence, actor, openCalls }: OwnerHere, command: SessionCommand): SessionCommand {
  return { ...command, attending: { epoch: fence.epoch, actor }, openCalls: openCalls() };
}

function isEmpty({ records, events, acks, commands }: Decision): boolean {
  return records.length === 0 && events.length === 0 && acks.length === 0 && commands.length === 0;
}

type Heads = { readonly events: number; readonly journal: number };
type Shown = { readonly events: readonly PublicEvent[]; readonly journal: readonly NewEntry[] };
type ShowOptions = Pick<ExecuteOptions, 'documents'> & {
  readonly at: string;
  readonly fence: Fence;
  readonly after?: Heads;
};

function appendTo<Stream extends keyof Heads>(
  stream: Stream,
  entries: readonly NewEntry[],
): readonly (StreamAppend & { readonly stream: Stream })[] {
  return entries.length === 0 ? [] : [{ stream, entries }];
}

function toAppend(id: string, { cached, decision, options }: Pending): Append {
  const { fence, documents = [], journal = [], events = [] } = options;
  return {
    session: id,
    ...(fence === undefined ? {} : { fence }),
    streams: [
      { stream: 'domain', expected: cached.position, entries: decision.records.map(plainEntry) },
      ...(decision.commands.length === 0
        ? []
        : [{ stream: 'commands' as const, entries: decision.commands.map(plainEntry) }]),
      ...(events.length + decision.events.length + decision.acks.length === 0
        ? []
        : [
            {
              stream: 'events' as const,
              entries: [
                ...events,
                // First: what follows from an acknowledgement comes after it, and nothing comes after `finish`.
                ...decision.acks.map((ack): NewEntry => ({ ...plainEntry(ack), aside: true })),
                ...decision.events.map((event) => eventEntry(event, decision.at)),
              ],
            },
          ]),
      ...appendTo('journal', journal),
    ],
    documents: [
      ...documents,
      ...(decision.records.length === 0 ? [] : indexDocuments(id, cached.state, decision.state)),
    ],
  };
}

function plainEntry(value: { readonly type: string }): NewEntry {
  return { type: value.type, data: JSON.stringify(value) };
}

function eventEntry(event: PublicEvent, at: string): NewEntry {
  return { type: event.type, data: encodeEvent(event, at) };
}

/** A program runs without a place of the pool. */
function unfinishedRow(state: SessionState): JsonObject {
  const { kind, slot, parent, supervises, code } = state;
  const until = restsUntil(state);
  return {
    ...(until === undefined ? {} : { restsUntil: until }),
    slot: slot.kind,
    ...(kind === 'program' ? { unpooled: true } : {}),
    // A supervisor ends by itself when what it supervises does.
    ...(parent === undefined || supervises !== undefined
      ? {}
      : { parent, ...(code === undefined ? { called: true } : {}) }),
  };
}

/** The list's row, and what runners look through; the latter only when it says something new, since every page counts. */
function indexDocuments(id: string, before: SessionState | undefined, state: SessionState): readonly DocumentWrite[] {
  const view = sessionView(state, 0);
  const same = before?.slot.kind === state.slot.kind && before.end === state.end && before.rests === state.rests;
  const row: DocumentWrite = {
    collection: state.parent === undefined ? sessionsCollection : childrenCollection,
    key: id,
    value: state.deleted === true ? undefined : JSON.stringify(view),
    sort: state.createdAt,
    tag: state.parent ?? view.status,
  };
  if (same) return [row];
  const unfinished: DocumentWrite = {
    collection: unfinishedCollection,
    key: id,
    value: state.end === undefined ? JSON.stringify(unfinishedRow(state)) : undefined,
    sort: state.createdAt,
  };
  return [row, unfinished];
}

/** Who ends a program that nobody owns closes what its last owner had shown as open. */
function endsLeft(state: SessionState | undefined, asked: SessionCommand): boolean {
  const isLeft = state?.kind === 'program' && state.turn.active && state.agentProcess.kind === 'none';
  return isLeft && asked.type === 'control' && asked.openCalls === undefined;
}
