import type { EventLog, NewEntry } from '@concerto/log';
import { type OverviewEvent, type PublicEvent, SuspendEvent } from '@concerto/protocol';
import { cameToPerson, type Decision, isToPerson, rowView, type SessionState } from '@concerto/session';
import * as z from 'zod';
import type { Clock, Report } from '../ports.ts';
import { SessionIndex } from '../session/session-index.ts';
import type { SessionStore } from '../session/session-store.ts';

/** Not a session's id: no client can propose one with this character. */
export const overviewStream = '@overview';

/** What an entry of a child's row is called in the log: whoever watches the tops of trees alone leaves it out. */
export const childRow = 'childSession';

/** Rows that change often are told once in this time. */
const coalesceMs = 50;
/** What is kept for watchers that come back; who was away for longer gets a gap, and the rows anew. */
const keptEntries = 20_000;
const trimEvery = 1_000;
/** After a start: rows looked through for changes that a crash kept from the stream. */
const lookedThrough = 5_000;
const pageRows = 500;
/** Changes of so many rows wait at most for a store that is away; then the oldest are left to the next change of theirs. */
const waitingMax = 50_000;
const retryMs = 1_000;

export type OverviewOptions = {
  readonly log: EventLog;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly report: Report;
};

/**
 * One stream for whoever watches everything. Each process tells what it decided, a moment after it was durable; what a
 * crash leaves untold is found at the next start by the times of the rows.
 */
export class Overview {
  readonly #options: OverviewOptions;
  readonly #rows = new Map<string, SessionState>();
  #requests: OverviewEvent[] = [];
  #flushing: Promise<void> = Promise.resolve();
  #cancel: (() => void) | undefined;

  constructor(options: OverviewOptions) {
    this.#options = options;
    options.store.onDecision((_, decision) => this.#decided(decision));
    // What the store has lost is not told any more.
    options.log.onRewind(() => {
      this.#rows.clear();
      this.#requests = [];
    });
  }

  /** Tells of rows that changed after the last one that was told. */
  async begin(): Promise<void> {
    const { log, report } = this.#options;
    const index = new SessionIndex(log, report);
    const head = await log.head(overviewStream, 'events');
    if (head === 0) return;
    const { entries } = await log.read({ session: overviewStream, stream: 'events', after: head - 1, limit: 1 });
    const [last] = entries;
    const told = last === undefined ? 0 : Date.parse(Stamped.parse(JSON.parse(last.data)).at) - coalesceMs;
    let cursor: string | undefined;
    for (let seen = 0; seen < lookedThrough; seen += pageRows) {
      const page = await index.list({ limit: pageRows, ...(cursor === undefined ? {} : { cursor }) });
      const missed = page.sessions.filter((row) => Date.parse(row.updatedAt) >= told);
      if (missed.length > 0) await this.#append(missed.map((summary) => ({ type: 'session', summary })));
      cursor = page.nextCursor;
      if (cursor === undefined) return;
    }
  }

  /** What was decided so far is told, or the store cannot be reached. */
  async close(): Promise<void> {
    this.#cancel?.();
    await this.#flush().catch(() => undefined);
  }

  #decided({ state, events, records }: Decision): void {
    if (records.length > 0 && this.#rows.size < waitingMax) this.#rows.set(state.id, state);
    if (this.#requests.length < waitingMax) this.#requests.push(...requestEvents(state, events));
    if (this.#rows.size > 0 || this.#requests.length > 0) this.#soon(coalesceMs);
  }

  #soon(ms: number): void {
    this.#cancel ??= this.#options.clock.at(this.#options.clock.now() + ms, () => {
      this.#cancel = undefined;
      this.#flushing = this.#flushing
        .then(() => this.#flush())
        .catch((cause: unknown) => {
          this.#options.report('watchers of everything hear of changes later: the store could not be written', cause);
          this.#soon(retryMs);
        });
    });
  }

  async #flush(): Promise<void> {
    const rows = new Map(this.#rows);
    const requests = this.#requests;
    this.#rows.clear();
    this.#requests = [];
    try {
      const summaries = await Promise.all([...rows.values()].map((state) => this.#summary(state)));
      await this.#append([...requests, ...summaries]);
    } catch (cause) {
      for (const [id, state] of rows) if (!this.#rows.has(id)) this.#rows.set(id, state);
      this.#requests.unshift(...requests);
      throw cause;
    }
  }

  async #summary(state: SessionState): Promise<OverviewEvent> {
    if (state.deleted === true) return { type: 'sessionDeleted', session: state.id };
    const position = await this.#options.log.head(state.id, 'events');
    return { type: 'session', summary: rowView(state, position) };
  }

  async #append(events: readonly OverviewEvent[]): Promise<void> {
    if (events.length === 0) return;
    const { log, clock } = this.#options;
    const at = new Date(clock.now()).toISOString();
    const entries = events.map(
      (event): NewEntry => ({ type: entryType(event), data: JSON.stringify({ ...event, at }) }),
    );
    const appended = await log.append({ session: overviewStream, streams: [{ stream: 'events', entries }] });
    if (appended.kind !== 'appended') return;
    const head = appended.positions.events ?? 0;
    if (head > keptEntries && head % trimEvery < entries.length) {
      await log.trim(overviewStream, 'events', head - keptEntries);
    }
  }
}

function entryType(event: OverviewEvent): string {
  return event.type === 'session' && event.summary.parent !== undefined ? childRow : event.type;
}

const Stamped = z.looseObject({ at: z.string() });

/** Of one that comes to a person with this event: when it is opened, where nobody else is asked, or passed on. */
function requestIn(event: PublicEvent): string | undefined {
  if (event.type === 'requestRouted') return event.to === 'person' ? event.requestId : undefined;
  const suspend = SuspendEvent.safeParse(event);
  return suspend.success ? suspend.data.requestId : undefined;
}

/**
 * A request that a program, a model or a supervisor is asked first is told when it comes to a person, once, and that it is
 * settled where it came to one.
 */
function requestEvents(state: SessionState, events: Decision['events']): OverviewEvent[] {
  const whose = { session: state.id, ...(state.root === undefined ? {} : { root: state.root }) };
  const told = new Set<string>();
  return events.flatMap((event): OverviewEvent[] => {
    if (event.type === 'requestSettled') {
      const { type, requestId, outcome, by, reason, response } = event;
      if (!cameToPerson(state, requestId)) return [];
      return [{ type, ...whose, requestId, outcome, by, reason, response }];
    }
    const requestId = requestIn(event);
    const request = requestId === undefined ? undefined : state.requests.live.get(requestId);
    if (requestId === undefined || told.has(requestId)) return [];
    if (request?.state !== 'open' || !isToPerson(request)) return [];
    told.add(requestId);
    return [{ type: 'request', ...whose, requestId, request: request.event }];
  });
}
