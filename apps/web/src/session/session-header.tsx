import type { Session, SessionStatus } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { Link } from '../routing/link.tsx';
import { listAddress } from '../routing/list-address.ts';
import { sessionPath } from '../routing/route.ts';
import { Icon } from '../shell/icon.tsx';
import { Loading } from '../shell/loading.tsx';
import { StatusBadge } from '../status/status-badge.tsx';
import { Lasting } from '../time/moment.tsx';
import { Branch } from './branch.tsx';
import { LifecycleButtons } from './lifecycle-buttons.tsx';
import { forcedAfterSeconds } from './lifecycle-table.ts';
import { SessionTitle } from './session-title.tsx';

type Props = {
  readonly id: string;
  readonly session: Session | undefined;
  readonly status: SessionStatus;
  readonly statusSince: string | undefined;
  /** The last turn ended with an error. */
  readonly hasFailed: boolean;
  /** A person is asked. */
  readonly isAsking: boolean;
  /** What is shown may have changed since. */
  readonly isStale: boolean;
  readonly connection: ReactNode;
  readonly onChanged: () => void;
};

/** Where the queue and the facts are: on a narrow screen below all that was said. */
export const sideId = 'session-side';

export function SessionHeader(props: Props): ReactNode {
  const { id, session, status, statusSince, hasFailed, isAsking, isStale, connection, onChanged } = props;
  return (
    <header className="session-header">
      <Link href={listAddress()} className="icon-button" aria-label="All sessions" title="All sessions (g)">
        <Icon name="back" />
      </Link>
      <div className="session-heading">
        <SessionTitle id={id} session={session} onChanged={onChanged} />
        <p className="session-facts">
          {session === undefined ? (
            <Loading />
          ) : (
            <StatusBadge status={status} since={statusSince} hasFailed={hasFailed} isAsking={isAsking} />
          )}
          {isStale && <span className="muted">when last heard of</span>}
          {forcedAfterSeconds[status] !== undefined && (
            <span className="muted">forced after {forcedAfterSeconds[status]} s</span>
          )}
          {session !== undefined && <span className="agent-name">{session.agent}</span>}
          <Branch settings={session?.settings} />
          {session?.archived === true && <span className="muted">archived</span>}
          {session?.parent !== undefined && <Link href={sessionPath(session.parent)}>the session that opened it</Link>}
          {connection}
          <button type="button" className="link-button to-side" onClick={showSide}>
            {pendingText(session?.pending ?? 0)}
          </button>
        </p>
      </div>
      {session !== undefined && <LifecycleButtons id={id} status={status} />}
    </header>
  );
}

/** Why the session does not move, in the server's words; a question speaks for itself. */
export function WaitingLine({ session }: { readonly session: Session | undefined }): ReactNode {
  const waiting = session?.waiting;
  if (waiting === undefined || waiting.for === 'input' || waiting.for === 'approval') return null;
  return (
    <output className="waiting-line">
      <Icon name={waiting.for === 'pause' ? 'pause' : 'lock'} />
      <span>{capitalised(waiting.detail)}</span>
      <span className="muted">
        · <Lasting since={waiting.since} />
      </span>
    </output>
  );
}

function showSide(): void {
  const side = document.getElementById(sideId);
  side?.scrollIntoView({ block: 'start' });
  side?.focus({ preventScroll: true });
}

function pendingText(pending: number): string {
  return pending === 0 ? 'Details' : `Details, ${pending} queued`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
