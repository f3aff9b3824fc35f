import type { SessionStatus } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { Lasting } from '../time/moment.tsx';
import { wordsOf } from './status-words.ts';

type Props = {
  readonly status: SessionStatus;
  /** Shown for a status that must not last. */
  readonly since?: string | undefined;
  /** The last turn ended with an error. */
  readonly hasFailed?: boolean;
  /** A person is asked something, whatever the status is. */
  readonly isAsking?: boolean;
};

export function StatusBadge({ status, since, hasFailed = false, isAsking = false }: Props): ReactNode {
  const { label, tone } = wordsOf(status, hasFailed, isAsking);
  return (
    <span className="badge" data-tone={tone} data-status={status}>
      <span className="badge-dot" aria-hidden="true" />
      {label}
      {tone === 'between' && since !== undefined && (
        <span className="badge-since">
          <Lasting since={since} />
        </span>
      )}
    </span>
  );
}
