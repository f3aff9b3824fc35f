import { setImmediate } from 'node:timers/promises';
import type { IrModule } from '@concerto/ir';
import { SnapshotError } from '@concerto/vm';
import {
  type Machine,
  MachineLost,
  type MachineStart,
  type Machines,
  type ProgramEffect,
  type ProgramOutcome,
  type Turn,
} from './machine/machine.ts';
import { ownMachines } from './machine/own-machine.ts';
import type { Input } from './open-work.ts';
import type { ProgramJournal } from './program-journal.ts';
import { type ProgramWorld, TURN_STEPS } from './program-world.ts';
import { endOrphans, RequestDesk } from './request-desk.ts';

export type RunOptions = Pick<MachineStart, 'entry' | 'capture' | 'limits' | 'sliceMs'> & {
  /** Where it is run; in this thread unless given. */
  readonly machines?: Machines | undefined;
  /** Ends the program: what it started is ended with it. */
  readonly signal?: AbortSignal;
  /** Where what crosses between the program and the world is written, and read from when it is run again. */
  readonly journal?: ProgramJournal | undefined;
};

/** Turns of a replay before signals get their turn. */
const REPLAYED_TURNS = 1000;

/** Effects of one turn before others get their turn. */
const EFFECTS_AT_ONCE = 500;

/** So often a machine is begun again before it has taken another turn. */
const LOSSES_MAX = 5;

/** Messages that are sent ahead at most. */
const AHEAD_MAX = 256;

/** Runs a compiled program to its end, performing its effects. Nothing it started is left when this resolves. */
export async function runProgram(module: IrModule, world: ProgramWorld, options: RunOptions): Promise<ProgramOutcome> {
  const { signal, journal, machines = ownMachines, ...rest } = options;
  const start = { ...rest, module };
  const begun = await beginRun(machines, start, journal);
  const desk = new RequestDesk(module, world);
  const run = new ProgramRun({ ...begun, machines, start, world, desk, signal });
  const onAbort = (): void => desk.letGo();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await run.toEnd();
  } finally {
    signal?.removeEventListener('abort', onAbort);
    run.close();
    await desk.close();
  }
}

type Begun = {
  readonly machine: Machine;
  readonly journal: ProgramJournal | undefined;
  /** The turn that it has taken already. */
  readonly done?: Turn;
};

/** Where the journal was last marked, or at the start where that cannot be read any more. */
async function beginRun(machines: Machines, start: MachineStart, journal: ProgramJournal | undefined): Promise<Begun> {
  const resumed = journal?.resumed;
  if (journal === undefined || resumed === undefined) return { machine: await machines.begin(start), journal };
  try {
    const machine = await machines.begin({ ...start, snapshot: resumed.snapshot });
    journal.takeUp(machine.pending);
    return { machine, journal, done: { status: resumed.status, effects: [] } };
  } catch (cause) {
    const whole = cause instanceof SnapshotError ? await journal.whole() : undefined;
    if (whole === undefined) throw cause;
    return { machine: await machines.begin(start), journal: whole };
  }
}

type RunParts = Begun & {
  readonly machines: Machines;
  readonly start: MachineStart;
  readonly world: ProgramWorld;
  readonly desk: RequestDesk;
  readonly signal: AbortSignal | undefined;
};

