import type { TestResult } from '@concerto/runtime/program';
import { printJsonLine, write } from '../terminal/print.ts';
import type { CompiledTarget } from './compile-target.ts';
import { failureText } from './report-failure.ts';

interface FailedTest {
  readonly result: TestResult;
  readonly target: CompiledTarget;
}

/** Collects results and prints them: a line for each test, then the sum, then what failed and why. */
export class TestReport {
  readonly #json: boolean;
  readonly #seen = new Set<string>();
  readonly #failures: FailedTest[] = [];
  readonly #broken: string[] = [];
  #passed = 0;

  constructor(options: { readonly json: boolean }) {
    this.#json = options.json;
  }

  get broken(): number {
    return this.#broken.length;
  }

  /** A program that does not compile: its tests could not run. */
  addBroken(file: string): void {
    this.#broken.push(file);
  }

  get failed(): number {
    return this.#failures.length;
  }

  /** False when the test at this place was already run. */
  isNew(key: string): boolean {
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }

  begin(file: string, count: number): void {
    if (this.#json || count === 0) return;
    write(`running ${count} test${count === 1 ? '' : 's'} in ${file}\n\n`);
  }

  add(result: TestResult, target: CompiledTarget): void {
    if (result.passed) this.#passed++;
    else this.#failures.push({ result, target });
    if (this.#json) {
      const { description, file, line, passed, message, durationMs } = result;
      const status = passed ? 'pass' : 'fail';
      const entry = { type: 'test', name: description, file, line, status, message, durationMs };
      printJsonLine(entry);
      return;
    }
    const suffix = result.passed && result.expectedFailure ? ' (expected failure)' : '';
    write(`  ${result.passed ? 'PASS' : 'FAIL'} ${result.description}${suffix}\n`);
  }

  end(filter: string | undefined): void {
    const total = this.#passed + this.failed;
    if (this.#json) {
      const broken = this.broken === 0 ? {} : { broken: this.#broken };
      const summary = { type: 'summary', passed: this.#passed, failed: this.failed, ...broken };
      printJsonLine(summary);
      return;
    }
    if (total === 0 && this.broken === 0) {
      const which = filter === undefined ? 'no tests found' : `no test matches "${filter}"`;
      write(`note: ${which}\n`);
      return;
    }
    const programs = `${this.broken} program${this.broken === 1 ? '' : 's'}`;
    const broken = this.broken === 0 ? '' : `, ${programs} not tested because of errors: ${this.#broken.join(', ')}`;
    write(`\n${this.#passed} passed, ${this.failed} failed${broken}\n`);
    if (this.failed === 0) return;
    write('\nfailures:\n');
    for (const failure of this.#failures) write(failureLines(failure));
  }
}

function failureLines({ result, target }: FailedTest): string {
  const place = result.file === undefined ? '' : ` (${result.file}:${result.line ?? 0})`;
  const text =
    result.failure === undefined ? `${result.message ?? ''}\n` : failureText(result.failure, target.findFile, false);
  const indented = text
    .trimEnd()
    .split('\n')
    .map((line) => `      ${line}`.trimEnd())
    .join('\n');
  return `\n  ${result.description}${place}\n${indented}\n`;
}
