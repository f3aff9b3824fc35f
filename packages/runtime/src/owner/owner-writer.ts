import { assert } from '@concerto/base';
import type { DocumentWrite, EventLog, NewEntry, StreamName } from '@concerto/log';
import type { WorkEvent } from '@concerto/protocol';
import { type Asked, isoTime, type Report, type SessionCommand, type SessionState } from '@concerto/session';
import { heardDocument, heardOut } from '../agent/kept-agents.ts';
import type { Clock } from '../ports.ts';
import { OpenCalls, recallOpenCalls } from '../session/open-calls.ts';
import { readJournalValue } from '../session/read-journal-entry.ts';
import type { Fence } from '../session/session-append.ts';
import type { ExecuteOptions, Heads, MakeCommand, Owed } from '../session/session-decision.ts';
import type { Executed, Following, SessionStore } from '../session/session-store.ts';
import { pause } from '../session/store-patience.ts';
import type { Tenure } from '../session/tenure.ts';
import type { KeptLine, WordAhead } from '../session/words-ahead.ts';
import type { WorkerPlace } from '../worker.ts';
import type { CommandFollowing } from './command-following.ts';

/** So long a fact may wait for something else to be decided, with which it is written; twice as long at the most. */
const owedMs = 4;
/** So many questions are heard ahead; an agent that asks on and on is waited for. */
const aheadMax = 16;

/** How far an agent that a keeper holds, or a program, is on record with what is written; `all` when it has ended. */
type Heard = WorkerPlace | 'all';

export type OwnerWriterOptions = {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly tenure: Tenure;
  readonly log: Pick<EventLog, 'head' | 'read'>;
  /** What our own decisions command is obeyed without being read back. */
  readonly commands?: CommandFollowing;
  /** Where the session stands, after each decision of ours, also one that there was nothing to decide. */
  readonly stands?: (state: SessionState) => void;
};

type Writing = {
  readonly shown: { readonly events: readonly WorkEvent[]; readonly journal: readonly NewEntry[] };
  readonly options: { readonly at: string; readonly fence: Fence; readonly documents: readonly DocumentWrite[] };
  /** An earlier try may have got through. */
  readonly again: boolean;
};

/**
 * The only hand with which an owner writes: one thing after the other, in the order in which it was said, tried again
 * while the store is away, and nothing at all once the session is lost.
 */
export class OwnerWriter {
  readonly #options: OwnerWriterOptions;
  #last: Promise<unknown> = Promise.resolve();
  /** Positions at or before whatever is being written. */
  #before = { events: 0, journal: 0 };
  /** For the journal, with what is written next. */
  #kept: NewEntry[] = [];
  #keptDocuments: DocumentWrite[] = [];
  /** As of what is written. */
  #calls = new OpenCalls();
  #incarnation = 0;
  /** Facts that go with the next decision. */
  readonly #owed: Owed[] = [];
  #isAlarmSet = false;
  /** The journal with all that is kept for it. */
  #journalHead = 0;
  /** By session: what was heard of it ahead. It must be on record before anything is that may follow from it. */
  readonly #heardAhead = new Map<string, WordAhead['secured']>();

  constructor(options: OwnerWriterOptions) {
    this.#options = options;
  }