/** A machine with its world: what it does is written and performed, what comes is written and given to it. */
class ProgramRun {
  readonly #parts: RunParts;
  #machine: Machine;
  #lost: MachineLost | undefined;
  #losses = 0;
  #replayed = 0;
  /** Sent ahead as far as the program has taken it before. */
  #aheadMax = 1;

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.#machine = parts.machine;
  }

  async toEnd(): Promise<ProgramOutcome> {
    const { world, desk, done } = this.#parts;
    let taken = done;
    let given: readonly Input[] = [];
    // Each message of an agent is a turn of it: nothing is waited for that is there.
    for (;;) {
      const held = world.held?.();
      if (held !== undefined) await held;
      const isCancelled = this.#isAborted;
      const made = taken === undefined || isCancelled ? this.#turns(given) : [taken];
      const turns = made instanceof Promise ? await made : made;
      taken = undefined;
      given = [];
      let index = -1;
      for (const turn of turns) {
        if (++index > 0) await world.held?.();
        // What it did meanwhile nobody has seen: whoever goes on with its journal makes this turn again.
        if (this.#isAborted && !isCancelled) break;
        const journal = this.#journal;
        const isTaken = this.#take(turn, journal);
        if (isTaken !== undefined) await isTaken;
        if (turn.status === 'done' || turn.status === 'failed') {
          await (isCancelled ? this.#keepAnswers() : journal?.finish(turn));
          return turn;
        }
        if (index === turns.length - 1) given = this.#here(turn.status) ?? (await this.#next(turn.status, journal));
        else if (!this.#isAborted) await journal?.got(turn.status, desk.inputAhead(turn.effects));
      }
    }
  }

  close(): void {
    this.#machine.close();
  }

  /** What was answered is told already, and may have been paid for: whoever goes on does not ask it again. */
  async #keepAnswers(): Promise<void> {
    const { desk, journal } = this.#parts;
    const answers = desk.answersLeft();
    if (answers.length > 0) await journal?.got('waiting', answers);
  }

  get #isAborted(): boolean {
    return this.#parts.signal?.aborted === true;
  }

  /** An interrupted program can go on with its journal: that it was interrupted is not written there. */
  get #journal(): ProgramJournal | undefined {
    return this.#isAborted ? undefined : this.#parts.journal;
  }

  /** At once where the machine is in this thread: for each word of an agent, a promise would cost as much as the turn. */
  #turns(inputs: readonly Input[]): readonly Turn[] | Promise<readonly Turn[]> {
    if (this.#machine.isElsewhere) return this.#turnsElsewhere(inputs);
    const steps = this.#parts.journal?.turnSteps ?? TURN_STEPS;
    return this.#machine.turn({ inputs, steps, cancel: this.#isAborted ? INTERRUPTED : undefined });
  }

  async #turnsElsewhere(inputs: readonly Input[]): Promise<readonly Turn[]> {
    const { journal, desk } = this.#parts;
    for (;;) {
      const isAborted = this.#isAborted;
      try {
        const ended = this.#lost === undefined || isAborted ? undefined : await this.#beginAgain(this.#lost);
        if (ended !== undefined) return [ended];
        const ahead = isAborted || journal?.isReplaying === true ? undefined : desk.ahead(this.#aheadMax);
        const steps = journal?.turnSteps ?? TURN_STEPS;
        const turns = await this.#machine.turn({ inputs, steps, ahead, cancel: isAborted ? INTERRUPTED : undefined });
        if (ahead !== undefined) this.#aheadMax = aheadNext(ahead.said.length, turns.length - 1);
        this.#losses = 0;
        return turns;
      } catch (cause) {
        if (!(cause instanceof MachineLost) || ++this.#losses > LOSSES_MAX) throw cause;
        if (isAborted) return [interrupted];
        this.#lost = cause;
      }
    }
  }

  /**
   * Elsewhere, from what is written of it, to where it was: the same that it did is not done again, since the world has
   * it all. A turn where it came to its end on the way, which is its own doing.
   */
  async #beginAgain({ isSuspect }: MachineLost): Promise<Turn | undefined> {
    const { journal, machines, start } = this.#parts;
    const past = await journal?.past();
    if (journal === undefined || past === undefined) return gone;
    const { snapshot, inputs } = past;
    this.#machine.close();
    this.#machine = await machines.begin({ ...start, isSuspect, ...(snapshot === undefined ? {} : { snapshot }) });
    for (let at = past.turn; at < journal.turn; at++) {
      const [turn] = await this.#machine.turn({ inputs: inputs.get(at) ?? [], steps: journal.turnSteps });
      if (turn?.status === 'done' || turn?.status === 'failed') return turn;
    }
    this.#lost = undefined;
    return undefined;
  }

  #take(turn: Turn, journal: ProgramJournal | undefined): Promise<void> | undefined {
    const { desk } = this.#parts;
    if (journal !== undefined || turn.effects.length > 1) return this.#takeAll(turn, journal);
    for (const effect of turn.effects) desk.take(effect);
    desk.startHeld();
    return undefined;
  }

  async #takeAll({ effects }: Turn, journal: ProgramJournal | undefined): Promise<void> {
    const { desk, world } = this.#parts;
    const fresh = journal === undefined ? effects : journal.took(effects);
    for (let from = 0; from < fresh.length; from += EFFECTS_AT_ONCE) {
      if (from > 0) await setImmediate();
      await takeSome(fresh.slice(from, from + EFFECTS_AT_ONCE), this.#parts, journal);
      if (world.ready !== undefined && effects.length > 1) await world.ready();
    }
    desk.startHeld();
  }

  /** What has come for it already, where nothing has to be written down first. */
  #here(status: 'waiting' | 'running'): readonly Input[] | undefined {
    const { desk, journal } = this.#parts;
    return journal === undefined && status === 'waiting' && desk.hasInput ? desk.inputs() : undefined;
  }

  /** What the program is given next. */
  async #next(status: 'waiting' | 'running', journal: ProgramJournal | undefined): Promise<readonly Input[]> {
    const { desk, world } = this.#parts;
    if (journal?.isReplaying === true) return await this.#replay(status, journal);
    await this.#compact(status, journal);
    // Timers, signals and answers get their turn even while a program only computes.
    if (status === 'running') await setImmediate();
    else if (!desk.hasInput) {
      world.stands?.(this.#machine.places());
      world.waits?.(journal === undefined ? undefined : desk);
      const rests = world.sleeps === undefined ? undefined : desk.rests;
      if (rests?.until !== undefined && rests.on === undefined) world.sleeps?.(rests.until);
      await desk.someInput();
      world.waits?.(undefined);
    }
    const inputs = desk.inputs();
    const safe = journal?.got(status, inputs);
    if (safe !== undefined) await safe;
    return inputs;
  }

  async #compact(status: 'waiting' | 'running', journal: ProgramJournal | undefined): Promise<void> {
    try {
      await journal?.compact(this.#machine, status);
    } catch (cause) {
      // Its next turn finds that it is gone; what was not marked is read.
      if (!(cause instanceof MachineLost)) throw cause;
    }
  }

  async #replay(status: 'waiting' | 'running', journal: ProgramJournal): Promise<readonly Input[]> {
    const { desk, world } = this.#parts;
    const { inputs, recovery, secured } = journal.replay(status);
    if (recovery !== undefined) {
      await secured;
      await endOrphans(journal.orphans, world);
      await desk.recover(recovery, journal.cached);
    }
    if (++this.#replayed % REPLAYED_TURNS === 0) await setImmediate();
    return inputs;
  }
}

