import type { PlanEntry } from '@concerto/protocol';
import { type ReactNode, useId, useState } from 'react';
import { Plain } from '../text/plain.tsx';
import { foldedPlan } from './folded-plan.ts';

const marks: Readonly<Record<PlanEntry['status'], { readonly mark: string; readonly word: string }>> = {
  pending: { mark: '○', word: 'to do' },
  in_progress: { mark: '◐', word: 'under way' },
  completed: { mark: '●', word: 'done' },
};

/** What the agent means to do, and how far it is: of a long one, what is around the step that is under way. */
export function PlanPanel({ plan }: { readonly plan: readonly PlanEntry[] }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const listId = useId();
  if (plan.length === 0) return null;
  const done = plan.filter(({ status }) => status === 'completed').length;
  const { from, to } = foldedPlan(plan);
  const isLong = to - from < plan.length;
  const [first, end] = isWhole ? [0, plan.length] : [from, to];
  return (
    <section className="panel" aria-labelledby="plan-title">
      <h2 id="plan-title">
        Plan{' '}
        <span className="count">
          {done} of {plan.length}
        </span>
      </h2>
      {first > 0 && <p className="plan-rest">{beforeText(plan.slice(0, first))}</p>}
      <ol className="plan" id={listId} start={first + 1}>
        {plan.slice(first, end).map(({ content, status }, index) => (
          <li key={`${first + index}-${content}`} data-status={status}>
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
      {end < plan.length && <p className="plan-rest">{plan.length - end} more after these</p>}
      {isLong && (
        <button
          type="button"
          className="link-button plan-more"
          aria-expanded={isWhole}
          aria-controls={listId}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? 'Show less' : `Show all ${plan.length} steps`}
        </button>
      )}
    </section>
  );
}

/** Most agents go from top to bottom; what one has left undone on the way is told. */
function beforeText(entries: readonly PlanEntry[]): string {
  const done = entries.filter(({ status }) => status === 'completed').length;
  const open = entries.length - done;
  if (open === 0) return `${done} done before these`;
  return done === 0 ? `${open} more before these` : `${done} done and ${open} more before these`;
}
