import { assert, err, ok, type Result } from '@concerto/base';
import type { Append, Appended, EventLog, NewEntry, Positions, StreamAppend } from '@concerto/log';
import { type PublicEvent, readStored, SessionRecord } from '@concerto/protocol';
import { type Decision, evolve, type Refusal, type SessionCommand, type SessionState } from '@concerto/session';
import { recallOpenCalls } from './open-calls.ts';
import { appendTo, eventEntry, type Fence } from './session-append.ts';
import {
  type CommandSource,
  type ExecuteOptions,
  type Heads,
  type Made,
  makeDecision,
  type OwnerHere,
  type Tries,
} from './session-decision.ts';
import { WordsAhead } from './words-ahead.ts';

/** Conflicts in a row before we say that the store is not getting anywhere; each one means that somebody else did. */
const conflictsMax = 100;
const pageEntries = 1_000;
/** Beside those that are owned here. */
const cachedSessionsMax = 2_000;
/** So many of the oldest are looked at for one that may be forgotten: thousands may be owned here, and each newcomer asks. */
const oldestLooks = 8;

/** The writer has lost the session to another owner and must stop at once. */
type Fenced = { readonly kind: 'fenced' };
export type Executed = Result<Decision, Refusal | Fenced>;

/** What follows in another session from what is shown in one; `seq` is where that stands. */
export type Following = {
  readonly session: string;
  readonly command: (seq: number) => SessionCommand;
  /** Both or neither, in one commit. */
  readonly joined?: boolean;
};

