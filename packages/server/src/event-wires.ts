import type { Entry, EventLog, Page } from '@concerto/log';
import { isAgentEventType, SuspendEvent } from '@concerto/protocol';
import { childRow } from '@concerto/runtime';

/** `session` shows everything, `run` only the 21 agent events, `roots` no rows of sessions that others opened. */
export type Wire = 'session' | 'run' | 'roots';

/** What a wire shows of a session, page by page; it knows of the session what it needs for that, and keeps it. */
export type WireFold = { shows(page: Page): Promise<(entry: Entry) => boolean> };

const pageEntries = 1_000;
const suspendTypes: ReadonlySet<string> = new Set(
  SuspendEvent.def.options.flatMap(({ shape }) => shape.type.def.values),
);

export const wires: Readonly<Record<Wire, (log: EventLog, session: string) => WireFold>> = {
  session: () => ({ shows: async () => () => true }),
  roots: () => ({ shows: async () => (entry) => entry.type !== childRow }),
  run: (log, session) => new RunFold(log, session),
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

  async shows(page: Page): Promise<(entry: Entry) => boolean> {
    if (page.entries.some(({ type }) => suspendTypes.has(type))) await this.#readOn(page.head);
    return ({ type, data }) =>
      isAgentEventType(type) && !(suspendTypes.has(type) && this.#settled.has(requestIdOf(data)));
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

function requestIdOf(data: string): string {
  const { requestId }: { readonly requestId?: string } = JSON.parse(data);
  return requestId ?? '';
}
