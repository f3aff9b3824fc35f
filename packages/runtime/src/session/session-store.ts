import { assert, err, ok, type Result } from '@concerto/base';
import type { Append, DocumentWrite, EventLog, NewEntry } from '@concerto/log';
import { encodeEvent, type PublicEvent, SessionRecord } from '@concerto/protocol';
import {
  type Decision,
  decide,
  evolve,
  type Refusal,
  type SessionCommand,
  type SessionState,
  sessionView,
} from '@concerto/session';

export const sessionsCollection = 'sessions';
/** Sessions that are not over: what runners look through. */
export const unfinishedCollection = 'unfinished';

/** Conflicts in a row before we say that the store is not getting anywhere; each one means that somebody else did. */
const conflictsMax = 100;
const pageEntries = 1_000;
const cachedSessionsMax = 2_000;

export type Fence = { readonly lease: string; readonly epoch: number };

/** The writer has lost the session to another owner and must stop at once. */
export type Fenced = { readonly kind: 'fenced' };
export type Executed = Result<Decision, Refusal | Fenced>;

type Cached = { state: SessionState | undefined; position: number; busy: Promise<unknown> };

/**
 * Load, decide, append. The state is kept beside its position: a decision is made on what we know and appended on
 * the condition that nothing has happened since; when something has, we read it and decide again.
 */
export class SessionStore {
  readonly #log: EventLog;
  readonly #cache = new Map<string, Cached>();
  readonly #listeners: ((session: string, decision: Decision) => void)[] = [];

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** Calls after every decision of this process that is durable. */
  onDecision(listener: (session: string, decision: Decision) => void): void {
    this.#listeners.push(listener);
  }

  /** The state as of now; undefined when there is no such session. */
  async state(id: string): Promise<SessionState | undefined> {
    const cached = this.#cached(id);
    await this.#refresh(id, cached);
    if (cached.state === undefined) this.#cache.delete(id);
    return cached.state;
  }

  /** What is known without reading; for owners, who are told of everything that happens to their sessions. */
  known(id: string): SessionState | undefined {
    return this.#cache.get(id)?.state;
  }

  async execute(id: string, command: SessionCommand, fence?: Fence): Promise<Executed> {
    const cached = this.#cached(id);
    // One decision at a time for a session in this process: our own two would only conflict.
    const run = cached.busy.then(() => this.#decideAndAppend(id, cached, command, fence));
    cached.busy = run.catch(() => undefined);
    return await run;
  }

  /** Events that decide nothing; they touch only the events stream. False when the writer is fenced off. */
  async appendEvents(id: string, events: readonly PublicEvent[], at: string, fence: Fence): Promise<boolean> {
    if (events.length === 0) return true;
    const appended = await this.#log.append({
      session: id,
      fence,
      streams: [{ stream: 'events', entries: events.map((event) => eventEntry(event, at)) }],
    });
    assert(appended.kind !== 'conflict', 'an append without an expected position cannot conflict');
    return appended.kind === 'appended';
  }

  async #decideAndAppend(
    id: string,
    cached: Cached,
    command: SessionCommand,
    fence: Fence | undefined,
  ): Promise<Executed> {
    let fresh = false;
    if (cached.state === undefined) {
      await this.#refresh(id, cached);
      fresh = true;
    }
    for (let attempt = 0; attempt < conflictsMax; attempt++) {
      const decided = decide(cached.state, command);
      if (!decided.ok) {
        if (fresh) return err(decided.error);
        // The refusal may be about a state that is over.
        await this.#refresh(id, cached);
        fresh = true;
        continue;
      }
      const appended = await this.#append(id, cached, decided.value, fence);
      if (appended === 'appended') return ok(decided.value);
      if (appended === 'fenced') return err({ kind: 'fenced' });
      await this.#refresh(id, cached);
      fresh = true;
    }
    throw new Error(`session ${id}: ${conflictsMax} conflicts in a row`);
  }

  async #append(
    id: string,
    cached: Cached,
    decision: Decision,
    fence: Fence | undefined,
  ): Promise<'appended' | 'fenced' | 'conflict'> {
    if (decision.records.length === 0 && decision.events.length === 0 && decision.acks.length === 0) return 'appended';
    const appended = await this.#log.append(toAppend(id, { cached, decision, fence }));
    switch (appended.kind) {
      case 'appended':
        // A reader may have come by meanwhile and folded these very records already.
        if (cached.position < (appended.positions.domain ?? 0)) {
          cached.state = decision.state;
          cached.position = appended.positions.domain ?? cached.position;
        }
        for (const listener of this.#listeners) listener(id, decision);
        return 'appended';
      case 'fenced':
        return 'fenced';
      case 'conflict':
        return 'conflict';
    }
  }

  async #refresh(id: string, cached: Cached): Promise<void> {
    for (;;) {
      const page = await this.#log.read({ session: id, stream: 'domain', after: cached.position, limit: pageEntries });
      for (const entry of page.entries) {
        // Another decision of ours may have moved the state while we read.
        if (entry.position !== cached.position + 1) continue;
        cached.state = evolve(cached.state, SessionRecord.parse(JSON.parse(entry.data)));
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
    const fresh: Cached = { state: undefined, position: 0, busy: Promise.resolve() };
    this.#cache.set(id, fresh);
    if (this.#cache.size > cachedSessionsMax) {
      const oldest = this.#cache.keys().next();
      if (oldest.done !== true) this.#cache.delete(oldest.value);
    }
    return fresh;
  }
}

function toAppend(
  id: string,
  {
    cached,
    decision,
    fence,
  }: { readonly cached: Cached; readonly decision: Decision; readonly fence: Fence | undefined },
): Append {
  return {
    session: id,
    ...(fence === undefined ? {} : { fence }),
    streams: [
      { stream: 'domain', expected: cached.position, entries: decision.records.map(plainEntry) },
      ...(decision.commands.length === 0
        ? []
        : [{ stream: 'commands' as const, entries: decision.commands.map(plainEntry) }]),
      ...(decision.events.length === 0 && decision.acks.length === 0
        ? []
        : [
            {
              stream: 'events' as const,
              entries: [
                ...decision.events.map((event) => eventEntry(event, decision.at)),
                ...decision.acks.map((ack): NewEntry => ({ ...plainEntry(ack), aside: true })),
              ],
            },
          ]),
    ],
    ...(decision.records.length === 0 ? {} : { documents: indexDocuments(id, decision.state) }),
  };
}

function plainEntry(value: { readonly type: string }): NewEntry {
  return { type: value.type, data: JSON.stringify(value) };
}

function eventEntry(event: PublicEvent, at: string): NewEntry {
  return { type: event.type, data: encodeEvent(event, at) };
}

function indexDocuments(id: string, state: SessionState): readonly DocumentWrite[] {
  const view = sessionView(state, 0);
  return [
    {
      collection: sessionsCollection,
      key: id,
      value: JSON.stringify(view),
      sort: state.createdAt,
      tag: view.status,
    },
    {
      collection: unfinishedCollection,
      key: id,
      value: state.end === undefined ? JSON.stringify({ slot: state.slot.kind }) : undefined,
      sort: state.createdAt,
    },
  ];
}
