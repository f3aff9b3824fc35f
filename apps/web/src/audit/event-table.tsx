import type { EventPage } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { JsonView } from '../json/json-view.tsx';
import { sessionPath } from '../routing/route.ts';
import { CopyButton } from '../text/copy-button.tsx';
import { ClockTime } from '../time/moment.tsx';

type Props = { readonly sessionId: string; readonly position: number; readonly sought: number | undefined };

const pageItems = 100;

/** Every event as it is stored, a page at a time; the newest, or those around the one that was asked for. */
export function EventTable({ sessionId, position, sought }: Props): ReactNode {
  const newest = Math.max(0, position - pageItems);
  const [after, setAfter] = useState(sought === undefined ? newest : Math.max(0, sought - pageItems / 2));
  const { value, error } = useFetched((signal) => client.events(sessionId, { after, limit: pageItems }, { signal }), {
    key: `${sessionId} ${after}`,
    revision: Math.min(position, after + pageItems),
  });
  if (error !== undefined) return <p className="inline-problem">{failureOf(error).text}</p>;
  const events = value?.events ?? [];
  return (
    <>
      <p className="event-pages">
        <button
          type="button"
          className="button small"
          disabled={after === 0}
          onClick={() => setAfter(Math.max(0, after - pageItems))}
        >
          Earlier
        </button>
        <span className="muted">
          {(after + 1).toLocaleString()} to {(after + events.length).toLocaleString()} of {position.toLocaleString()}
        </span>
        <button
          type="button"
          className="button small"
          disabled={after + pageItems >= position}
          onClick={() => setAfter(after + pageItems)}
        >
          Later
        </button>
      </p>
      <ol className="events" aria-label="Events">
        {events.map((event) => (
          <EventRow key={event.seq} sessionId={sessionId} event={event} isSought={event.seq === sought} />
        ))}
      </ol>
    </>
  );
}

type RowProps = {
  readonly sessionId: string;
  readonly event: EventPage['events'][number];
  readonly isSought: boolean;
};

function EventRow({ sessionId, event, isSought }: RowProps): ReactNode {
  const { seq, at, type, ...fields } = event;
  const link = `${window.location.origin}${sessionPath(sessionId)}?event=${seq}`;
  return (
    <li
      className="event"
      data-sought={isSought}
      ref={(row) => {
        if (isSought) row?.scrollIntoView({ block: 'center' });
      }}
    >
      <span className="event-seq">{seq}</span>
      <ClockTime at={at} />
      <JsonView title={type} data={fields} isOpen={isSought} />
      <CopyButton text={() => link} label={`Copy a link to event ${seq}`} />
    </li>
  );
}
