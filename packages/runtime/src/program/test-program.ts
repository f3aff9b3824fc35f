import { relative, sep } from 'node:path';
import type { ProgramTest, ProgramTests } from '@concerto/protocol';
import type { LoadedProgram } from '../catalog.ts';
import type { Environment } from '../ports.ts';
import type { Machines, ProgramRequest } from './machine/machine.ts';
import { defaultLimits } from './program-limits.ts';
import { runTest, type TestResult } from './run-test.ts';

/** A test that does nothing for so long is ended; when the time for all is over, the others are not begun. */
const testWithinMs = 10_000;
const allWithinMs = 60_000;
const outputMax = 4_000;

export type TestedProgram = {
  readonly environment: Environment;
  readonly signal?: AbortSignal | undefined;
  readonly machines?: Machines | undefined;
};

/**
 * Runs the tests of a program in a server, one after the other, within the limits of its sessions. A test that forgot to mock an
 * agent, a model or somebody on the net fails for it: nothing is started and nothing is paid for by looking at a program.
 */
export async function testProgram(
  { module, projectDirectory, mockModels = false, limits }: LoadedProgram,
  { environment, signal, machines }: TestedProgram,
): Promise<ProgramTests> {
  const { steps, memory, depth, size, at_once: fibers, slice: sliceMs } = { ...defaultLimits, ...limits };
  const places = { environment, directory: projectDirectory, projectDirectory, mockModels };
  const until = performance.now() + allWithinMs;
  const tests: ProgramTest[] = [];
  for (const [index, { description, file, line }] of module.tests.entries()) {
    const left = Math.min(testWithinMs, until - performance.now());
    if (left <= 0 || signal?.aborted === true) {
      const place = placeOf(file === undefined ? undefined : module.files[file], line, projectDirectory);
      tests.push({ description, ...place, outcome: 'left', durationMs: 0 });
      continue;
    }
    const late = AbortSignal.timeout(left);
    let output = '';
    const result = await runTest(module, index, {
      ...places,
      refuses: (request) => whyNot(request, mockModels),
      limits: { steps, memory, depth, size, fibers },
      sliceMs,
      machines,
      signal: signal === undefined ? late : AbortSignal.any([late, signal]),
      show: (text) => {
        output = (output + text).slice(0, outputMax);
      },
    });
    tests.push(shownTest(result, { output, projectDirectory, isLate: late.aborted }));
  }
  return { tests };
}

type Shown = { readonly output: string; readonly projectDirectory: string; readonly isLate: boolean };

function shownTest(result: TestResult, { output, projectDirectory, isLate }: Shown): ProgramTest {
  const { description, file, line, passed, durationMs, message, failure } = result;
  const place = placeOf(file, line, projectDirectory);
  if (passed) return { description, ...place, outcome: 'passed', durationMs };
  const stood = failure?.trace.find((entry) => entry.file !== undefined);
  return {
    description,
    ...place,
    outcome: 'failed',
    durationMs,
    message: isLate ? `it was not over after ${testWithinMs / 1000} s` : (message ?? ''),
    ...(stood?.file === undefined ? {} : { at: { file: fromProject(stood.file, projectDirectory), line: stood.line } }),
    ...(output === '' ? {} : { output }),
  };
}

function placeOf(file: string | undefined, line: number | undefined, projectDirectory: string) {
  return {
    ...(file === undefined ? {} : { file: fromProject(file, projectDirectory) }),
    ...(line === undefined ? {} : { line }),
  };
}

/** As the sources of a program are named. */
function fromProject(file: string, projectDirectory: string): string {
  const inside = relative(projectDirectory, file).replaceAll(sep, '/');
  return inside.startsWith('../') ? file : inside;
}

function whyNot(request: ProgramRequest, mockModels: boolean): string | undefined {
  switch (request.kind) {
    case 'agent_open':
    case 'agent_about':
      return 'the test mocks no such agent, and none is started for a test on the server';
    case 'model':
    case 'model_next':
      return mockModels ? undefined : 'the test mocks no such model, and none is asked for a test on the server';
    case 'mcp_call':
    case 'mcp_tools':
      return `the test does not mock the server ${request.server}, and it is not called for a test on the server`;
    case 'http':
      return `${request.url} is not called for a test on the server`;
    default:
      return undefined;
  }
}