/** An append of which no answer came: the store was lost meanwhile, and has perhaps written it. */
type Unheard = { readonly tries: Tries; readonly made: Made };

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
  readonly #watchers = new Map<string, Set<() => void>>();
  /** What agents say to programs of this process, a moment before it is on record. */
  readonly ahead: WordsAhead;

  constructor(log: EventLog) {
    this.#log = log;
    this.ahead = new WordsAhead(log.joins);
    log.onRewind(() => this.#cache.clear());
  }

  /** Calls after every decision of this process that is durable. */
  onDecision(listener: (session: string, decision: Decision) => void): void {
    this.#listeners.push(listener);
  }

  /** Calls whenever this process has decided something of the session, before the log tells everybody that it has grown. */
  onDecided(id: string, listener: () => void): () => void {
    const watchers = this.#watchers.get(id) ?? new Set();
    this.#watchers.set(id, watchers.add(listener));
    return () => {
      watchers.delete(listener);
      if (watchers.size === 0 && this.#watchers.get(id) === watchers) this.#watchers.delete(id);
    };
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
  async show(id: string, shown: Shown, options: ShowOptions): Promise<Heads | undefined> {
    const heads = await this.#show(id, shown, options);
    assert(heads !== 'unjoined', 'nothing was to follow');
    return heads;
  }

  async #show(
    id: string,
    shown: Shown,
    { at, fence, after, documents = [] }: ShowOptions,
    { next, joined }: Pick<Append, 'next' | 'joined'> = {},
  ): Promise<(Heads & { readonly next?: Appended }) | 'unjoined' | undefined> {
    const entries = shown.events.map((event) => eventEntry(event, at));
    const streams = [...appendTo('events', entries), ...appendTo('journal', shown.journal)];
    const [first] = streams;
    if (first === undefined) return after ?? { events: 0, journal: 0 };
    // All of it was appended in one piece or not at all: the first of them tells.
    if (after !== undefined && (await this.#holds(id, first, after[first.stream]))) return after;
    const appended = await this.#log.append({ session: id, fence, streams, documents, next, joined });
    assert(appended.kind !== 'conflict', 'an append without an expected position cannot conflict');
    if (appended.kind === 'fenced') return undefined;
    if (appended.kind === 'unjoined') return 'unjoined';
    const { events = 0, journal = 0 } = appended.positions;
    return { events, journal, ...(appended.next === undefined ? {} : { next: appended.next }) };
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

  /**
   * As `show`, and what follows from it in another session: in one commit where the store can do that and nobody was
   * quicker there, else in one after the other; where it must be one commit and cannot, nothing is written. What follows
   * is tried again whenever the store is away.
   */
  async showAndFollow(
    id: string,
    { shown, options }: { readonly shown: Shown; readonly options: ShowOptions },
    following: Following,
  ): Promise<{ readonly heads: Heads; readonly executed: Executed } | 'unjoined' | undefined> {
    const { session, joined = false } = following;
    const cached = this.#cached(session);
    const run = cached.busy.then(async () => {
      if (cached.unheard !== undefined) await this.#findOut(session, cached, cached.unheard);
      if (cached.state === undefined) await this.#refresh(session, cached);
      let made: Result<Made, Refusal> | undefined;
      let seq = 0;
      const heads = await this.#show(id, shown, options, {
        joined: joined ? true : undefined,
        next: ({ events = 0 }) => {
          seq = events;
          const { state, position, gone } = cached;
          const known = { id: session, state, position, gone };
          made = makeDecision(known, this.#owners.get(session), following.command(events), {});
          if (!made.ok || made.value.decisions.length === 0) return undefined;
          cached.unheard = { tries: { since: { events: 0, journal: 0 } }, made: made.value };
          return made.value.append;
        },
      });
      cached.unheard = undefined;
      if (heads === undefined || heads === 'unjoined') return heads;
      const { next } = heads;
      if (next?.kind === 'appended' && made?.ok === true) {
        this.#written(session, cached, made.value, next.positions);
        return { heads, executed: ok(made.value.decision) };
      }
      return { heads, executed: await this.#decideAndAppend(session, cached, following.command(seq), {}) };
    });
    cached.busy = run.catch(() => undefined);
    return await run;
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
    let isBack = false;
    if (cached.state === undefined) {
      await this.#refresh(id, cached);
      fresh = true;
    }
    for (let attempt = 0; attempt < conflictsMax; attempt++) {
      // What an owner reports happened in a past that is gone; whoever claims the session anew finds out what is left of it.
      if (isBack && options.fence !== undefined) return err({ kind: 'fenced' });
      const asked = await this.#withOpenCalls(id, cached.state, command);
      const { state, position, gone } = cached;
      const made = makeDecision({ id, state, position, gone }, this.#owners.get(id), asked, options);
      if (!made.ok || isNothing(made.value.append)) {
        const decided = made.ok ? ok(made.value.decision) : made;
        if (fresh) return decided;
        // A refusal, and nothing to do, may be about a state that is over.
        isBack = await this.#refresh(id, cached);
        fresh = true;
        continue;
      }
      const { owner } = made.value;
      const appended = await this.#append(id, { cached, made: made.value, tries: options.tries });
      if (appended === 'appended') return ok(made.value.decision);
      if (appended === 'fenced' && options.fence !== undefined) return err({ kind: 'fenced' });
      // An owner that has lost the session and does not know it yet: the wish is still the user's.
      if (appended === 'fenced' && this.#owners.get(id) === owner) this.#owners.delete(id);
      isBack = await this.#refresh(id, cached);
      fresh = true;
    }
    throw new Error(`session ${id}: ${conflictsMax} conflicts in a row`);
  }

  async #withOpenCalls(id: string, state: SessionState | undefined, command: CommandSource): Promise<CommandSource> {
    if (typeof command === 'function' || command === undefined || !endsLeft(state, command)) return command;
    return { ...command, openCalls: (await recallOpenCalls(this.#log, id)).list };
  }

  async #append(
    id: string,
    { cached, made, tries }: { readonly cached: Cached; readonly made: Made; readonly tries: Tries | undefined },
  ): Promise<'appended' | 'fenced' | 'conflict'> {
    if (tries !== undefined) cached.unheard = { tries, made };
    const appended = await this.#log.append(made.append);
    cached.unheard = undefined;
    assert(appended.kind !== 'unjoined', 'nothing was to follow');
    if (appended.kind === 'appended') this.#written(id, cached, made, appended.positions);
    return appended.kind;
  }

  #written(id: string, cached: Cached, made: Made, positions: Positions): void {
    // A reader may have come by meanwhile and folded these very records already.
    if (cached.position < (positions.domain ?? 0)) {
      cached.state = made.decision.state;
      cached.position = positions.domain ?? cached.position;
    }
    made.paid();
    this.#tell(id, made.decisions, positions.commands);
  }

  async #findOut(id: string, cached: Cached, { tries, made }: Unheard): Promise<void> {
    // The records tell, where there are any: they could only be written at their place.
    const telling = made.append.streams.find(({ entries }) => entries.length > 0);
    assert(telling !== undefined, 'nothing is appended without entries');
    const { stream, expected } = telling;
    const since = stream === 'events' || stream === 'journal' ? tries.since[stream] : 0;
    const isWritten = await this.#holds(id, telling, expected ?? since);
    if (isWritten) await this.#refresh(id, cached);
    cached.unheard = undefined;
    if (!isWritten) return;
    made.paid();
    const { decision } = made;
    tries.written = { ...decision, state: cached.state ?? decision.state };
    // Its commands are read back as those of others are: where they stand is not known.
    this.#tell(id, [...made.decisions.slice(0, -1), tries.written], undefined);
  }

  /** `commands`: their head after all of these. */
  #tell(id: string, decisions: readonly Decision[], commands: number | undefined): void {
    let after = commands ?? 0;
    for (const decision of decisions) after -= decision.commands.length;
    for (const decision of decisions) {
      after += decision.commands.length;
      this.#owners.get(id)?.decided(decision, commands === undefined ? undefined : after);
      for (const listener of this.#listeners) listener(id, decision);
    }
    for (const watcher of this.#watchers.get(id) ?? []) watcher();
  }

  /** Whether the store has less of it than it acknowledged. */
  async #refresh(id: string, cached: Cached): Promise<boolean> {
    for (let isBack = false; ; ) {
      const after = cached.position;
      const page = await this.#log.read({ session: id, stream: 'domain', after, limit: pageEntries });
      // Whoever else read it meanwhile has found that the store has less of it.
      isBack ||= cached.position < after;
      if (cached.position < after) continue;
      cached.gone = after === 0 && page.head > 0 && page.oldest > 1;
      // Less than when it was asked: a decision of ours may have been written since.
      if (page.head < after) {
        // What it holds now is what is true.
        cached.state = undefined;
        cached.position = 0;
        isBack = true;
        this.#loseOwner(id);
        continue;
      }
      for (const entry of page.entries) {
        // Another decision of ours may have moved the state while we read.
        if (entry.position !== cached.position + 1) continue;
        cached.state = evolve(cached.state, readStored(SessionRecord, JSON.parse(entry.data)));
        cached.position = entry.position;
      }
      if (page.entries.length < pageEntries) return isBack;
    }
  }

  #loseOwner(id: string): void {
    const owner = this.#owners.get(id);
    this.#owners.delete(id);
    owner?.lost();
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
    if (this.#cache.size > cachedSessionsMax) this.#forgetOldest(id);
    return fresh;
  }

  /** But for those that are owned here, whose owners ask for what is known, and for what nobody has found out yet. */
  #forgetOldest(newest: string): void {
    let looks = 0;
    for (const [id, cached] of this.#cache) {
      if (id === newest || ++looks > oldestLooks) return;
      this.#cache.delete(id);
      if (!this.#owners.has(id) && cached.unheard === undefined) return;
      this.#cache.set(id, cached);
    }
  }
}

type Shown = { readonly events: readonly PublicEvent[]; readonly journal: readonly NewEntry[] };
type ShowOptions = Pick<ExecuteOptions, 'documents'> & {
  readonly at: string;
  readonly fence: Fence;
  readonly after?: Heads;
};

function isNothing({ streams }: Append): boolean {
  return streams.every(({ entries }) => entries.length === 0);
}

const endings: ReadonlySet<SessionCommand['type']> = new Set(['control', 'children-over', 'expire']);

/** Who ends a program that nobody owns, or a quiet agent, closes what its owner had shown as open, who may be elsewhere. */
function endsLeft(state: SessionState | undefined, asked: SessionCommand): boolean {
  if (state === undefined || asked.openCalls !== undefined) return false;
  if (asked.type === 'make-room') return state.agentProcess.kind !== 'none';
  return state.kind === 'program' && state.turn.active && state.agentProcess.kind === 'none' && endings.has(asked.type);
}
