import type { Session } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { isJsonObject } from '../json/json-object.ts';
import { Link } from '../routing/link.tsx';
import { sessionPath } from '../routing/route.ts';
import { StatusBadge } from '../status/status-badge.tsx';
import { needsYou } from '../status/status-words.ts';
import { Age, Lasting } from '../time/moment.tsx';

export function SessionRow({ session }: { readonly session: Session }): ReactNode {
  const { id, title, agent, status, createdAt, updatedAt, pending, error } = session;
  return (
    <li className="session-row" data-waits={needsYou.includes(status)}>
      <Link href={sessionPath(id)} className="session-link">
        <span className="session-title">{title}</span>
        <StatusBadge status={status} since={updatedAt} hasFailed={error !== undefined} />
      </Link>
      <p className="session-note">
        <span className="agent-name">{agent}</span>
        <Note session={session} />
        {pending > 0 && <span className="muted">{pending === 1 ? '1 queued' : `${pending} queued`}</span>}
        <Age at={createdAt} />
      </p>
    </li>
  );
}

/** The one thing to know about it: what it waits for, why it failed, what came out. */
function Note({ session }: { readonly session: Session }): ReactNode {
  const { waiting, error, status, result } = session;
  if (waiting !== undefined) {
    const isYou = waiting.for === 'input' || waiting.for === 'approval';
    return (
      <span className="row-note" data-tone={isYou ? 'attention' : 'quiet'}>
        {isYou && <strong>Waiting for your {waiting.for === 'approval' ? 'approval' : 'answer'}: </strong>}
        {waiting.detail}{' '}
        <span className="muted">
          · <Lasting since={waiting.since} />
        </span>
      </span>
    );
  }
  if (error !== undefined && (status === 'failed' || status === 'interrupted' || status === 'idle')) {
    return (
      <span className="row-note" data-tone="bad">
        {firstLine(error.message)}
      </span>
    );
  }
  const text = resultText(result);
  return <span className="row-note">{text === undefined ? '' : firstLine(text)}</span>;
}

function resultText(result: Session['result']): string | undefined {
  return isJsonObject(result) && typeof result.text === 'string' ? result.text : undefined;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
