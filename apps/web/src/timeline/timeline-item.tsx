import { unreachable } from '@concerto/base';
import { memo, type ReactNode } from 'react';
import { JsonView } from '../json/json-view.tsx';
import { RequestCard } from '../requests/request-card.tsx';
import { ActivityGroup } from './activity-group.tsx';
import { BlockList } from './block-list.tsx';
import { ErrorEntry, GapEntry, PromptEntry, ResultEntry, StatusEntry } from './entries.tsx';
import type { TimelineItem } from './timeline-state.ts';
import { ToolCall } from './tool-call.tsx';

type Props = {
  readonly sessionId: string;
  readonly item: TimelineItem;
  readonly isCurrent: boolean;
};

/** One arm for each kind of item; drawn again only when the item itself has changed. */
export const TimelineEntry = memo(function TimelineEntry({ sessionId, item, isCurrent }: Props): ReactNode {
  switch (item.kind) {
    case 'prompt':
      return <PromptEntry item={item} />;
    case 'content':
      return (
        <div className="said" data-current={isCurrent}>
          <BlockList blocks={item.blocks} />
        </div>
      );
    case 'activity':
      return <ActivityGroup item={item} isCurrent={isCurrent} />;
    case 'tool':
      return <ToolCall item={item} />;
    case 'request':
      return <RequestCard sessionId={sessionId} item={item} />;
    case 'result':
      return <ResultEntry item={item} />;
    case 'error':
      return <ErrorEntry item={item} />;
    case 'status':
      return <StatusEntry item={item} />;
    case 'gap':
      return <GapEntry item={item} />;
    case 'raw':
      return <JsonView title={item.title} data={item.data} />;
    default:
      return unreachable(item);
  }
});
