import type { Entry, EventLog, Page } from '@concerto/log';
import { isAgentEventType, readStoredEvent, SuspendEvent } from '@concerto/protocol';
import { childRow } from '@concerto/runtime';
import { ModelRequests } from '@concerto/wires';

/**
 * `session` shows everything, `run` only the 21 agent events, `requests` with them what an assistant's model was asked, `roots` no
 * rows of sessions that others opened.
 */
export type Wire = 'session' | 'run' | 'requests' | 'roots';

/** What a wire shows of a session, page by page; it knows of the session what it needs for that, and keeps it. */
export type WireFold = { shows(page: Page): Promise<Shows> };

export type Shows = {
  readonly isShown: (entry: Entry) => boolean;
  /** What stands before an entry and has no place of its own. */
  readonly before?: (entry: Entry) => string | undefined;
};

const pageEntries = 1_000;
const suspendTypes: ReadonlySet<string> = new Set(
  SuspendEvent.def.options.flatMap(({ shape }) => shape.type.def.values),
);

export const wires: Readonly<Record<Wire, (log: EventLog, session: string) => WireFold>> = {
  session: () => ({ shows: async () => ({ isShown: () => true }) }),
  roots: () => ({ shows: async () => ({ isShown: ({ type }) => type !== childRow }) }),
  run: (log, session) => new RunFold(log, session),
  requests: (log, session) => new RequestsFold(log, session),
};

/** A client of the run wire answers whatever it reads: what was settled since is not shown to it. */
class RunFold implements WireFold {
  readonly #log: EventLog;
  readonly #session: string;
  readonly #settled = new Set<string>();
  /** So far they are known. */
  #position = 0;

  constructor(log: EventLog, session: string) {
    this.#log = log;
    this.#session = session;
  }

  async shows(page: Page): Promise<Shows> {
    if (page.entries.some(({ type }) => suspendTypes.has(type))) await this.#readOn(page.head);
    return {
      isShown: ({ type, data }) =>
        isAgentEventType(type) && !(suspendTypes.has(type) && this.#settled.has(requestIdOf(data))),
    };
  }

  async #readOn(head: number): Promise<void> {
    while (this.#position < head) {
      const request = { session: this.#session, stream: 'events', after: this.#position, limit: pageEntries } as const;
      const page = await this.#log.read(request);
      for (const { type, data } of page.entries) {
        if (type === 'requestSettled') this.#settled.add(requestIdOf(data));
      }
      this.#position = page.entries.at(-1)?.position ?? head;
    }
  }
}

type Reached = { readonly position: number; readonly requests: ModelRequests };

/** The run wire with a `sendRequest` before each answer of the model, put together from what stands before it. */
class RequestsFold implements WireFold {
  readonly #log: EventLog;
  readonly #session: string;
  readonly #run: RunFold;
  /** As it was before the page that was read last, of which a reader may have taken less than all, and after it. */
  #known: readonly Reached[] = [];
  #requests = new ModelRequests();
  /** So far they were read. */
  #position = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(log: EventLog, session: string) {
    this.#log = log;
    this.#session = session;
    this.#run = new RunFold(log, session);
  }

  /** One page after the other, whoever reads them. */
  async shows(page: Page): Promise<Shows> {
    const shown = this.#last.then(async () => await this.#shows(page));
    this.#last = shown.catch(() => undefined);
    return await shown;
  }

  /** Readers may stand anywhere: for one that stands before what was read it begins anew. */
  async #shows(page: Page): Promise<Shows> {
    const shows = await this.#run.shows(page);
    const first = page.entries[0]?.position ?? 0;
    const reached = this.#known.findLast(({ position }) => position < first);
    this.#position = reached?.position ?? 0;
    this.#requests = reached?.requests.copy() ?? new ModelRequests();
    await this.#readUntil(first - 1);
    const start = { position: this.#position, requests: this.#requests.copy() };
    const asked = new Map<number, string>();
    for (const entry of page.entries) this.#take(entry, asked);
    this.#known = [start, { position: this.#position, requests: this.#requests }];
    return { ...shows, before: ({ position }) => asked.get(position) };
  }

  async #readUntil(position: number): Promise<void> {
    while (this.#position < position) {
      const limit = Math.min(pageEntries, position - this.#position);
      const page = await this.#log.read({ session: this.#session, stream: 'events', after: this.#position, limit });
      for (const entry of page.entries) if (entry.position <= position) this.#take(entry);
      if (page.entries.length === 0) return;
    }
  }

  #take({ position, data }: Entry, asked?: Map<number, string>): void {
    this.#position = position;
    const event = readStoredEvent(data);
    const request = event === undefined ? undefined : this.#requests.take(event);
    if (event === undefined || request === undefined) return;
    asked?.set(position, JSON.stringify({ type: 'sendRequest', ...request, seq: event.seq, at: event.at }));
  }
}

function requestIdOf(data: string): string {
  const { requestId }: { readonly requestId?: string } = JSON.parse(data);
  return requestId ?? '';
}
