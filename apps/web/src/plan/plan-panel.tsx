import type { PlanEntry } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { Plain } from '../text/plain.tsx';

const marks: Readonly<Record<PlanEntry['status'], { readonly mark: string; readonly word: string }>> = {
  pending: { mark: '○', word: 'to do' },
  in_progress: { mark: '◐', word: 'under way' },
  completed: { mark: '●', word: 'done' },
};

/** What the agent means to do, and how far it is. */
export function PlanPanel({ plan }: { readonly plan: readonly PlanEntry[] }): ReactNode {
  if (plan.length === 0) return null;
  const done = plan.filter(({ status }) => status === 'completed').length;
  return (
    <section className="panel" aria-labelledby="plan-title">
      <h2 id="plan-title">
        Plan{' '}
        <span className="count">
          {done} of {plan.length}
        </span>
      </h2>
      <ol className="plan">
        {plan.map(({ content, status }, index) => (
          <li key={`${index}-${content}`} data-status={status}>
            <span className="plan-mark" aria-hidden="true">
              {marks[status].mark}
            </span>
            <span className="visually-hidden">{marks[status].word}: </span>
            <bdi>
              <Plain text={content} />
            </bdi>
          </li>
        ))}
      </ol>
    </section>
  );
}
