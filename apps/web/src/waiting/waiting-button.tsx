import type { Session } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { useWaiting, useWaitingCount } from '../live/use-overview.ts';
import { Link } from '../routing/link.tsx';
import { sessionPath } from '../routing/route.ts';
import { Icon } from '../shell/icon.tsx';

/** How many wait for a person, and the way to the next of them. */
export function WaitingButton({ current }: { readonly current: string | undefined }): ReactNode {
  const waiting = useWaiting();
  const count = useWaitingCount();
  const next = nextWaiting(waiting, current);
  if (next === undefined) return null;
  return (
    <Link
      href={sessionPath(next.id)}
      className="waiting-button"
      title={`Next (w): ${next.waiting?.detail ?? next.title}`}
    >
      <Icon name="question" />
      {count} waiting
    </Link>
  );
}

/** The one after the current; the first where the current waits not. */
export function nextWaiting(waiting: readonly Session[], current: string | undefined): Session | undefined {
  const at = waiting.findIndex(({ id }) => id === current);
  return waiting[(at + 1) % Math.max(1, waiting.length)];
}
