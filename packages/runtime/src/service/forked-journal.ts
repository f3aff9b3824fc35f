import { err, ok, type Result } from '@concerto/base';
import type { EventLog, NewEntry } from '@concerto/log';
import * as z from 'zod';
import { isLast } from '../program/open-work.ts';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import { forkBytesMax, tooLong } from './forked-events.ts';

const pageEntries = 1_000;

const Run = z.object({ run: z.string() });
/** What of a line tells whether a call of an agent is under way. Its first has no time. */
const Line = z.looseObject({
  at: z.number().optional(),
  out: z.looseObject({ kind: z.string(), id: z.number().optional(), session: z.string().optional() }).optional(),
  in: z
    .looseObject({
      kind: z.string(),
      id: z.number().optional(),
      session: z.string().optional(),
      answer: z.looseObject({ ok: z.boolean(), value: z.json().optional() }).optional(),
    })
    .optional(),
  end: z.unknown().optional(),
});
type Line = z.infer<typeof Line>;

type Written = { readonly text: string; readonly line: Line };

export type ForkedJournal = {
  /** The message that the run was begun with. */
  readonly run: string;
  readonly entries: readonly NewEntry[];
  /** A call of an agent that began then is made anew: it was not over. */
  readonly anewFrom: number | undefined;
};

/** An instant is not exact enough for an answer that came at once: no more of them were heard than were shown. */
export type ForkMoment = { readonly until: number; readonly answers: number };

/** What a program had said and heard by then, with whole calls of agents only: an agent is nobody's but its program's. */
export async function forkedJournal(
  log: EventLog,
  session: string,
  moment: ForkMoment,
): Promise<Result<ForkedJournal, ServiceRefusal>> {
  const read = await readRun(log, session, moment);
  if (!read.ok) return read;
  const { run, written } = read.value;
  if (run === undefined || written.length === 0) {
    return err(refusal('cannot_fork', 'the program had not begun by then: start it anew'));
  }
  if (written.some(({ line }) => line.end !== undefined)) {
    return err(refusal('cannot_fork', 'the program had come to its end by then: name an earlier `at`'));
  }
  const taken = wholeCalls(written);
  const entries = taken.map(({ text }): NewEntry => ({ type: 'line', data: text }));
  return ok({ run, entries, anewFrom: written[taken.length]?.line.at });
}

type ReadRun = { readonly run: string | undefined; readonly written: readonly Written[] };

/** The run that was under way, up to then. */
async function readRun(
  log: EventLog,
  session: string,
  { until, answers }: ForkMoment,
): Promise<Result<ReadRun, ServiceRefusal>> {
  let before: ReadRun = { run: undefined, written: [] };
  let run: string | undefined;
  let written: Written[] = [];
  let bytes = 0;
  const asked = new Asked();
  // A run whose first word came later had not begun.
  const found = (): ReadRun => (written.some(({ line }) => line.at !== undefined) ? { run, written } : before);
  for (let after = 0; ; ) {
    const page = await log.read({ session, stream: 'journal', after, limit: pageEntries });
    for (const { type, data } of page.entries) {
      if (type === 'run') {
        asked.forget();
        before = found();
        run = Run.parse(JSON.parse(data)).run;
        written = [];
      }
      if (type !== 'line') continue;
      const line = Line.parse(JSON.parse(data));
      asked.saw(line);
      if ((line.at ?? 0) > until || asked.answered > answers) return ok(found());
      bytes += data.length;
      if (bytes > forkBytesMax) return err(tooLong());
      written.push({ text: data, line });
    }
    const last = page.entries.at(-1)?.position;
    if (last === undefined || last >= page.head) return ok(found());
    after = last;
  }
}

/** How many questions to people have their answers. */
class Asked {
  answered = 0;
  readonly #open = new Set<number>();

  saw({ out, in: given }: Line): void {
    if (out?.kind === 'ask' && out.id !== undefined) this.#open.add(out.id);
    if (given?.kind === 'answer' && given.id !== undefined && this.#open.delete(given.id)) this.answered++;
  }

  /** Another run counts its requests anew. */
  forget(): void {
    this.#open.clear();
  }
}

/** As far as no call is under way: one that is, is left out with all that came after it began. */
function wholeCalls(written: readonly Written[]): readonly Written[] {
  for (let taken = written; ; ) {
    const begun = firstUnderWay(taken);
    if (begun === undefined) return taken;
    taken = taken.slice(0, begun);
  }
}

/** Where the first call of an agent begins that does not end. */
function firstUnderWay(written: readonly Written[]): number | undefined {
  const opening = new Map<number, number>();
  const sessions = new Map<string, number>();
  const listening = new Map<number, string>();
  for (const [index, { line }] of written.entries()) {
    const { out, in: given } = line;
    if (out?.kind === 'agent_open' && out.id !== undefined) opening.set(out.id, index);
    if (out?.kind === 'agent_next' && out.id !== undefined) listening.set(out.id, out.session ?? '');
    if (out?.kind === 'agent_close') sessions.delete(out.session ?? '');
    if (out?.kind === 'cancel') opening.delete(out.id ?? -1);
    if (given?.kind === 'expired') sessions.delete(given.session ?? '');
    if (given?.kind !== 'answer') continue;
    const { id = -1, answer } = given;
    const value = answer?.value ?? null;
    const opened = opening.get(id);
    if (opened !== undefined) {
      opening.delete(id);
      if (answer?.ok === true) sessions.set(sessionIn(value), opened);
    }
    const heard = listening.get(id);
    if (heard !== undefined && (answer?.ok !== true || isLast(value))) sessions.delete(heard);
  }
  const underWay = [...opening.values(), ...sessions.values()];
  return underWay.length === 0 ? undefined : Math.min(...underWay);
}

const Opened = z.looseObject({ session: z.string() });

function sessionIn(value: unknown): string {
  return Opened.safeParse(value).data?.session ?? '';
}
