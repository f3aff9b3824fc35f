import { randomBytes } from 'node:crypto';
import { harmless, type Json } from '@concerto/base';
import { type Session, SessionId } from '@concerto/protocol';
import type { ProgramTerminal, Sessions } from '@concerto/runtime';
import { JournalError, type ProgramJournal, type ProgramOutcome } from '@concerto/runtime/program';
import type { CompiledTarget } from '../language/compile-target.ts';
import { reportResult } from '../language/report-failure.ts';
import { EXIT_INTERRUPTED, untilInterrupted } from '../language/until-interrupted.ts';
import { printError, tell } from '../terminal/print.ts';
import { answersInOrder } from './asked-in-order.ts';
import { BudgetDesk, type BudgetDeskOptions } from './budget-desk.ts';
import { type FoundRun, findRun } from './find-run.ts';
import { inputAnswers, type NextAnswer } from './input-answers.ts';
import { runCatalog } from './run-catalog.ts';
import { type JournalFlags, openJournal, skipUsed } from './run-journal.ts';
import { type RunOutput, runOutput, type ShowFlags } from './run-output.ts';
import { inMemory, isShared, onDecided, openRunHouse, openRunStore, type RunStore, shownStore } from './run-store.ts';
import { tellWhatEnds } from './tell-what-ends.ts';
import { untilOver } from './until-over.ts';

type StoredRun = ShowFlags &
  JournalFlags & {
    readonly store: string;
    /** What its session is called; one that is there goes on. */
    readonly session: string | undefined;
    /** Undefined where there is nothing to run, which is told. */
    readonly compile: () => Promise<CompiledTarget | undefined>;
  };

/** Of the events of each of its sessions, where they are in memory and there is nobody to see them. */
export const recentChars = 1024 * 1024;

export const caller = { actor: 'user:owner', key: undefined };

/** Runs a program as a session of a store, as a server would, with this terminal beside it. Gives the exit code. */
export async function runInStore(run: StoredRun): Promise<number> {
  const answers = inputAnswers(run.input);
  // What is wrong with a program is told before there is anything in a store; one that goes on is not compiled.
  const target = run.session === undefined ? await run.compile() : undefined;
  if (run.session === undefined && target === undefined) return 1;
  const compile = async (): Promise<CompiledTarget | undefined> => target ?? (await run.compile());
  const session = run.session ?? `s_${randomBytes(12).toString('base64url')}`;
  const interruption = untilInterrupted();
  const { signal } = interruption;
  const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  try {
    const place = await openRunStore(run.store, { waitMs: 0, stopped, recentChars }, report);
    if (place === undefined) return EXIT_INTERRUPTED;
    try {
      const found = await findRun(place, { session, mock: run.mock, signal, compile });
      if (typeof found === 'number') return signal.aborted ? EXIT_INTERRUPTED : found;
      return await runFound({ run, place, found, session, answers, signal });
    } finally {
      await place.log.close();
    }
  } finally {
    interruption.release();
  }
}

type Running = {
  readonly run: StoredRun;
  readonly place: RunStore;
  readonly found: FoundRun;
  readonly session: string;
  readonly answers: NextAnswer;
  readonly signal: AbortSignal;
};

async function runFound(running: Running): Promise<number> {
  const output = runOutput(running.run);
  let journal: ProgramJournal | undefined;
  try {
    journal = openJournal(running.found.program.module, running.run, output);
    return await runBeside(running, output, journal);
  } catch (cause) {
    if (!(cause instanceof JournalError)) throw cause;
    printError(cause.message);
    return 1;
  } finally {
    journal?.close();
  }
}

