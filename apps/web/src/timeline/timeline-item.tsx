import { unreachable } from '@concerto/base';
import { memo, type ReactNode } from 'react';
import { JsonView } from '../json/json-view.tsx';
import { RequestCard } from '../requests/request-card.tsx';
import { ActivityGroup } from './activity-group.tsx';
import { BudgetLine, ErrorEntry, GapLine, PromptEntry, Said, StatusLine, Thought } from './entries.tsx';
import type { TimelineItem } from './timeline-items.ts';
import { ToolCall } from './tool-call.tsx';

type Props = { readonly sessionId: string; readonly item: TimelineItem; readonly isCurrent: boolean };

/** One arm for each kind of item; drawn again only when the item itself has changed. */
export const TimelineEntry = memo(function TimelineEntry({ sessionId, item, isCurrent }: Props): ReactNode {
  switch (item.kind) {
    case 'prompt':
    case 'steer':
      return <PromptEntry item={item} />;
    case 'text':
      return <Said entry={item} result={undefined} isCurrent={isCurrent} />;
    case 'thought':
      return <Thought entry={item} isCurrent={isCurrent} />;
    case 'activity':
      return <ActivityGroup item={item} isCurrent={isCurrent} />;
    case 'tool':
      return <ToolCall item={item} />;
    case 'request':
      return <RequestCard sessionId={sessionId} item={item} />;
    case 'result':
      return <Said entry={item.entry} result={item} isCurrent={false} />;
    case 'error':
      return <ErrorEntry item={item} />;
    case 'status':
      return <StatusLine item={item} />;
    case 'budget':
      return <BudgetLine item={item} />;
    case 'gap':
      return <GapLine item={item} />;
    case 'raw':
      return <JsonView title={item.title} data={item.data} />;
    default:
      return unreachable(item);
  }
});
