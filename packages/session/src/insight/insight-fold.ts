import {
  addUsage,
  type Insight,
  type InsightFigures,
  type SessionKind,
  type SessionRecord,
  type Usage,
} from '@concerto/protocol';
import { isoTime } from '../session/iso-time.ts';

const dayMs = 86_400_000;
const minuteMs = 60_000;
const failuresMax = 50;
const messageMax = 300;

type Who = Insight['answeredBy'][number]['who'];
type Failure = Insight['failures'][number];
type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Figures = Mutable<InsightFigures>;

/** Whose records they are. */
export type InsightSubject = { readonly id: string; readonly agent: string; readonly kind: SessionKind };

/** `now` is the last moment of it; `offsetMinutes` how far the caller's clock is before UTC. */
export type InsightSpan = { readonly now: number; readonly days: number; readonly offsetMinutes: number };

/** The types that say something here: whoever reads records for it may leave out all others. */
export const insightRecords: ReadonlySet<string> = new Set([
  'created',
  'turn-started',
  'turn-ended',
  'ended',
  'queue-held',
  'usage-reported',
  'request-opened',
  'request-routed',
  'request-passed',
  'request-timed-out',
  'request-answered',
] satisfies SessionRecord['type'][]);

/** Puts together what sessions did in some days, from the records of one after the other. */
export class InsightFold {
  readonly #span: InsightSpan;
  readonly #days = new Map<string, Figures>();
  readonly #agents = new Map<string, Figures & { readonly name: string; readonly kind: SessionKind }>();
  readonly #models = new Map<string, Usage>();
  readonly #answeredBy = new Map<Who, number>();
  readonly #failures = new Map<string, Failure>();
  readonly #waits: number[] = [];
  #read = 0;

  constructor(span: InsightSpan) {
    this.#span = span;
    for (let back = span.days - 1; back >= 0; back -= 1)
      this.#days.set(this.#dayOf(span.now - back * dayMs), nothing());
  }

  /** Records of one session, in their order; whatever is of other days is left out. */
  take(subject: InsightSubject, records: readonly SessionRecord[]): void {
    this.#read += 1;
    const key = `${subject.kind} ${subject.agent}`;
    const agent = this.#agents.get(key) ?? { name: subject.agent, kind: subject.kind, ...nothing() };
    const asked = new Map<string, number>();
    let isThere = false;
    for (const record of withoutRepeats(records)) {
      noteAsked(asked, record);
      const day = this.#days.get(this.#dayOf(record.at));
      if (day === undefined) continue;
      isThere = true;
      if (isFailure(record)) this.#fail(subject, record, [day, agent]);
      this.#add(record, asked, [day, agent]);
    }
    if (isThere) this.#agents.set(key, agent);
  }

