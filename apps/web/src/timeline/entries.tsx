import type { ReactNode } from 'react';
import { JsonView } from '../json/json-view.tsx';
import { Icon } from '../shell/icon.tsx';
import { statusWords } from '../status/status-words.ts';
import { ClockTime } from '../time/moment.tsx';
import { BlockList } from './block-list.tsx';
import type { ErrorItem, GapItem, PromptItem, ResultItem, StatusItem } from './timeline-state.ts';

export function PromptEntry({ item }: { readonly item: PromptItem }): ReactNode {
  const isSteer = item.how === 'steer';
  return (
    <div className="prompt" data-how={item.how}>
      <p className="prompt-head">
        {isSteer && <Icon name="bolt" />}
        <span>{isSteer ? 'You steered' : `Turn ${item.turn}`}</span>
        <ClockTime at={item.at} />
      </p>
      <div className="prompt-text">
        <BlockList blocks={item.blocks} />
      </div>
    </div>
  );
}

export function ResultEntry({ item }: { readonly item: ResultItem }): ReactNode {
  const hasFields = Object.keys(item.fields).length > 0;
  return (
    <section className="result" aria-label={`Result of turn ${item.turn}`}>
      <p className="result-head">
        <Icon name="check" />
        <span>Result</span>
        <ClockTime at={item.at} />
      </p>
      {item.isRepeat ? <p className="muted">As said above.</p> : <BlockList blocks={item.blocks} />}
      {hasFields && <JsonView title="Reported" data={item.fields} />}
    </section>
  );
}

export function ErrorEntry({ item }: { readonly item: ErrorItem }): ReactNode {
  return (
    <section className="error" aria-label="Error">
      <p className="error-head">
        <Icon name="warning" />
        <span className="error-text">{item.message}</span>
        <ClockTime at={item.at} />
      </p>
      {item.tail !== undefined && (
        <details open>
          <summary>The end of its stderr</summary>
          <pre className="code">{item.tail}</pre>
        </details>
      )}
    </section>
  );
}

export function StatusEntry({ item }: { readonly item: StatusItem }): ReactNode {
  const isResumed = item.previous === 'resuming' && !['paused', 'interrupted'].includes(item.status);
  const { label, tone } = isResumed ? { label: 'Resumed', tone: 'quiet' } : statusWords[item.status];
  return (
    <p className="status-line" data-tone={tone}>
      <span>{label}</span>
      {item.reason !== undefined && <span className="status-reason">{reasonText(item.reason)}</span>}
      <ClockTime at={item.at} />
    </p>
  );
}

export function GapEntry({ item }: { readonly item: GapItem }): ReactNode {
  return (
    <p className="status-line" data-tone="attention">
      <span>
        Events {item.from.toLocaleString()} to {item.to.toLocaleString()} are no longer kept
      </span>
    </p>
  );
}

function reasonText(reason: string): string {
  return reason === 'forced' ? 'by force, after waiting for the agent' : reason;
}
