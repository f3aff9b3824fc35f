import { activeAtOf, type Session } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { whoText } from '../requests/who-text.ts';
import { Link } from '../routing/link.tsx';
import { sessionPath } from '../routing/route.ts';
import { Branch } from '../session/branch.tsx';
import { StatusBadge } from '../status/status-badge.tsx';
import { asksYou } from '../status/status-words.ts';
import { Plain } from '../text/plain.tsx';
import { Age, Lasting } from '../time/moment.tsx';
import { dollarsText } from '../usage/usage-text.ts';
import { resultText } from './overview.ts';
import { seenPosition } from './seen-store.ts';

type Props = {
  readonly session: Session;
  /** How many sessions above it stand in the list. */
  readonly depth: number;
  /** Undefined while nothing is being selected. */
  readonly isSelected: boolean | undefined;
  readonly onSelect: (id: string) => void;
};

export function SessionRow({ session, depth, isSelected, onSelect }: Props): ReactNode {
  const { id, title, agent, status, pending, error, usage, position, parent } = session;
  const activeAt = activeAtOf(session);
  const isUnread = status !== 'running' && position > seenPosition(id);
  return (
    <li
      className="session-row"
      data-waits={asksYou(session)}
      data-unread={isUnread}
      data-depth={Math.min(depth, 3)}
      data-id={id}
    >
      {isSelected !== undefined && parent === undefined && (
        <input
          type="checkbox"
          className="row-check"
          aria-label={`Select ${title}`}
          checked={isSelected}
          onChange={() => onSelect(id)}
        />
      )}
      <Link href={sessionPath(id)} className="session-link">
        <span className="session-title">
          <Plain text={title} />
        </span>
        {isUnread && <span className="visually-hidden">, not seen yet</span>}
        <StatusBadge status={status} since={activeAt} hasFailed={error !== undefined} isAsking={asksYou(session)} />
      </Link>
      <p className="session-note">
        <span className="agent-name">{agent}</span>
        <Branch settings={session.settings} />
        {parent !== undefined && depth === 0 && <span className="muted">in a program</span>}
        <Note session={session} />
        {pending > 0 && <span className="muted">{pending === 1 ? '1 queued' : `${pending} queued`}</span>}
        {usage.costMicroUsd !== undefined && <span className="time">{dollarsText(usage.costMicroUsd)}</span>}
        {/* How long it waits stands beside what it waits for. */}
        {session.waiting === undefined && <Age at={activeAt} />}
      </p>
    </li>
  );
}

/** The one thing to know about it: what it waits for, why it failed, what came out. */
function Note({ session }: { readonly session: Session }): ReactNode {
  const { waiting, error, status, result } = session;
  if (waiting !== undefined) {
    const isAsked = waiting.for === 'input' || waiting.for === 'approval';
    const isYou = isAsked && asksYou(session);
    return (
      <span className="row-note" data-tone={isYou ? 'attention' : 'quiet'}>
        {isYou && <strong>Waiting for your {waiting.for === 'approval' ? 'approval' : 'answer'}: </strong>}
        {isAsked && !isYou && <strong>{whoText(waiting.asked)} is asked: </strong>}
        <bdi>
          <Plain text={waiting.detail} />
        </bdi>{' '}
        <span className="muted">
          · <Lasting since={waiting.since} />
        </span>
      </span>
    );
  }
  if (error !== undefined && (status === 'failed' || status === 'interrupted' || status === 'idle')) {
    return (
      <span className="row-note" data-tone="bad">
        <Plain text={firstLine(error.message)} />
      </span>
    );
  }
  return (
    <span className="row-note">
      <Plain text={firstLine(resultText(result) ?? '').replaceAll(/\*\*|`|^#+\s/g, '')} />
    </span>
  );
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
