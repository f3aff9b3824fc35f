import { memo, type ReactNode } from 'react';
import { TimelineEntry } from './timeline-item.tsx';
import type { TimelineItem } from './timeline-items.ts';

type Props = {
  readonly sessionId: string;
  readonly items: readonly TimelineItem[];
  readonly from: number;
  readonly to: number;
  /** The item that still grows, if it is here. */
  readonly current: number | undefined;
};

/** Some neighbouring items, compared as one: a long timeline is not gone through for every event. */
export const TimelineChunk = memo(function TimelineChunk(props: Props): ReactNode {
  const { sessionId, items, from, to, current } = props;
  return items
    .slice(from, to)
    .map((item, offset) => (
      <TimelineEntry key={item.key} sessionId={sessionId} item={item} isCurrent={current === from + offset} />
    ));
}, isSame);

function isSame(before: Props, after: Props): boolean {
  if (before.sessionId !== after.sessionId) return false;
  if (before.from !== after.from || before.to !== after.to || before.current !== after.current) return false;
  for (let index = after.from; index < after.to; index++) {
    if (before.items[index] !== after.items[index]) return false;
  }
  return true;
}
