import { checkModule, type IrModule } from '@concerto/ir';
import { buildProgram, createSourceFile, type Diagnostic, positionAt } from '@concerto/language';
import { display } from '@concerto/vm';
import { describe, expect, test } from 'vitest';
import { type ProgramFile, readProgramFiles } from './program-file.ts';
import { runVirtually, type VirtualRun } from './virtual-world.ts';

const programs = readProgramFiles();
const readFile = (path: string): string | undefined => programs.find((program) => program.path === path)?.text;

const diagnosed = programs.filter((program) => program.errors.length + program.warnings.length > 0);
const tested = programs.filter((program) => program.isTest);
const running = programs.filter((program) => !diagnosed.includes(program) && !tested.includes(program));

describe('programs', () => {
  test.each(diagnosed)('$name is diagnosed', (program) => {
    expect(diagnosticsOf(program)).toEqual(expectedDiagnostics(program));
  });

  test.each(tested)('$name has these test results', (program) => {
    expect(testResults(program, false)).toEqual(program.tests);
  });

  test.each(tested)(
    '$name has them too when its tests move to another VM whenever they give control back',
    (program) => {
      expect(testResults(program, true)).toEqual(program.tests);
    },
  );

  test.each(running)('$name', (program) => {
    const result = runOnce(program, false);
    expect(result.shown).toEqual(expectedLines(program, result.shown));
    expect({ failed: result.problem !== undefined }).toEqual({ failed: program.exit !== 0 });
    for (const text of program.failure) expect(result.problem).toContain(text);
  });

  test.each(running)('$name is the same when it moves to another VM whenever it gives control back', (program) => {
    expect(runOnce(program, true)).toEqual(runOnce(program, false));
  });
});

function compile(program: ProgramFile): IrModule {
  const { module, diagnostics } = buildProgram({ entry: program.path, readFile });
  expect(shown(program, diagnostics, 'error')).toEqual([]);
  // Through text, as `concerto build` writes it and `concerto run` reads it.
  const checked = checkModule(JSON.parse(JSON.stringify(module)));
  if (!checked.ok) throw new Error(checked.error);
  return checked.value;
}

function runOnce(
  program: ProgramFile,
  throughSnapshots: boolean,
): { shown: readonly string[]; problem: string | undefined } {
  const { answers, events } = program;
  const result = runVirtually(compile(program), { entry: 'main', answers, events, throughSnapshots });
  const problem = problemOf(result);
  // An unexpected problem stands where the missing lines would be, so that the failure of a test shows it.
  const shown = problem !== undefined && program.exit === 0 ? [...result.lines, problem] : result.lines;
  return { shown, problem };
}

/** With `<ANY>` filled in from what came. */
function expectedLines(program: ProgramFile, got: readonly string[]): string[] {
  return program.expect.map((line, index) => {
    const pattern = line
      .split('<ANY>')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join('.*');
    return new RegExp(`^${pattern}$`).test(got[index] ?? '') ? (got[index] ?? '') : line;
  });
}

function problemOf({ outcome }: VirtualRun): string | undefined {
  if (outcome.status === 'failed') return `runtime error: ${outcome.failure.message}`;
  const { value } = outcome;
  return typeof value === 'object' && value !== null && value.kind === 'err' ? display(value.value) : undefined;
}

function testResults(program: ProgramFile, throughSnapshots: boolean): string[] {
  const module = compile(program);
  return module.tests.map((one, index) => {
    const { answers, events } = program;
    const run = runVirtually(module, { entry: { test: index }, answers, events, throughSnapshots });
    const problem = problemOf(run);
    const expected = one.expectFail;
    const passed = expected === undefined ? problem === undefined : problem?.includes(expected.message ?? '') === true;
    return `${passed ? 'pass' : 'fail'} ${one.description}`;
  });
}

type Severity = 'error' | 'warning';

/** Errors all of them, warnings only where one is expected. */
function diagnosticsOf(program: ProgramFile): string[] {
  const { diagnostics } = buildProgram({ entry: program.path, readFile });
  const errors = shown(program, diagnostics, 'error').map((found) => matching(program.errors, found));
  const warnings = shown(program, diagnostics, 'warning').map((found) => matching(program.warnings, found));
  return [...new Set([...errors, ...warnings.filter((found) => program.warnings.includes(found))])].toSorted();
}

function expectedDiagnostics(program: ProgramFile): string[] {
  return [...new Set([...program.errors, ...program.warnings])].toSorted();
}

/** The expectation that speaks of this diagnostic; the diagnostic itself when none does. */
function matching(expected: readonly string[], found: string): string {
  return (
    expected.find((place) => {
      const [, line = '', text = ''] = /^(\d+) ?(.*)$/.exec(place) ?? [];
      return found.startsWith(`${line}: `) && found.includes(text);
    }) ?? found
  );
}

function shown(program: ProgramFile, diagnostics: readonly Diagnostic[], severity: Severity): string[] {
  const file = createSourceFile(program.path, program.text);
  return diagnostics
    .filter((one) => one.severity === severity)
    .map((one) => `${positionAt(file, one.span.start).line}: ${one.message} ${one.help ?? ''}`.trim());
}
