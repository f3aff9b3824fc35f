import type { ReactNode } from 'react';
import type { Target } from '../start/targets.ts';
import { labelOf, type Wish } from './overview.ts';

type Props = {
  readonly wish: Wish;
  /** There is no session at all. */
  readonly isNew: boolean;
  readonly targets: readonly Target[];
};

export function EmptyList({ wish, isNew, targets }: Props): ReactNode {
  if (isNew && wish.isArchive) return <p className="empty">Nothing is in the archive.</p>;
  if (!isNew) {
    const where = wish.filter === 'all' ? '' : ` in “${labelOf(wish.filter)}”`;
    return <p className="empty">{wish.sought === '' ? `No sessions${where} now.` : `Nothing found${where}.`}</p>;
  }
  const demo = targets.find(({ name }) => name === 'demo');
  const first = demo ?? targets[0];
  return (
    <div className="empty">
      <h2>No sessions yet</h2>
      <p>
        A session is an agent at work, with everything that it and you say. Choose an agent, write what it should do,
        and press <kbd>Enter</kbd>.
        {demo !== undefined && (
          <>
            {' '}
            The <strong>demo</strong> agent asks a question and wants an approval; it needs no key.
          </>
        )}
      </p>
      {first !== undefined && (
        <p className="muted">
          From a terminal: <code>concerto sessions start {first.name} "What it should do"</code>
        </p>
      )}
    </div>
  );
}