  #add(record: SessionRecord, asked: ReadonlyMap<string, number>, to: readonly Figures[]): void {
    switch (record.type) {
      case 'created':
        for (const figures of to) figures.sessions += 1;
        return;
      case 'turn-started':
        for (const figures of to) figures.turns += 1;
        return;
      case 'usage-reported':
        for (const figures of to) figures.usage = addUsage(figures.usage, record.usage);
        return this.#useModel(record.source?.model ?? 'not told', record.usage);
      case 'request-answered': {
        const who = whoOf(record.by ?? record.actor);
        this.#answeredBy.set(who, (this.#answeredBy.get(who) ?? 0) + 1);
        if (who !== 'person') return;
        const waited = Math.max(0, record.at - (asked.get(record.requestId) ?? record.at));
        this.#waits.push(waited);
        for (const figures of to) {
          figures.answers += 1;
          figures.waitedMs += waited;
        }
        return;
      }
      default:
        return;
    }
  }

  #useModel(name: string, usage: Usage): void {
    this.#models.set(name, addUsage(this.#models.get(name) ?? noUsage, usage));
  }

  #fail({ id }: InsightSubject, record: FailureRecord, to: readonly Figures[]): void {
    for (const figures of to) figures.failures += 1;
    const code = record.error?.code ?? (record.type === 'ended' ? 'failed' : record.outcome);
    const message = (record.error?.message ?? (record.type === 'ended' ? record.reason : undefined) ?? code).slice(
      0,
      messageMax,
    );
    const before = this.#failures.get(code);
    const at = isoTime(record.at);
    const last = before !== undefined && before.last.at > at ? before.last : { session: id, at, message };
    this.#failures.set(code, { code, times: (before?.times ?? 0) + 1, last });
  }

  #dayOf(at: number): string {
    return isoTime(at + this.#span.offsetMinutes * minuteMs).slice(0, 10);
  }

  result(isCut: boolean): Insight {
    const waits = this.#waits.toSorted((a, b) => a - b);
    return {
      days: [...this.#days].map(([day, figures]) => ({ day, ...figures })),
      agents: [...this.#agents.values()].toSorted((a, b) => byCost(a.usage, b.usage)),
      models: [...this.#models].map(([name, usage]) => ({ name, usage })).toSorted((a, b) => byCost(a.usage, b.usage)),
      waits: {
        answers: waits.length,
        medianMs: Math.round(share(waits, 0.5)),
        longMs: Math.round(share(waits, 0.9)),
        longestMs: Math.round(waits.at(-1) ?? 0),
      },
      answeredBy: [...this.#answeredBy]
        .map(([who, answers]) => ({ who, answers }))
        .toSorted((a, b) => b.answers - a.answers),
      failures: [...this.#failures.values()].toSorted((a, b) => b.times - a.times).slice(0, failuresMax),
      read: this.#read,
      ...(isCut ? { isCut: true } : {}),
    };
  }
}

const noUsage: Usage = { inputTokens: 0, outputTokens: 0 };

function nothing(): Figures {
  return { sessions: 0, turns: 0, failures: 0, usage: noUsage, answers: 0, waitedMs: 0 };
}

type FailureRecord = Extract<SessionRecord, { type: 'turn-ended' | 'ended' }>;

/**
 * One failure is one: a session that ends because its turn failed has failed once, and a turn that is tried again,
 * under its number and with its message, because nobody had read that, has not failed yet.
 */
function withoutRepeats(records: readonly SessionRecord[]): readonly SessionRecord[] {
  const kept: SessionRecord[] = [];
  let turn: Extract<SessionRecord, { type: 'turn-started' }> | undefined;
  /** Where the failure of that turn stands, which may be tried again. */
  let failedAt: number | undefined;
  let hasFailed = false;
  for (const record of records) {
    if (record.type === 'queue-held') failedAt = undefined;
    if (record.type === 'turn-started') {
      const again = turn?.turn === record.turn && turn.messageId === record.messageId ? failedAt : undefined;
      [turn, failedAt, hasFailed] = [record, undefined, false];
      if (again !== undefined) {
        kept.splice(again, 1);
        continue;
      }
    }
    if (isFailure(record)) {
      if (hasFailed) continue;
      [failedAt, hasFailed] = [kept.length, true];
    }
    kept.push(record);
  }
  return kept;
}

function isFailure(record: SessionRecord): record is FailureRecord {
  if (record.type === 'ended') return record.status === 'failed';
  return record.type === 'turn-ended' && (record.outcome === 'error' || record.outcome === 'lost');
}

/** Since when a person is asked: from the beginning, or after whoever was asked before. */
function noteAsked(asked: Map<string, number>, record: SessionRecord): void {
  switch (record.type) {
    case 'request-opened':
    case 'request-routed':
    case 'request-passed':
    case 'request-timed-out':
      asked.set(record.requestId, record.at);
      return;
    default:
      return;
  }
}

function whoOf(by: string): Who {
  const [kind = ''] = by.split(':', 1);
  switch (kind) {
    case 'user':
      return 'person';
    case 'rule':
    case 'model':
    case 'program':
    case 'timeout':
      return kind;
    case 'supervisor':
      return 'program';
    default:
      return 'other';
  }
}

function byCost(a: Usage, b: Usage): number {
  return (b.costMicroUsd ?? 0) - (a.costMicroUsd ?? 0) || tokensOf(b) - tokensOf(a);
}

function tokensOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}

/** The value below which so much of the sorted values is. */
function share(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
