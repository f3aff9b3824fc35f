import type { Message } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { ClockTime } from '../time/moment.tsx';

type Props = { readonly history: readonly Message[] };

/** How many of the latest are listed; the timeline has them all. */
const shownMax = 50;

export function QueueHistory({ history }: Props): ReactNode {
  if (history.length === 0) return null;
  const latest = history.slice(-shownMax).toReversed();
  return (
    <details className="history">
      <summary>
        History <span className="count">{history.length}</span>
      </summary>
      <ol aria-label="Settled messages">
        {latest.map((message) => (
          <li key={message.id} data-status={message.status}>
            <p className="queue-text">{message.content}</p>
            <p className="queue-remark">
              {outcomeOf(message)} <ClockTime at={message.deliveredAt ?? message.cancelledAt ?? message.createdAt} />
            </p>
          </li>
        ))}
      </ol>
      {history.length > shownMax && <p className="muted">The latest {shownMax} are shown.</p>}
    </details>
  );
}

function outcomeOf(message: Message): string {
  if (message.status === 'cancelled')
    return message.reason === undefined ? 'Unsent' : `Not delivered: ${message.reason}`;
  return message.how === 'steer' ? 'Steered into the turn' : 'Delivered';
}
