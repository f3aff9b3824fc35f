import type { ProgramTest, ProgramTests } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { client } from '../client.ts';
import { useAttempt } from '../fetching/use-attempt.ts';
import { Icon } from '../shell/icon.tsx';
import { OutcomeMark } from '../text/outcome-mark.tsx';
import { Plain } from '../text/plain.tsx';
import { tookText } from '../time/duration.ts';

export type Place = { readonly file: string; readonly line: number };

type Props = {
  readonly name: string;
  readonly isChanged: boolean;
  readonly onOpen: (place: Place) => void;
};

/** Runs the program's tests, and says how each went. */
export function TestPanel({ name, isChanged, onOpen }: Props): ReactNode {
  const { isBusy, value, problem, attempt } = useAttempt<ProgramTests>();
  return (
    <section className="test-panel" aria-label="Tests">
      <header className="panel-head">
        <h2>Tests</h2>
        <button
          type="button"
          className="button small"
          disabled={isBusy}
          onClick={() => void attempt(() => client.testProgram(name))}
        >
          <Icon name="check" />
          {isBusy ? 'Testing …' : 'Run the tests'}
        </button>
      </header>
      {isChanged && <p className="muted">What is not saved is not tested.</p>}
      {problem !== undefined && (
        <p className="inline-problem" role="alert">
          {problem}
        </p>
      )}
      <output className="muted">{value !== undefined && sumOf(value.tests)}</output>
      {value !== undefined && (
        <ul className="test-list">
          {value.tests.map((test, index) => (
            // Two tests may be called the same, and their order is that of the source.
            <TestLine key={`${index} ${test.description}`} test={test} onOpen={onOpen} />
          ))}
        </ul>
      )}
    </section>
  );
}

const marks = { passed: '✓', failed: '✗', left: '–' } as const;
const words = { passed: 'passed', failed: 'failed', left: 'was not run: the time for all was over' } as const;

function TestLine({ test, onOpen }: { readonly test: ProgramTest; readonly onOpen: Props['onOpen'] }): ReactNode {
  const { description, outcome, durationMs, message, file, line, at, output } = test;
  const place = at ?? (file === undefined || line === undefined ? undefined : { file, line });
  return (
    <li data-outcome={outcome}>
      <p>
        <OutcomeMark sign={marks[outcome]} words={words[outcome]} />
        <Plain text={description} /> <span className="time">{outcome !== 'left' && tookText(durationMs)}</span>{' '}
        {place !== undefined && (
          <button type="button" className="link-button" onClick={() => onOpen(place)}>
            {place.file}:{place.line}
          </button>
        )}
      </p>
      {message !== undefined && <pre className="test-message">{message}</pre>}
      {output !== undefined && (
        <details>
          <summary className="muted">What it printed</summary>
          <pre className="test-message">{output}</pre>
        </details>
      )}
    </li>
  );
}

function sumOf(tests: readonly ProgramTest[]): string {
  if (tests.length === 0) return 'It has none: a function with @test is one.';
  const count = (outcome: ProgramTest['outcome']): number => tests.filter((test) => test.outcome === outcome).length;
  const parts = (['failed', 'passed', 'left'] as const).flatMap((outcome) => {
    const some = count(outcome);
    return some === 0 ? [] : [`${some} ${outcome === 'left' ? 'not run' : outcome}`];
  });
  const took = tests.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return `${parts.join(', ')}, in ${tookText(took)}`;
}
