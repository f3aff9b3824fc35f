import type { DoctorFinding } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { Plain } from '../text/plain.tsx';
import '../style/insight.css';

const marks = { ok: '✓', warn: '!', fail: '✗' } as const;
const worstFirst = ['fail', 'warn', 'ok'] as const;

/** Starts each agent, asks it nothing, and shows what is wrong and what to do about it. */
export function Doctor(): ReactNode {
  const [isLooking, setLooking] = useState(false);
  const [findings, setFindings] = useState<readonly DoctorFinding[]>();
  const [problem, setProblem] = useState<string>();
  const look = async (): Promise<void> => {
    setLooking(true);
    setProblem(undefined);
    try {
      setFindings((await client.doctor()).findings);
    } catch (cause) {
      setProblem(failureOf(cause).text);
    }
    setLooking(false);
  };
  return (
    <section className="doctor" aria-labelledby="doctor-title" aria-busy={isLooking}>
      <h3 id="doctor-title">Doctor</h3>
      <p className="muted">
        Starts each agent, asks it nothing, and looks at programs, connections and servers. <code>concerto doctor</code>{' '}
        in a terminal also lets them answer.
      </p>
      <button type="button" className="button" disabled={isLooking} onClick={() => void look()}>
        {isLooking ? 'Checking …' : 'Check everything'}
      </button>
      {problem !== undefined && (
        <p className="inline-problem" role="alert">
          {problem}
        </p>
      )}
      {findings !== undefined && <Findings findings={findings} />}
    </section>
  );
}

function Findings({ findings }: { readonly findings: readonly DoctorFinding[] }): ReactNode {
  const sorted = worstFirst.flatMap((wanted) => findings.filter(({ status }) => status === wanted));
  const wrong = findings.filter(({ status }) => status !== 'ok').length;
  return (
    <>
      <output>
        {wrong === 0
          ? `All is well: ${findings.length} checks.`
          : `${wrong} of ${findings.length} checks found something.`}
      </output>
      <ul className="findings">
        {sorted.map(({ check, status, message, help }) => (
          <li key={`${check} ${message}`} data-status={status}>
            <span aria-hidden="true">{marks[status]}</span> <span className="visually-hidden">{status}: </span>
            <strong>{check}</strong> <Plain text={message} />
            {help !== undefined && (
              <p className="muted">
                <Plain text={help} />
              </p>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
