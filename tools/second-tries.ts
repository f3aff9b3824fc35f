import type { Reporter, TestCase } from 'vitest/node';

/** More of them than this is no accident of a busy machine. */
const allowed = 3;

/** Names every test that passed at its second try only, and fails the run when there are many. */
export class SecondTries implements Reporter {
  private readonly names: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky === true) this.names.push(`${test.module.relativeModuleId} > ${test.fullName}`);
  }

  onTestRunEnd(): void {
    if (this.names.length === 0) return;
    console.error(`\nconcerto: passed at a second try only:\n${this.names.map((name) => `  ${name}`).join('\n')}`);
    if (this.names.length <= allowed) return;
    console.error(`concerto: that is more than ${allowed}; find out why.`);
    process.exitCode = 1;
  }
}
