import type { SessionStatus } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { Lasting } from '../time/moment.tsx';
import { statusWords } from './status-words.ts';

type Props = {
  readonly status: SessionStatus;
  /** Shown for a status that must not last. */
  readonly since?: string | undefined;
};

export function StatusBadge({ status, since }: Props): ReactNode {
  const { label, tone } = statusWords[status];
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
