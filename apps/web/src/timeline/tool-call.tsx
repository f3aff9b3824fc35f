import type { ReactNode } from 'react';
import { JsonView } from '../json/json-view.tsx';
import { lineOf } from '../json/line-of.ts';
import { Icon } from '../shell/icon.tsx';
import { ClockTime } from '../time/moment.tsx';
import { BlockList } from './block-list.tsx';
import type { ToolItem } from './timeline-state.ts';

export function ToolCall({ item }: { readonly item: ToolItem }): ReactNode {
  return (
    <details className="tool" data-outcome={item.outcome}>
      <summary>
        <Icon name="tool" />
        <span className="tool-name">{item.title ?? item.name}</span>
        <code className="json-line">{item.status ?? lineOf(item.args)}</code>
        <span className="tool-outcome">{outcomes[item.outcome]}</span>
        <ClockTime at={item.at} />
      </summary>
      <JsonView title="Arguments" data={item.args} isOpen />
      {item.result !== undefined && <BlockList blocks={item.result} />}
    </details>
  );
}

const outcomes: Readonly<Record<ToolItem['outcome'], string>> = { running: 'running', done: 'done', failed: 'failed' };
