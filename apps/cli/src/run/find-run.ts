import { setTimeout as sleep } from 'node:timers/promises';
import { createSourceFile, type FindFile } from '@concerto/language';
import { SessionId } from '@concerto/protocol';
import { ProgramCode } from '@concerto/runtime';
import { UsageError } from '../arguments.ts';
import type { CompiledTarget } from '../language/compile-target.ts';
import { readTextFile } from '../language/project.ts';
import { printError, tell } from '../terminal/print.ts';
import { readAsked } from './asked-in-order.ts';
import { type NamedProgram, programOf } from './run-catalog.ts';
import { type RunStore, shownStore, takeSession } from './run-store.ts';

/** So long a session that somebody has is waited for: longer than one who was killed can have it. */
const takeWithinMs = 12_000;

/** What is to be run in which session. */
export type FoundRun = NamedProgram & {
  readonly isBegun: boolean;
  readonly findFile: FindFile;
  /** What it has asked of people already, in order. */
  readonly asked: readonly string[];
};

export type Wanted = {
  readonly session: string;
  readonly mock: boolean;
  readonly signal: AbortSignal;
  /** Undefined where there is nothing to run, which is told. */
  readonly compile: () => Promise<CompiledTarget | undefined>;
};

/** The session that is there, or the program that begins one; the exit code where there is nothing to be done. */
export async function findRun(place: RunStore, wanted: Wanted): Promise<FoundRun | number> {
  const { session, mock, compile } = wanted;
  if (!SessionId.safeParse(session).success)
    throw new UsageError(`${JSON.stringify(session)} cannot be the id of a session`);
  const state = await place.store.state(session);
  if (state !== undefined && (state.kind !== 'program' || state.parent !== undefined)) {
    const { kind, agent } = state;
    throw new UsageError(
      `session ${session} is that of the ${kind} ${agent}: --session goes on with a program that nobody opened`,
    );
  }
  if (state?.end !== undefined) return tellEnd(session, state.end);
  if (state !== undefined && !(await isTaken(place, wanted))) return 1;
  if (state?.version !== undefined) {
    const { agent: name, version } = state;
    const program = await new ProgramCode(place.log).get(version);
    if (program === undefined) throw new Error(`the code of session ${session}, ${version}, is not in the store`);
    return { name, program, findFile: sourceNow, asked: await readAsked(place.log, session), isBegun: true };
  }
  // One that was ended before it had begun has no code of its own yet.
  const target = await compile();
  if (target === undefined) return 1;
  const found = programOf(target, mock);
  const isBegun = state !== undefined;
  return { ...found, name: state?.agent ?? found.name, findFile: target.findFile, asked: [], isBegun };
}

type End = { readonly status: string; readonly reason?: string | undefined };

function tellEnd(session: string, { status, reason }: End): number {
  tell(`session ${session} is over: ${status}${reason === undefined ? '' : `, ${reason}`}\n`);
  return status === 'completed' ? 0 : 1;
}

/** As it is now: most often still what the session runs. */
function sourceNow(file: string): ReturnType<FindFile> {
  const text = readTextFile(file);
  return text === undefined ? undefined : createSourceFile(file, text);
}

/** Whoever was killed has it for some seconds more; whoever lives keeps it. */
async function isTaken(place: RunStore, { session, signal }: Wanted): Promise<boolean> {
  const until = performance.now() + takeWithinMs;
  for (let isTold = false; ; isTold = true) {
    const held = await takeSession(place, session);
    if (held === undefined) return true;
    if (signal.aborted || performance.now() > until) {
      printError(
        `session ${session} is run by ${held.by}: \`concerto sessions attach ${session}\` follows it at a server of ${shownStore(place.url)}`,
      );
      return false;
    }
    if (!isTold) tell(`waiting for session ${session}, which ${held.by} had\n`);
    await sleep(Math.min(held.expiresInMs, 1_000), undefined, { signal }).catch(() => undefined);
  }
}
