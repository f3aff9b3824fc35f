import { harmless } from '@concerto/base';
import type { FindFile } from '@concerto/language';
import {
  JournalError,
  type PlainValue,
  type ProgramJournal,
  type ProgramOutcome,
  type ProgramWorld,
  runProgram,
} from '@concerto/runtime/program';
import { defineCommand, parseArguments } from '../arguments.ts';
import { harmlessButStyles, showsColour } from '../terminal/paint.ts';
import { printError, tell } from '../terminal/print.ts';
import { compileTarget, compileWithServers } from './compile-target.ts';
import { inputAnswers } from './input-answers.ts';
import { OutputBuffer } from './output-buffer.ts';
import { failureText } from './report-failure.ts';
import { openJournal, skipUsed } from './run-journal.ts';
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
    quiet: { type: 'boolean', short: 'q', help: 'do not show emits' },
    verbose: {
      type: 'boolean',
      short: 'v',
      help: 'show every message of agents, and whole: also those nothing handles',
    },
  },
  maxPositionals: 1,
  details:
    'FILE is a program (.conc) or a compiled one (.conc-ir). DIR, or the current directory, is a project: its `entry` runs.\nExit code 1 when the program fails.',
});

/** Events nobody wants to read in the terminal. */
const HIDDEN_EVENTS = new Set(['listen:log', 'listen:stale']);

/** An agent that talks much must not bury what the program says: of these, a line each. */
const SHORT_EVENTS = new Set(['listen:unhandled']);
const MOST_SHOWN = 160;

/** As much of a text as fits a line. */
function oneLine(text: string): string {
  const line = text.replaceAll(/\s*\n\s*/g, ' ');
  return line.length <= MOST_SHOWN ? line : `${line.slice(0, MOST_SHOWN)} … (--verbose shows all)`;
}

/** How the program's agents are started, and what is to be ended after it, where they are no processes of this one. */
export type Conducted = Required<Pick<ProgramWorld, 'startAgent'>> & { readonly close: () => Promise<void> };

export async function run(
  argv: string[],
  conduct?: (program: NonNullable<Awaited<ReturnType<typeof compileTarget>>>) => Promise<Conducted>,
): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  let journal: ProgramJournal | undefined;
  const answers = inputAnswers(values.input);
  const nextAnswer = values.input === undefined ? answers : skipUsed(answers, () => journal?.answered ?? 0);
  const target = await (values.mcp ? compileWithServers : compileTarget)(positionals[0]);
  if (target === undefined) return 1;
  if (target.module.main === undefined && target.module.init === undefined) {
    tell(`error: ${target.entry} has nothing to run: no \`fn main\` and no statements\n`);
    return 1;
  }
  const output = new OutputBuffer(process.stdout);
  const show = (channel: string, payload: PlainValue, isShort = false): void => {
    if (values.quiet) return;
    const text = (): string => (isShort ? oneLine(payload.shown) : payload.shown);
    if (values.json) output.write(shown(`{"channel":${JSON.stringify(channel)},"payload":${payload.written}}\n`));
    else output.write(shown(`[emit:${channel}] ${text()}\n`));
  };
  const conducted = await conduct?.(target);
  const world: ProgramWorld = {
    ...(conducted === undefined ? {} : { startAgent: conducted.startAgent }),
    emit: (channel, payload, system) => {
      if (!system || values.verbose) show(channel, payload);
      else if (!HIDDEN_EVENTS.has(channel)) show(channel, payload, SHORT_EVENTS.has(channel));
    },
    // In JSON mode standard output is for a program, which reads lines of JSON only.
    print: (text) => (values.json ? tell(text) : output.write(shown(text))),
    log: (level, text) => tell(`[${level.toUpperCase()}] ${harmless(text)}\n`),
    ask: (channel, payload, signal) =>
      nextAnswer(signal, () => {
        show(channel, payload);
        output.flush();
      }),
    ready: () => output.drained(),
    flush: () => output.flush(),
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
    await conducted?.close();
  }
}

/** A terminal obeys what agents and models said; a file or a pipe gets it as it is. */
function shown(text: string): string {
  return process.stdout.isTTY ? harmlessButStyles(text) : text;
}

/** `main` may return a Result: an error is the program's failure. */
function reportResult(outcome: ProgramOutcome, findFile: FindFile): number {
  if (outcome.status === 'failed') {
    tell(failureText(outcome.failure, findFile, showsColour(process.stderr)));
    return 1;
  }
  if (outcome.isError) printError(outcome.value.shown);
  return outcome.isError ? 1 : 0;
}