/** The program, its terminal and the file that it may have been given for its journal. */
async function runBeside(
  { run, place, found, session, answers: given, signal }: Running,
  output: RunOutput,
  journal: ProgramJournal | undefined,
): Promise<number> {
  const answers = journal === undefined ? given : skipUsed(given, () => journal.answered);
  const inOrder = run.input === undefined ? () => answers : answersInOrder(answers, found.asked);
  let outcome: ProgramOutcome | undefined;
  const terminal: ProgramTerminal = {
    ...output,
    ask: (channel, payload, until, requestId) => output.ask(inOrder(requestId), channel, payload, until),
    ...(inMemory(run.store) ? { instead: { journal } } : {}),
    ended: (came) => {
      outcome = came;
    },
  };
  const { catalog, poolMax } = runCatalog(found, terminal, run.mock);
  const onNotice = once((message) => output.log('info', message));
  const house = openRunHouse(place, { catalog, poolMax, session, report, onNotice, journal });
  const { sessions } = house;
  let budget: BudgetDesk | undefined;
  let stopTelling = (): void => {};
  try {
    if (!run.json && !run.quiet) tellWhere(run.store, session, found.isBegun);
    const refused = found.isBegun ? await goOn(sessions, session) : await begin(sessions, session, found.name);
    if (refused !== undefined) {
      printError(refused);
      return 1;
    }
    const cancel = (): void => {
      void sessions.control(session, 'cancel', caller);
      stopTelling = tellWhatEnds(place.store, session);
    };
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel, { once: true });
    const person = process.stdin.isTTY && process.stdout.isTTY && run.input === undefined ? answers : undefined;
    const give: BudgetDeskOptions['give'] = (asked, response) => answerBudget(sessions, { ...asked, response });
    budget = new BudgetDesk({ store: place.store, root: session, person, give });
    const over = await untilOver({
      onDecided: (listener) => onDecided(place, session, listener),
      sessions,
      session,
    });
    if (signal.aborted) return EXIT_INTERRUPTED;
    output.flush();
    return outcome === undefined ? tellOver(over) : reportResult(outcome, found.findFile);
  } finally {
    budget?.close();
    stopTelling();
    output.flush();
    await house.close();
  }
}

/** Gives why it is refused. What is said to it by a variable is its prompt, as others see it. */
async function begin(sessions: Sessions, id: string, program: string): Promise<string | undefined> {
  const { CONCERTO_PROMPT: said = '' } = process.env;
  const started = await sessions.start(
    { program, id: SessionId.parse(id), ...(said === '' ? {} : { prompt: said }) },
    caller,
  );
  return started.ok ? undefined : started.error.message;
}

/** One that somebody has paused is meant to go on. */
async function goOn(sessions: Sessions, session: string): Promise<string | undefined> {
  if ((await sessions.get(session))?.status !== 'paused') return undefined;
  const resumed = await sessions.control(session, 'resume', caller);
  return resumed.ok ? undefined : resumed.error.message;
}

type BudgetAnswer = { readonly session: string; readonly requestId: string; readonly response: Json };

/** Gives why it is no answer; where somebody else was quicker there is nothing more to ask. */
export async function answerBudget(sessions: Sessions, given: BudgetAnswer): Promise<string | undefined> {
  const { session, requestId: request, response } = given;
  const answered = await sessions.answer({ session, request }, { response }, caller);
  return answered.ok || answered.error.code !== 'invalid_answer' ? undefined : answered.error.message;
}

/** Where it can be seen, and gone on with; of a store in memory nothing is left. */
function tellWhere(store: string, session: string, isBegun: boolean): void {
  if (inMemory(store)) return;
  const place = shownStore(store);
  const look = isShared(store)
    ? `\`concerto sessions attach ${session}\` follows it at a server of that store`
    : `\`concerto serve --store ${place}\` shows it afterwards`;
  const again = `\`concerto run --store ${place} --session ${session}\` goes on with it should this be ended`;
  tell(`session ${session} in ${place}${isBegun ? ' goes on' : ''}; ${look}, ${again}\n`);
}

/** Of one that did not come to its end by itself. */
function tellOver({ id, status, error }: Session): number {
  printError(error?.message ?? `session ${id} is over: ${status}`);
  return status === 'completed' ? 0 : 1;
}

export function report(message: string, cause?: unknown): void {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  tell(`warning: ${harmless(`${message}${why}`)}\n`);
}

/** Each once, however many processes it concerns. */
function once(tellOf: (message: string) => void): (message: string) => void {
  const told = new Set<string>();
  return (message) => {
    if (!told.has(message)) tellOf(message);
    told.add(message);
  };
}
