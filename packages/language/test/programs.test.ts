import { checkModule, type IrModule } from '@concerto/ir';
import { buildProgram, createSourceFile, type Diagnostic, positionAt } from '@concerto/language';
import { display } from '@concerto/vm';
import { describe, expect, test } from 'vitest';
import { type ProgramFile, readProgramFiles } from './program-file.ts';
import { runVirtually, type VirtualRun } from './virtual-world.ts';

const programs = readProgramFiles();
const readFile = (path: string): string | undefined => programs.find((program) => program.path === path)?.text;

describe.each(programs)('$name', (program) => {
  if (program.errors.length + program.warnings.length > 0) test('is diagnosed', () => expectDiagnostics(program));
  else if (program.isTest) test('has these test results', () => expectTests(program));
  else {
    test('does what it says', () => expectRun(program, false));
    test('does the same when it moves to another machine at every effect', () => expectRun(program, true));
  }
});

function compile(program: ProgramFile): IrModule {
  const { module, diagnostics } = buildProgram({ entry: program.path, readFile });
  expect(shown(program, diagnostics, 'error')).toEqual([]);
  // Through text, as `concerto build` writes it and `concerto run` reads it.
  const checked = checkModule(JSON.parse(JSON.stringify(module)));
  if (!checked.ok) throw new Error(checked.error);
  return checked.value;
}

function expectRun(program: ProgramFile, throughSnapshots: boolean): void {
  const { answers, events } = program;
  const result = runVirtually(compile(program), { entry: 'main', answers, events, throughSnapshots });
  const problem = problemOf(result);
  // The problem stands where the missing lines would be, so that a failure of this test shows it.
  const got = problem !== undefined && program.exit === 0 ? [...result.lines, problem] : result.lines;
  expect(got).toEqual(expectedLines(program, result));
  expect({ failed: problem !== undefined, problem }).toMatchObject({ failed: program.exit !== 0 });
  for (const text of program.failure) expect(problem).toContain(text);
}

/** With `<ANY>` filled in from what came. */
function expectedLines(program: ProgramFile, result: VirtualRun): string[] {
  return program.expect.map((line, index) => {
    const got = result.lines[index] ?? '';
    const pattern = line
      .split('<ANY>')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join('.*');
    return new RegExp(`^${pattern}$`).test(got) ? got : line;
  });
}

function problemOf({ outcome }: VirtualRun): string | undefined {
  if (outcome.status === 'failed') return `runtime error: ${outcome.failure.message}`;
  const { value } = outcome;
  return typeof value === 'object' && value !== null && value.kind === 'err' ? display(value.value) : undefined;
}

function expectTests(program: ProgramFile): void {
  const module = compile(program);
  const results = module.tests.map((one, index) => {
    const { answers, events } = program;
    const run = runVirtually(module, { entry: { test: index }, answers, events, throughSnapshots: false });
    const problem = problemOf(run);
    const expected = one.expectFail;
    const passed = expected === undefined ? problem === undefined : problem?.includes(expected.message ?? '') === true;
    return `${passed ? 'pass' : 'fail'} ${one.description}`;
  });
  expect(results).toEqual(program.tests);
}

function expectDiagnostics(program: ProgramFile): void {
  const { diagnostics } = buildProgram({ entry: program.path, readFile });
  for (const severity of ['error', 'warning'] as const) {
    const found = shown(program, diagnostics, severity);
    for (const place of severity === 'error' ? program.errors : program.warnings) {
      const [, line = '', text = ''] = /^(\d+) ?(.*)$/.exec(place) ?? [];
      expect(found.some((one) => one.startsWith(`${line}: `) && one.includes(text)) ? place : found).toBe(place);
    }
  }
  const lines = new Set(program.errors.map((place) => place.split(' ')[0]));
  expect(shown(program, diagnostics, 'error').filter((one) => !lines.has(one.split(':')[0]))).toEqual([]);
}

function shown(program: ProgramFile, diagnostics: readonly Diagnostic[], severity: string): string[] {
  const file = createSourceFile(program.path, program.text);
  return diagnostics
    .filter((one) => one.severity === severity)
    .map((one) => `${positionAt(file, one.span.start).line}: ${one.message} ${one.help ?? ''}`.trim());
}