  async begin(): Promise<void> {
    // Where its streams stood when the session was claimed.
    this.#before = await this.patiently(async () => ({
      events: await this.#head('events'),
      journal: await this.#head('journal'),
    }));
    this.#journalHead = this.#before.journal;
    const { log, store, tenure, stands, commands } = this.#options;
    const { session, fence, runner } = tenure;
    const state = await this.patiently(() => store.state(session));
    // What is at work between its turns may have begun something too.
    const hasWorker = state !== undefined && (state.turn.active || state.agentProcess.kind !== 'none');
    if (hasWorker) this.#calls = await this.patiently(() => recallOpenCalls(log, session));
    if (tenure.isOver) return;
    const gone = store.ownedHere(session, {
      fence,
      actor: `runner:${runner}`,
      openCalls: () => this.#calls.list,
      owed: this.#owed,
      decided: (decision, head) => {
        this.#calls.see(decision.events);
        // First, since an agent waits for it.
        if (head !== undefined) commands?.decided(decision.commands, head);
        stands?.(decision.state);
      },
      lost: () => tenure.end('lost'),
    });
    tenure.over.addEventListener('abort', gone, { once: true });
  }

  /** The state after it, or undefined when the session is no longer ours. A report made from the state sees everything said before. */
  async tell(
    report: Report | ((state: SessionState | undefined) => Report),
    heard?: Heard,
  ): Promise<SessionState | undefined> {
    return await this.#decide((state, calls) => {
      const told = typeof report === 'function' ? report(state) : report;
      const checked = withOneResultEach(told, calls, state?.turn.number ?? 0);
      return this.#asked(`runner:${this.#options.tenure.runner}`, calls, checked);
    }, heard);
  }

  /**
   * Something that has happened and that nobody waits for: it goes before the next decision, in its commit, or is written
   * by itself in a moment. Whoever owns the session after a crash finds it out by itself, or settles it.
   */
  tellSoon(report: Report): void {
    if (!this.#options.tenure.isOver) this.#owe(report, { journal: [], documents: [] });
  }

  /**
   * As `tell`, of what a program of this process has to answer, whose line in the journal was kept last: where the program
   * takes it now, it goes with the answer, or is written in a moment.
   */
  async tellAhead(report: Report, line: KeptLine, heard?: Heard): Promise<void> {
    const { store, tenure } = this.#options;
    if (tenure.isOver) return;
    const fact = this.#owe(report, { journal: this.#kept.splice(0), documents: this.#documents(heard) });
    const secured = async (): Promise<boolean> => {
      await tenure.guard(this.#pay(fact));
      return !this.#owed.includes(fact);
    };
    const { place, value } = line;
    const isTaken = store.ahead.say(tenure.session, () => ({ entry: readJournalValue(value), place, secured }));
    if (!isTaken || this.#owed.length >= aheadMax) await this.#pay(fact);
  }

  #owe(report: Report, written: Pick<Owed, 'journal' | 'documents'>): Owed {
    const { tenure, clock } = this.#options;
    const at = clock.now();
    const actor = `runner:${tenure.runner}`;
    const make: MakeCommand = (state) => {
      const calls = this.#calls.copy();
      const checked = withOneResultEach(report, calls, state?.turn.number ?? 0);
      return { at, actor, openCalls: calls.list, ...checked };
    };
    const fact = { make, ...written };
    this.#owed.push(fact);
    this.#payInTime();
    return fact;
  }

  /** One alarm, whatever comes and goes before it rings: one for each fact would cost more than the fact. */
  #payInTime(): void {
    const [fact] = this.#owed;
    const { tenure, clock } = this.#options;
    if (fact === undefined || this.#isAlarmSet || tenure.isOver) return;
    this.#isAlarmSet = true;
    void pause(clock, owedMs).then(async () => {
      this.#isAlarmSet = false;
      if (this.#owed[0] === fact) await tenure.guard(this.#pay(fact));
      else this.#payInTime();
    });
  }

  async #pay(fact = this.#owed[0]): Promise<void> {
    if (fact !== undefined && this.#owed.includes(fact)) await this.#decide(undefined);
  }

  /** What was heard of another session before it is on record: nothing that may follow from it is written before it. */
  heardAhead(session: string, secured: WordAhead['secured']): void {
    this.#heardAhead.set(session, secured);
  }

  /** From now on what is heard is of this process. */
  hears(incarnation: number): void {
    this.#incarnation = incarnation;
  }

  async attend(): Promise<SessionState | undefined> {
    const { runner, epoch } = this.#options.tenure;
    return await this.#decide((_state, calls) => {
      return this.#asked(`runner:${runner}`, calls, { type: 'attend', epoch } as const);
    });
  }

  /** The deadline has been waited for, whatever a clock that was set back says. */
  async expire(deadline: number): Promise<SessionState | undefined> {
    return await this.#decide((_state, calls) => {
      const asked = this.#asked('clock', calls, { type: 'expire' } as const);
      return { ...asked, at: Math.max(asked.at, deadline) };
    });
  }

  /** Whether the call was shown, by us or by an owner before us, and has no result. */
  showsCall(callId: string): boolean {
    return this.#calls.has(callId);
  }

  /** Goes to the journal in the same commit as what is told or shown next, and the document with it. Gives its position. */
  keep(entry: NewEntry, document?: DocumentWrite): number {
    this.#kept.push(entry);
    if (document !== undefined) this.#keptDocuments.push(document);
    return ++this.#journalHead;
  }

  /** Goes with what is told or shown next. */
  note(document: DocumentWrite): void {
    this.#keptDocuments.push(document);
  }

  /** Undefined, unless a program of this process is far behind with the journal: then resolves when it is less so. */
  room(): Promise<void> | undefined {
    const { store, tenure } = this.#options;
    return store.ahead.room(tenure.session, this.#journalHead);
  }

  /** Events that need no decision. */
  async show(events: readonly WorkEvent[], heard?: Heard): Promise<void> {
    await this.write(events, heard);
  }

  /** As `show`; gives the position of the last, or undefined when the session is no longer ours. */
  async write(events: readonly WorkEvent[], heard?: Heard): Promise<number | undefined> {
    const { store, tenure } = this.#options;
    if (tenure.isOver) return undefined;
    if (events.length === 0 && this.#kept.length === 0) return this.#before.events;
    return await this.#writing(events, heard, async ({ shown, options, again }) => {
      return await store.show(tenure.session, shown, again ? { ...options, after: this.#before } : options);
    });
  }

  /** As `write`, and what follows from it in another session; undefined when this one is no longer ours. */
  async writeAndFollow(
    events: readonly WorkEvent[],
    following: Omit<Following, 'joined'>,
  ): Promise<Executed | undefined> {
    const { store, tenure } = this.#options;
    const { session } = following;
    let executed: Executed | undefined;
    const write = async ({ shown, options, again }: Writing): Promise<Heads | undefined> => {
      if (!again) {
        const joined = this.#heardAhead.has(session);
        const { command } = following;
        const written = await store.showAndFollow(tenure.session, { shown, options }, { session, command, joined });
        if (written !== 'unjoined') {
          executed = written?.executed;
          return written?.heads;
        }
      }
      if (!(await this.#areSecured())) return undefined;
      // One of both may be there, or neither: what follows is known as a repeat, where it is.
      const heads = await store.show(tenure.session, shown, { ...options, after: this.#before });
      if (heads !== undefined) executed = await store.execute(session, following.command(heads.events));
      return heads;
    };
    await this.#writing(events, undefined, write, session);
    return executed;
  }

  /** `joins`: what was heard ahead of this session goes with it. */
  async #writing(
    events: readonly WorkEvent[],
    heard: Heard | undefined,
    write: (writing: Writing) => Promise<Heads | undefined>,
    joins?: string,
  ): Promise<number | undefined> {
    // What was owed comes before what is shown.
    if (this.#owed.length > 0) void this.#options.tenure.guard(this.#pay());
    const journal = this.#kept.splice(0);
    const documents = this.#documents(heard);
    const { store, tenure, clock } = this.#options;
    return await this.#inOrder(async () => {
      const at = isoTime(clock.now());
      const options = { at, fence: tenure.fence, documents };
      const checked = this.#calls.checked(events, store.known(tenure.session)?.turn.number ?? 0);
      const shown = { events: checked, journal };
      const written = await this.patiently((again) => write({ shown, options, again }));
      if (written === undefined) tenure.end('lost');
      else
        this.#before = {
          events: Math.max(written.events, this.#before.events),
          journal: Math.max(written.journal, this.#before.journal),
        };
      return written?.events;
    }, joins);
  }

  async #head(stream: StreamName): Promise<number> {
    const { log, tenure } = this.#options;
    return await log.head(tenure.session, stream);
  }

  /** Tries again while the store is away, as long as the session is ours. */
  patiently<T>(work: (again: boolean) => Promise<T>): Promise<T> {
    return this.#options.tenure.patiently(work);
  }

  #documents(heard: Heard | undefined): readonly DocumentWrite[] {
    const kept = this.#keptDocuments.splice(0);
    if (heard === undefined) return kept;
    const { session } = this.#options.tenure;
    return [...kept, heard === 'all' ? heardOut(session) : heardDocument(session, this.#incarnation, heard)];
  }

  /** The command may be made more than once, from another state; each time the calls are as they were. */
  async #decide(
    command: ((state: SessionState | undefined, calls: OpenCalls) => SessionCommand) | undefined,
    heard?: Heard,
  ): Promise<SessionState | undefined> {
    const { store, tenure, stands } = this.#options;
    const kept: ExecuteOptions = {
      fence: tenure.fence,
      journal: this.#kept.splice(0),
      documents: this.#documents(heard),
    };
    return await this.#inOrder(async () => {
      const options: ExecuteOptions = { tries: { since: this.#before }, ...kept };
      const made = command && ((state: SessionState | undefined) => command(state, this.#calls.copy()));
      const executed = await this.patiently(() => store.execute(tenure.session, made, options));
      if (executed.ok) {
        stands?.(executed.value.state);
        return executed.value.state;
      }
      assert('kind' in executed.error, 'the domain refuses no report');
      tenure.end('lost');
      return undefined;
    });
  }

  async #inOrder<T>(work: () => Promise<T>, joins?: string): Promise<T | undefined> {
    const { tenure } = this.#options;
    const run = this.#last.then(async () => {
      if (this.#heardAhead.size > 0 && !(await this.#areSecured(joins))) tenure.end('lost');
      return tenure.isOver ? undefined : await work();
    });
    this.#last = run.catch(() => undefined);
    return await run;
  }

  /** What was heard ahead is on record. Where one never will be, whoever owns the session next has not heard it. */
  async #areSecured(except?: string): Promise<boolean> {
    for (const [session, secured] of this.#heardAhead) {
      if (session === except) continue;
      if (!(await secured())) return false;
      if (this.#heardAhead.get(session) === secured) this.#heardAhead.delete(session);
    }
    return true;
  }

  /** The keys of our own first: a copy that is given further ones costs the engine as much as half of the decision. */
  #asked<Body>(actor: string, calls: OpenCalls, body: Body): Asked & Body {
    return { at: this.#options.clock.now(), actor, openCalls: calls.list, ...body };
  }
}

function withOneResultEach(report: Report, calls: OpenCalls, turn: number): Report {
  const { observed = [] } = report;
  const closing = 'closing' in report ? (report.closing ?? []) : [];
  if (observed.length === 0 && closing.length === 0) return report;
  const checked = { ...report, observed: calls.checked(observed, turn) };
  return 'closing' in checked ? { ...checked, closing: calls.checked(closing, turn) } : checked;
}
