import { activeAtOf, type Session } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { client } from '../client.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { newerOf } from '../live/session-rows.ts';
import { useRow } from '../live/use-overview.ts';
import { Link } from '../routing/link.tsx';
import { sessionPath } from '../routing/route.ts';
import { StatusBadge } from '../status/status-badge.tsx';
import { asksYou } from '../status/status-words.ts';
import { Plain } from '../text/plain.tsx';

type Props = { readonly id: string; readonly count: number };

const shownMax = 50;

/** The sessions that this one opened: whom a program has called, and how they stand. */
export function ChildrenPanel({ id, count }: Props): ReactNode {
  const { value } = useFetched(
    async (signal) => (count === 0 ? [] : (await client.list({ parent: id, limit: shownMax }, { signal })).sessions),
    { key: id, revision: count },
  );
  if (count === 0 || value === undefined) return null;
  return (
    <section className="panel" aria-labelledby="children-title">
      <h2 id="children-title">
        Sessions it opened <span className="count">{count}</span>
      </h2>
      <ul className="children">
        {value.map((child) => (
          <ChildLine key={child.id} listed={child} />
        ))}
      </ul>
    </section>
  );
}

function ChildLine({ listed }: { readonly listed: Session }): ReactNode {
  const row = useRow(listed.id);
  const child = row === undefined ? listed : newerOf(listed, row);
  const { id, title, status, error } = child;
  return (
    <li>
      <Link href={sessionPath(id)}>
        <Plain text={title} />
      </Link>
      <StatusBadge
        status={status}
        since={activeAtOf(child)}
        hasFailed={error !== undefined}
        isAsking={asksYou(child)}
      />
    </li>
  );
}
