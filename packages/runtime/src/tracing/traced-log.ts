import type { Append, EventLog, NewEntry, Positions } from '@concerto/log';
import type { Report } from '../ports.ts';
import { SessionSpans, TracedEvent, TracedRecord, tracedTypes } from './session-spans.ts';
import type { SpanSink } from './span.ts';
import type { TraceContext } from './trace-context.ts';

const pageEntries = 1_000;
/** Sessions whose spans are put together at a time; the one that was quiet for longest is read again when it speaks. */
const sessionsMax = 1_000;
/** Appends of one session that wait to be looked at; beyond them its spans have gaps, and its work goes on. */
const behindMax = 10_000;

type Traced = { readonly spans: SessionSpans; position: number; behind: number; work: Promise<void> };

/** The same log; whoever appends through it is heard, after the fact and in order, and what took time goes to the sink. */
export function tracedLog(log: EventLog, sink: SpanSink, report: Report): EventLog {
  const tracer = new SessionTracer(log, sink, report);
  return {
    ...log,
    append: async (append) => {
      let followed: Append | undefined;
      const next = append.next && ((positions: Positions) => (followed = append.next?.(positions)));
      const appended = await log.append(next === undefined ? append : { ...append, next });
      if (appended.kind !== 'appended') return appended;
      tracer.heard(append, appended.positions.domain);
      if (followed !== undefined && appended.next?.kind === 'appended') {
        tracer.heard(followed, appended.next.positions.domain);
      }
      return appended;
    },
  };
}

class SessionTracer {
  readonly #log: EventLog;
  readonly #sink: SpanSink;
  readonly #report: Report;
  readonly #sessions = new Map<string, Traced>();

  constructor(log: EventLog, sink: SpanSink, report: Report) {
    this.#log = log;
    this.#sink = sink;
    this.#report = report;
  }

  heard(append: Append, domainHead: number | undefined): void {
    const entries = inOrder(append);
    if (entries.length === 0) return;
    const traced = this.#tracedOf(append.session);
    if (traced.behind >= behindMax) return;
    traced.behind += 1;
    const records = append.streams.find(({ stream }) => stream === 'domain')?.entries.length ?? 0;
    const before = domainHead === undefined ? undefined : domainHead - records;
    traced.work = traced.work
      .then(() => this.#take(append.session, traced, { entries, before, records }))
      .catch((cause: unknown) => this.#report(`session ${append.session}: it cannot be traced`, cause))
      .finally(() => {
        traced.behind -= 1;
      });
  }

  async #take(session: string, traced: Traced, heard: Heard): Promise<void> {
    if (heard.before !== undefined) {
      if (heard.before > traced.position) await this.#catchUp(session, traced, heard.before);
      traced.position = heard.before + heard.records;
    }
    for (const entry of heard.entries) {
      const spans = traced.spans.take(entry, await this.#above(entry, traced.spans));
      if (spans.length > 0) this.#sink(spans);
    }
  }

  /** What others appended, or we before we forgot it. Its spans were told by whoever saw them end. */
  async #catchUp(session: string, traced: Traced, through: number): Promise<void> {
    while (traced.position < through) {
      const limit = Math.min(pageEntries, through - traced.position);
      const page = await this.#log.read({ session, stream: 'domain', after: traced.position, limit });
      for (const stored of page.entries) {
        const entry = readEntry('domain', stored);
        if (entry !== undefined) traced.spans.take(entry, await this.#above(entry, traced.spans));
      }
      traced.position = page.entries.at(-1)?.position ?? through;
    }
  }

  /** A child's message hangs below the turn of the program that sent it. */
  async #above(entry: TracedRecord | TracedEvent, { parent }: SessionSpans): Promise<TraceContext | undefined> {
    if (entry.type !== 'message-enqueued' || entry.trace !== undefined || parent === undefined) return undefined;
    const above = this.#tracedOf(parent);
    if (above.position === 0) await this.#catchUp(parent, above, await this.#log.head(parent, 'domain'));
    return above.spans.context;
  }

  #tracedOf(session: string): Traced {
    const known = this.#sessions.get(session);
    const traced = known ?? { spans: new SessionSpans(session), position: 0, behind: 0, work: Promise.resolve() };
    this.#sessions.delete(session);
    this.#sessions.set(session, traced);
    if (this.#sessions.size > sessionsMax) {
      const [oldest] = this.#sessions.keys();
      if (oldest !== undefined) this.#sessions.delete(oldest);
    }
    return traced;
  }
}

type Heard = {
  readonly entries: readonly (TracedRecord | TracedEvent)[];
  /** The head of the domain before it; undefined when it decided nothing. */
  readonly before: number | undefined;
  readonly records: number;
};

/** What a turn showed comes before its end. */
function inOrder({ streams }: Append): readonly (TracedRecord | TracedEvent)[] {
  const read = (name: 'domain' | 'events') =>
    streams
      .filter(({ stream }) => stream === name)
      .flatMap(({ entries }) => entries.flatMap((entry) => readEntry(name, entry) ?? []));
  const records = read('domain');
  const events = read('events');
  return records.some(({ type }) => type === 'turn-ended') ? [...events, ...records] : [...records, ...events];
}

function readEntry(
  stream: 'domain' | 'events',
  { type, data }: Pick<NewEntry, 'type' | 'data'>,
): TracedRecord | TracedEvent | undefined {
  if (!tracedTypes.has(type)) return undefined;
  return (stream === 'domain' ? TracedRecord : TracedEvent).safeParse(JSON.parse(data)).data;
}
