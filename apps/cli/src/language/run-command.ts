import { JournalError, type ProgramJournal, type ProgramWorld, runProgram } from '@concerto/runtime/program';
import { defineCommand, type ParsedArguments, parseArguments, UsageError } from '../arguments.ts';
import { printError, tell } from '../terminal/print.ts';
import { type CompiledTarget, compileTarget, compileWithServers } from './compile-target.ts';
import { inputAnswers } from './input-answers.ts';
import { reportResult } from './report-failure.ts';
import { openJournal, skipUsed } from './run-journal.ts';
import { runOutput } from './run-output.ts';
import { EXIT_INTERRUPTED, untilInterrupted } from './until-interrupted.ts';

export const spec = defineCommand({
  name: 'run',
  summary: 'Compile and run a program.',
  usage: '[FILE|DIR]',
  options: {
    json: { type: 'boolean', help: 'each emit as {"channel","payload"} on a line of its own' },
    mcp: {
      type: 'boolean',
      help: 'first ask the MCP servers it declares which tools they have, and check against them',
    },
    mock: { type: 'boolean', help: 'models answer with the offline mock' },
    input: {
      type: 'string',
      value: 'FILE',
      help: 'answers for `await emit`, one JSON value a line; - is standard input',
    },
    journal: {
      type: 'string',
      value: 'FILE',
      help: 'write down what the program does and is told; run again with the same FILE, it goes on where it was ended',
    },
    replay: {
      type: 'string',
      value: 'FILE',
      help: 'run it with what its journal says only: nothing is asked, nothing is done',
    },
    'replay-emits': { type: 'boolean', help: 'show the emits of what is replayed too' },
    store: {
      type: 'string',
      value: 'URL',
      help: 'run it as a session of this store, its agents as sessions below it: memory:, sqlite:PATH or redis://…',
    },
    session: {
      type: 'string',
      value: 'ID',
      help: 'what its session in the store is called; one that is there goes on where it was ended, with its own code',
    },
    quiet: { type: 'boolean', short: 'q', help: 'do not show emits' },
    verbose: {
      type: 'boolean',
      short: 'v',
      help: 'show every message of agents, and whole: also those nothing handles',
    },
  },
  maxPositionals: 1,
  details:
    'FILE is a program (.conc) or a compiled one (.conc-ir). DIR, or the current directory, is a project: its `entry` runs.\nExit code 1 when the program fails, 130 when it was interrupted.\nWith --store it says and takes the same, more slowly, and what it and its agents did is kept there: `concerto serve --store URL` shows it. After a kill, the same --store and --session go on with it.',
});

type Values = ParsedArguments<(typeof spec)['options']>['values'];

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  const compile = (): Promise<CompiledTarget | undefined> => compileRunnable(positionals[0], values.mcp);
  if (values.store === undefined) {
    if (values.session !== undefined)
      throw new UsageError('--session is the name of a session in a store: give --store');
    return await runHere(values, compile);
  }
  const journal = (['journal', 'replay', 'replay-emits'] as const).find((flag) => Boolean(values[flag]));
  if (journal !== undefined) {
    throw new UsageError(`--${journal} is for a run without --store: the store is the journal, and --session goes on`);
  }
  const { runInStore } = await import('../stored-run/run-in-store.ts');
  return await runInStore({ ...values, store: values.store, compile });
}

/** Undefined where there is nothing to run, which is told. */
async function compileRunnable(path: string | undefined, mcp: boolean): Promise<CompiledTarget | undefined> {
  const target = await (mcp ? compileWithServers : compileTarget)(path);
  if (target === undefined) return undefined;
  if (target.module.main !== undefined || target.module.init !== undefined) return target;
  tell(`error: ${target.entry} has nothing to run: no \`fn main\` and no statements\n`);
  return undefined;
}

/** Its agents are processes of this one, and nothing of it is left. */
async function runHere(values: Values, compile: () => Promise<CompiledTarget | undefined>): Promise<number> {
  let journal: ProgramJournal | undefined;
  const answers = inputAnswers(values.input);
  const nextAnswer = values.input === undefined ? answers : skipUsed(answers, () => journal?.answered ?? 0);
  const target = await compile();
  if (target === undefined) return 1;
  const output = runOutput(values);
  const world: ProgramWorld = {
    ...output,
    ask: (channel, payload, signal) => output.ask(nextAnswer, channel, payload, signal),
    environment: process.env,
    directory: process.cwd(),
    projectDirectory: target.projectDirectory,
    mockModels: values.mock,
  };
  const interruption = untilInterrupted();
  try {
    journal = openJournal(target.module, values, world);
    const outcome = await runProgram(target.module, world, {
      entry: 'main',
      signal: interruption.signal,
      ...(journal === undefined ? {} : { journal }),
    });
    output.flush();
    if (interruption.signal.aborted) return EXIT_INTERRUPTED;
    return reportResult(outcome, target.findFile);
  } catch (cause) {
    if (!(cause instanceof JournalError)) throw cause;
    printError(cause.message);
    return 1;
  } finally {
    journal?.close();
    output.flush();
    interruption.release();
  }
}
