import type { SessionView } from '@concerto/protocol';
import { type ReactNode, useMemo } from 'react';
import { Link } from '../routing/link.tsx';
import { sessionPath } from '../routing/route.ts';
import { NestedIn } from '../timeline/nested-in.ts';
import { TimelineEntry } from '../timeline/timeline-item.tsx';
import { TimelineItems } from '../timeline/timeline-items.ts';
import { useSessionFeed } from './use-session-feed.ts';

/** So many of the last things are shown; the session has all. */
const shownItems = 40;

/** What a session does, in the place of another: a run beside its source, an agent in the program that called it. */
export function SessionTimeline({ id }: { readonly id: string }): ReactNode {
  const { feed } = useSessionFeed(id);
  return <TimelineOf id={id} view={feed.view} />;
}

/** The same for who follows it already. */
export function TimelineOf({ id, view }: { readonly id: string; readonly view: SessionView }): ReactNode {
  // oxlint-disable-next-line react/exhaustive-deps -- another session has items of its own
  const items = useMemo(() => new TimelineItems(), [id]);
  const all = useMemo(() => items.of(view.turns), [items, view.turns]);
  const first = Math.max(0, all.length - shownItems);
  return (
    <div className="run-timeline">
      {first > 0 && (
        <p className="muted">
          {first.toLocaleString()} before that: <Link href={sessionPath(id)}>the whole session</Link>
        </p>
      )}
      <NestedIn value={id}>
        {all.slice(first).map((item) => (
          <TimelineEntry key={item.key} sessionId={id} item={item} isCurrent={false} />
        ))}
      </NestedIn>
    </div>
  );
}