const INTERRUPTED = 'the program was interrupted';
const interrupted: Turn = {
  status: 'failed',
  failure: { type: 'CancelledError', message: INTERRUPTED, trace: [], panic: false },
  effects: [],
};

/** What nobody has written down cannot be begun again. */
const gone: Turn = {
  status: 'failed',
  failure: {
    type: 'LimitError',
    message: 'the process in which the program ran has ended',
    trace: [],
    panic: false,
  },
  effects: [],
};

/** What is taken whole is doubled; what was left is sent again with the next. */
function aheadNext(sent: number, taken: number): number {
  return taken < sent ? Math.max(1, taken) : Math.min(AHEAD_MAX, 2 * sent);
}

/** Once it is written that something was said it is said: whoever is killed in between has lost it. */
async function takeSome(
  effects: readonly ProgramEffect[],
  { desk, world }: RunParts,
  journal: ProgramJournal | undefined,
): Promise<void> {
  for (const effect of effects) {
    if (journal !== undefined && !NOTICES.has(effect.kind)) {
      world.flush?.();
      const secured = journal.secure(effect);
      if (secured !== undefined) await secured;
    }
    desk.take(effect);
  }
  if (journal !== undefined) world.flush?.();
}

const NOTICES: ReadonlySet<ProgramEffect['kind']> = new Set(['emit', 'print', 'log']);
