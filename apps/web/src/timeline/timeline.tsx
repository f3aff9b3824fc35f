import type { SessionView } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { Icon } from '../shell/icon.tsx';
import { stopCarriedOver } from './carried-over.ts';
import { TimelineChunk } from './timeline-chunk.tsx';
import type { TimelineItem } from './timeline-items.ts';
import type { Following } from './use-following.ts';

type Props = {
  readonly sessionId: string;
  readonly view: SessionView;
  readonly items: readonly TimelineItem[];
  /** So many events before the first item are still being read. */
  readonly earlier: number;
  /** Up to this position nothing is shown: it can be read again. */
  readonly unshown: number;
  readonly following: Following;
  /** What happened before is still being read. */
  readonly isReplaying: boolean;
};

const chunkItems = 25;

/** What has happened, newest at the end. Only the part around the reader is laid out. */
export function Timeline({ sessionId, view, items, earlier, unshown, following, isReplaying }: Props): ReactNode {
  const { turns, status, requests } = view;
  const turn = turns.at(-1);
  const isWorking = turn?.state === 'running' && status === 'running';
  const last = items.at(-1);
  const { scroller, inner, isFollowing, seesRequest, first, showEarlier, follow, reveal, onScroll, onTouch } =
    following;
  const isAsked = requests.length > 0 && !seesRequest && !isReplaying;
  const start = Math.floor(Math.min(first, items.length) / chunkItems) * chunkItems;
  const chunks = Array.from(
    { length: Math.ceil((items.length - start) / chunkItems) },
    (_, n) => start + n * chunkItems,
  );
  const current = isWorking ? items.length - 1 : undefined;
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions, jsx-a11y/click-events-have-key-events
    <div className="timeline-frame" onClickCapture={stopCarriedOver}>
      <h2 className="visually-hidden">Timeline</h2>
      <div
        ref={scroller}
        className="timeline"
        role="log"
        aria-label="Timeline"
        aria-live="off"
        aria-busy={isReplaying}
        // A region that scrolls must be reachable by the keyboard that scrolls it.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        onScroll={onScroll}
        onWheel={(event) => event.deltaY < 0 && onTouch()}
      >
        <div ref={inner} className="timeline-inner">
          {earlier > 0 && <p className="muted earlier">Reading {earlier.toLocaleString()} earlier events …</p>}
          {(start > 0 || (unshown > 0 && earlier === 0)) && (
            <button type="button" className="button small earlier" onClick={showEarlier}>
              Show earlier ({start > 0 ? `${start.toLocaleString()} more` : `${unshown.toLocaleString()} events`})
            </button>
          )}
          {chunks.map((from) => {
            const to = Math.min(items.length, from + chunkItems);
            return (
              <TimelineChunk
                key={from}
                sessionId={sessionId}
                items={items}
                from={from}
                to={to}
                current={current !== undefined && current >= from && current < to ? current : undefined}
              />
            );
          })}
          {isWorking && last?.kind !== 'text' && last?.kind !== 'activity' && (
            <p className="working" aria-hidden="true">
              <span className="dots" />
            </p>
          )}
        </div>
      </div>
      {(isAsked || !isFollowing) && (
        <button type="button" className="button jump" data-open={isAsked} onClick={isAsked ? reveal : follow}>
          <Icon name="down" />
          {isAsked ? 'A question waits for you' : 'Jump to latest'}
        </button>
      )}
    </div>
  );
}
