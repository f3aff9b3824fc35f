import type { ProcessIdentity } from '@concerto/agents';
import type { IrModule } from '@concerto/ir';
import { readStored } from '@concerto/protocol';
import { SnapshotError } from '@concerto/vm';
import * as z from 'zod';
import { JournalError, type JournalMarks, type JournalTape } from './journal-file.ts';
import type { JournalOptions, Past, ReplaySummary, Resumed } from './journal-options.ts';
import {
  digestOf,
  effectText,
  header,
  inputsOf,
  isCostly,
  isOutward,
  JOURNAL_VERSION,
  type JournalMark,
  type JournalRecord,
  mark,
  record,
  whyAnother,
} from './journal-records.ts';
import { JournalSecrets, MissingSecret } from './journal-secrets.ts';
import type { Machine, ProgramEffect, ProgramOutcome, ProgramRequest } from './machine/machine.ts';
import { type CachedAnswer, type Input, isLast, OpenWork, type Recovery } from './open-work.ts';
import { TURN_STEPS } from './program-world.ts';

/**
 * What crosses between a program and the world, in the order it does. A program that is run again with its journal is
 * given what it was given before, up to where the journal ends, and goes on from there.
 *
 * Everything is written before it happens: what was done is in the journal, even if we were killed while doing it.
 */
export class ProgramJournal {
  readonly turnSteps: number;
  readonly #module: IrModule;
  readonly #file: JournalTape;
  readonly #secrets: JournalSecrets;
  readonly #options: JournalOptions;
  readonly #open = new OpenWork();
  #next: { readonly record: JournalRecord; readonly text: string } | undefined;
  /** Only turns in which the program can move count: how often it is looked after while it waits is not its business. */
  #turn = 0;
  #isStill = false;
  #records = 0;
  #isClosed = false;
  readonly #processes = new Map<string, ProcessIdentity>();
  /** Requests whose answers must not be lost. */
  readonly #costly = new Set<number>();
  #mode: 'replaying' | 'leaving' | 'live' = 'replaying';
  #marked: JournalMark | undefined;
  /** Whole ones that the program has computed since the last mark. */
  #slices = 0;
  /** The turn that was marked. */
  #isTurnCounted = false;

  constructor(module: IrModule, options: JournalOptions) {
    const { tape, replayOnly } = options;
    this.#module = module;
    this.#options = options;
    this.#secrets = new JournalSecrets(module, options.environment, replayOnly ? 'pretend' : 'refuse');
    this.#file = tape;
    try {
      this.turnSteps = this.#readHeader(options.digest ?? digestOf(module));
      const marked = tape.marks?.last;
      if (marked !== undefined) this.#marked = this.#readMark(marked);
      this.#advance();
    } catch (cause) {
      this.#file.close();
      throw cause;
    }
  }

  /** Where the run stood when it was last marked: what is read of the journal comes after it. */
  get resumed(): Resumed | undefined {
    return this.#marked && { snapshot: this.#marked.vm, status: this.#marked.status };
  }

