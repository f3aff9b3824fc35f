import type { IrModule } from '@concerto/ir';
import type { ProgramFailure } from './machine/machine.ts';
import type { ProgramWorld } from './program-world.ts';
import { type RunOptions, runProgram } from './run-program.ts';
import { TestClock } from './test-clock.ts';

type Places = 'environment' | 'directory' | 'projectDirectory' | 'mockModels' | 'refuses' | 'startAgent';

export type TestOptions = Pick<ProgramWorld, Places> &
  Pick<RunOptions, 'machines' | 'sliceMs'> & {
    readonly limits?: NonNullable<RunOptions['limits']>;
    readonly signal?: AbortSignal;
    /** What tests emit and print is dropped unless somebody wants to see it. */
    readonly show?: (text: string) => void;
  };

export type TestResult = {
  readonly description: string;
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly passed: boolean;
  readonly expectedFailure: boolean;
  /** Why it failed. */
  readonly message: string | undefined;
  /** With the place and the calls that led there, when the program itself failed. */
  readonly failure: ProgramFailure | undefined;
  readonly durationMs: number;
};

/** Runs one test of a module in a VM of its own: stores, mocks and emits are fresh. */
export async function runTest(module: IrModule, index: number, options: TestOptions): Promise<TestResult> {
  const test = module.tests[index];
  if (test === undefined) throw new RangeError(`the program has no test ${index}`);
  const { signal, show, limits, machines, sliceMs, ...places } = options;
  const clock = new TestClock();
  const world: ProgramWorld = {
    ...places,
    clock,
    sleeps: (until) => clock.skipTo(until),
    emit: (channel, payload) => show?.(`[emit:${channel}] ${payload.shown}\n`),
    print: (text) => show?.(text),
    log: (level, text) => show?.(`[${level.toUpperCase()}] ${text}\n`),
    ask: async () => null,
  };
  const started = performance.now();
  const outcome = await runProgram(module, world, {
    entry: { test: index },
    capture: true,
    machines,
    sliceMs,
    ...(signal === undefined ? {} : { signal }),
    ...(limits === undefined ? {} : { limits }),
  });
  const durationMs = Math.round(performance.now() - started);
  const failure = outcome.status === 'failed' ? outcome.failure : undefined;
  // `?` on an error ends a test with it.
  const problem = failure?.message ?? (outcome.status === 'done' && outcome.isError ? outcome.value.shown : undefined);
  const expected = test.expectFail;
  const passed = expected === undefined ? problem === undefined : isExpected(problem, expected.message);
  return {
    description: test.description,
    file: test.file === undefined ? undefined : module.files[test.file],
    line: test.line,
    passed,
    expectedFailure: expected !== undefined,
    message: passed ? undefined : explain(problem, expected),
    failure: passed || expected !== undefined ? undefined : failure,
    durationMs,
  };
}

function isExpected(problem: string | undefined, text: string | undefined): boolean {
  return problem !== undefined && (text === undefined || problem.includes(text));
}

function explain(problem: string | undefined, expected: { message?: string | undefined } | undefined): string {
  if (expected === undefined) return problem ?? '';
  if (problem === undefined) return 'expected a failure, but it passed';
  return `expected a failure with "${expected.message ?? ''}", but got: ${problem}`;
}