  /** A machine goes on from there; `pending` is what it waits for. */
  takeUp(pending: readonly ProgramRequest[]): void {
    if (this.#marked === undefined) return;
    const { turn, records, open } = this.#marked;
    this.#turn = turn;
    this.#records += records;
    this.#open.load(open, pending);
    this.#marked = undefined;
    this.#isTurnCounted = true;
  }

  #readMark(text: string): JournalMark {
    const read = mark.safeParse(this.#parse(text, z.unknown()));
    if (!read.success) throw new SnapshotError('it is damaged', read.error);
    return read.data;
  }

  /** The same from its start, where the mark is of another version of the machine. */
  async whole(): Promise<ProgramJournal | undefined> {
    const tape = await this.#file.again?.(true);
    return tape && new ProgramJournal(this.#module, { ...this.#options, tape });
  }

  /** The turns that the program has taken. */
  get turn(): number {
    return this.#turn;
  }

  /** What the machine was given, for one that takes its place; undefined where it cannot be read again while it is written. */
  async past(): Promise<Past | undefined> {
    await this.#file.sync();
    const tape = await this.#file.again?.(false);
    if (tape === undefined) return undefined;
    const marked = tape.marks?.last === undefined ? undefined : this.#readMark(tape.marks.last);
    // The header.
    tape.next();
    const inputs = inputsOf(() => {
      const text = tape.next();
      return text === undefined ? undefined : this.#parse(text, record);
    });
    return { snapshot: marked?.vm, turn: marked?.turn ?? 0, inputs };
  }

  /**
   * Call it after a turn, before the program is given anything: where much was written or computed since it was last done,
   * all that the program is replaces what led to it.
   */
  compact(machine: Machine, status: 'waiting' | 'running'): Promise<void> | undefined {
    if (status === 'running') this.#slices++;
    if (this.#mode !== 'live' || this.#file.marks?.isDue(this.#slices) !== true) return undefined;
    return this.#mark(this.#file.marks, machine, status);
  }

  async #mark(marks: JournalMarks, machine: Machine, status: 'waiting' | 'running'): Promise<void> {
    const rest: Omit<JournalMark, 'vm'> = { turn: this.#turn, status, records: this.#records, open: this.#open.data() };
    this.#slices = 0;
    const text = JSON.stringify(rest).slice(0, -1);
    await marks.mark(this.#secrets.strike(`${text},"vm":${await machine.snapshot()}}`));
  }

  get isReplaying(): boolean {
    return this.#mode !== 'live';
  }

  /** Questions to people that have their answers. */
  get answered(): number {
    return this.#open.answered;
  }

  /** Answers of models that may be given again. */
  get cached(): readonly CachedAnswer[] {
    return this.#open.cached;
  }

  /** Processes of agents that nobody saw end. */
  get orphans(): readonly ProcessIdentity[] {
    return [...this.#processes.values()];
  }

  /** A process of an agent is there: whoever goes on with this journal must be able to end it. */
  noteProcess(identity: ProcessIdentity): void {
    this.#note(`"process":${JSON.stringify(identity)}`);
  }

  noteEnd({ marker }: ProcessIdentity): void {
    try {
      this.#note(`"ended":${JSON.stringify(marker)}`);
    } catch (cause) {
      // Without it somebody looks for a process that is not there, no more.
      if (!(cause instanceof JournalError)) throw cause;
    }
  }

  #note(part: string): void {
    if (!this.#isClosed) this.#write([part]);
  }

  /** What the program does in its next turn. Gives back what is to be done now. */
  took(effects: readonly ProgramEffect[]): readonly ProgramEffect[] {
    if (!this.#isStill && !this.#isTurnCounted) this.#turn++;
    this.#isTurnCounted = false;
    this.#options.onTurn?.(this.#turn);
    let at = 0;
    for (; at < effects.length && this.#next !== undefined; at++) {
      const effect = effects[at];
      if (effect === undefined) break;
      this.#expect(effect);
    }
    const fresh = at === 0 ? effects : effects.slice(at);
    if (fresh.length === 0) return fresh;
    if (this.#mode === 'replaying') this.#leave();
    for (const effect of fresh) if (isCostly(effect)) this.#costly.add(effect.id);
    this.#write(fresh.map((effect) => `"out":${effectText(effect)}`));
    if (this.#mode === 'live') {
      if (this.#file.marks !== undefined) for (const effect of fresh) this.#open.took(effect, this.#now());
      return fresh;
    }
    // The first turn after what is in the journal. What it asks for waits until the lost sessions have ended.
    for (const effect of fresh) this.#open.took(effect);
    return fresh.filter((effect) => effect.kind === 'cancel' || !('id' in effect));
  }

  /** Call it before an effect happens: one that others see must not be forgotten by a machine that goes down. */
  secure(effect: ProgramEffect): Promise<void> | undefined {
    if (this.#options.keepsAgents !== true) return isOutward(effect) ? this.#file.sync() : undefined;
    // What goes to sessions is written with the first that they are told of it.
    if (effect.kind === 'agent_open' || effect.kind === 'agent_reply' || effect.kind === 'session') return undefined;
    return isOutward(effect) || effect.kind === 'sleep' ? this.#file.sync() : undefined;
  }

  /** What the VM was given after this turn; `recovery` when the journal has nothing more. */
  replay(status: 'waiting' | 'running'): {
    readonly inputs: readonly Input[];
    readonly recovery?: Recovery;
    readonly secured?: Promise<void> | undefined;
  } {
    if (status === 'running') this.#slices++;
    const inputs: Input[] = [];
    for (let next = this.#next; next !== undefined; next = this.#next) {
      if (!('in' in next.record) || next.record.turn !== this.#turn) break;
      inputs.push(next.record.in);
      this.#open.got(next.record.in, next.record.at);
      this.#advance();
    }
    if (inputs.length > 0) return { inputs };
    if (this.#next !== undefined) {
      if (status === 'waiting') throw this.#diverged('the program waits for something');
      return { inputs };
    }
    if (this.#mode === 'replaying') this.#leave();
    this.#mode = 'live';
    const recovery = this.#open.recover(this.#now(), { keepsAgents: this.#options.keepsAgents === true });
    for (const request of recovery.again) if (isCostly(request)) this.#costly.add(request.id);
    this.#told({ lostSessions: recovery.lostSessions, askedAgain: recovery.repeated.size });
    void this.got(status, recovery.inputs);
    return { inputs: recovery.inputs, recovery, secured: this.#file.sync() };
  }

  /** What the VM is given now; what must not be lost of it is safe when what is returned resolves. */
  got(status: 'waiting' | 'running', inputs: readonly Input[]): Promise<void> | undefined {
    this.#isStill = status === 'waiting' && inputs.length === 0;
    this.#write(inputs.map((one) => `"in":${JSON.stringify(one)}`));
    if (this.#file.marks !== undefined) for (const one of inputs) this.#open.got(one, this.#now());
    let mustSync = false;
    for (const one of inputs) mustSync = this.#isDear(one) || mustSync;
    return mustSync ? this.#file.sync() : undefined;
  }

  /** What an agent says in passing comes in masses, and it is lost with the agent anyway. */
  #isDear(one: Input): boolean {
    if (one.kind !== 'answer') return false;
    return this.#costly.delete(one.id) || (one.answer.ok && isLast(one.answer.value));
  }

  finish(outcome: ProgramOutcome): Promise<void> | undefined {
    const text = outcome.status === 'done' ? outcome.shown : outcome.failure.message;
    const line = `"end":${JSON.stringify({ status: outcome.status, text })}`;
    if (this.#next !== undefined) {
      if (!('end' in this.#next.record) || !this.#next.text.endsWith(`${this.#secrets.strike(line)}}`)) {
        throw this.#diverged(`the program ends with ${text}`);
      }
      this.#told({ isFinished: true });
      return undefined;
    }
    if (this.#mode === 'replaying') this.#leave();
    if (this.#mode === 'leaving') this.#told({});
    this.#mode = 'live';
    this.#write([line]);
    this.#file.marks?.forget();
    return this.#file.sync();
  }

  close(): void {
    this.#isClosed = true;
    void this.#file.sync();
    this.#file.close();
  }

  /** The journal has nothing more: from here on it is written. */
  #leave(): void {
    if (this.#options.replayOnly) {
      const { path } = this.#file;
      throw new JournalError(
        'unfinished',
        `the journal ${path} ends after line ${this.#file.line}, before the program does; \`--journal ${path}\` goes on from there`,
      );
    }
    this.#file.startWriting();
    this.#mode = this.#records === 0 ? 'live' : 'leaving';
  }

  #expect(effect: ProgramEffect): void {
    const { record: said, text } = this.#next ?? {};
    const is = this.#secrets.strike(effectText(effect));
    const isSame =
      said !== undefined && text !== undefined && 'out' in said && text.slice(text.indexOf('"out":') + 6, -1) === is;
    if (!isSame || said.turn !== this.#turn) throw this.#diverged(`the program does ${shortened(is)}`);
    this.#open.took(effect, said.at);
    this.#options.onReplayed?.(effect);
    this.#advance();
  }

  #diverged(what: string): JournalError {
    const expected = this.#next === undefined ? 'nothing' : shortened(this.#next.text);
    return new JournalError(
      'diverged',
      `the program does not do what it did: at line ${this.#file.line} the journal ${this.#file.path} has ${expected}, but ${what}`,
    );
  }

  /** Goes to the next record that is the program's business. */
  #advance(): void {
    this.#next = undefined;
    for (let text = this.#file.next(); text !== undefined; text = this.#file.next()) {
      this.#records++;
      const found = this.#parse(text, record);
      if ('process' in found) this.#processes.set(found.process.marker, found.process);
      else if ('ended' in found) this.#processes.delete(found.ended);
      else {
        this.#next = { text, record: found };
        return;
      }
    }
  }

  #parse<T>(text: string, schema: z.ZodType<T>): T {
    const { path } = this.#file;
    try {
      return readStored(schema, JSON.parse(this.#secrets.restore(text)));
    } catch (cause) {
      if (cause instanceof MissingSecret) {
        const why = `the journal ${path} has the value of ${cause.variable} struck out: set ${cause.variable} as it was`;
        throw new JournalError('secret', why, cause);
      }
      throw new JournalError('damaged', `line ${this.#file.line} of the journal ${path} is none of a journal`, cause);
    }
  }

  #readHeader(module: string): number {
    const { replayOnly } = this.#options;
    const { path } = this.#file;
    const text = this.#file.next();
    if (text === undefined) {
      if (replayOnly) throw new JournalError('unfinished', `the journal ${path} is empty`);
      this.#file.startWriting();
      const first = { journal: 'concerto', version: JOURNAL_VERSION, module, arguments: this.#options.arguments };
      this.#file.append([this.#secrets.strike(JSON.stringify({ ...first, turn_steps: TURN_STEPS, at: this.#now() }))]);
      return TURN_STEPS;
    }
    const found = this.#parse(text, header);
    const { arguments: given } = this.#options;
    const changed = whyAnother(found, { module, arguments: replayOnly ? found.arguments : given });
    if (changed !== undefined) throw new JournalError('changed', `the journal ${path} is of ${changed}`);
    return found.turn_steps;
  }

  #write(parts: readonly string[]): void {
    if (this.#mode === 'live') this.#records += parts.length;
    const at = this.#now();
    this.#file.append(parts.map((part) => this.#secrets.strike(`{"at":${at},"turn":${this.#turn},${part}}`)));
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }

  #told(found: Partial<ReplaySummary>): void {
    if (this.#records === 0) return;
    this.#options.onReplayEnd?.({
      records: this.#records,
      isFinished: false,
      lostSessions: 0,
      askedAgain: 0,
      ...found,
    });
  }
}

const SHORT = 200;

function shortened(text: string): string {
  return text.length <= SHORT ? text : `${text.slice(0, SHORT)}…`;
}
