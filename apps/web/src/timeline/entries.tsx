import {
  type BudgetEntry,
  type GapEntry,
  type StatusEntry,
  type SteerEntry,
  type TextEntry,
  textContent,
} from '@concerto/protocol';
import { type ReactNode, useContext, useState } from 'react';
import { JsonView } from '../json/json-view.tsx';
import { useMay } from '../people/may.ts';
import { whoText } from '../requests/who-text.ts';
import { ShownSessionContext } from '../session/shown-session.ts';
import { Icon } from '../shell/icon.tsx';
import { statusWords } from '../status/status-words.ts';
import { Markdown } from '../text/markdown.tsx';
import { Plain } from '../text/plain.tsx';
import { durationText } from '../time/duration.ts';
import { ClockTime, DayTime } from '../time/moment.tsx';
import { budgetTexts } from '../usage/budget-text.ts';
import { usageText } from '../usage/usage-text.ts';
import { BlockList } from './block-list.tsx';
import { blocksOf } from './blocks.ts';
import { NestedIn } from './nested-in.ts';
import type { FailureItem, PromptItem, ResultItem } from './timeline-items.ts';

export function PromptEntry({ item }: { readonly item: PromptItem | SteerEntry }): ReactNode {
  const isSteer = item.kind === 'steer';
  return (
    <div className="prompt" data-how={item.kind}>
      <p className="prompt-head">
        {isSteer && <Icon name="bolt" />}
        <span>{isSteer ? `Steered by ${whoText(item.by)}` : `Turn ${item.number}`}</span>
        <DayTime at={item.at} />
      </p>
      <div className="prompt-text">
        <BlockList blocks={blocksOf(item.content)} />
      </div>
    </div>
  );
}

/** From so many characters on it stands in lines of its own. */
const longReason = 80;

type SaidProps = {
  readonly entry: TextEntry | undefined;
  /** It is the last that was said in its turn. The words stay the same element when they become that. */
  readonly result: ResultItem | undefined;
  readonly isCurrent: boolean;
};

export function Said({ entry, result, isCurrent }: SaidProps): ReactNode {
  const owner = useContext(NestedIn);
  const whose = owner === '' ? '' : ` of ${owner}`;
  return (
    <section
      className={result === undefined ? 'said' : 'said result'}
      data-current={isCurrent}
      aria-label={result === undefined ? undefined : `Result of turn ${result.number}${whose}`}
      {...placeIn(owner)}
    >
      {entry !== undefined && entry.text !== '' && <Markdown text={entry.text} />}
      {entry !== undefined && entry.parts.length > 0 && (
        <BlockList blocks={entry.parts.map((part) => ({ kind: 'part', part }))} />
      )}
      {result !== undefined && <ResultFoot result={result} />}
    </section>
  );
}

/** Two calls of one agent show its timeline twice: what stands there is no place of the page that one looks for. */
function placeIn(owner: string): { readonly role?: 'group' } {
  return owner === '' ? {} : { role: 'group' };
}

function ResultFoot({ result }: { readonly result: ResultItem }): ReactNode {
  const { number, fields, usage, tookMs, at } = result;
  const { fork } = useContext(ShownSessionContext);
  const isNested = useContext(NestedIn) !== '';
  const mayFork = useMay('agent');
  const used = usageText(usage.total);
  return (
    <>
      {Object.keys(fields).length > 0 && <JsonView title="Reported" data={fields} />}
      <p className="result-foot">
        <Icon name="check" />
        <span>Turn {number} done</span>
        {mayFork && fork !== undefined && !isNested && (
          <button
            type="button"
            className="link-button"
            title="Begin another session with what was said up to here"
            onClick={() => fork(number)}
          >
            Fork from here
          </button>
        )}
        {tookMs >= 1000 && <span>{durationText(tookMs)}</span>}
        {used !== undefined && <span>{used}</span>}
        <ClockTime at={at} />
      </p>
    </>
  );
}

/** What the model thought, in a line until somebody wants to read it. */
export function Thought({ entry, isCurrent }: { readonly entry: TextEntry; readonly isCurrent: boolean }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className="thought"
      data-current={isCurrent}
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <span className="thought-title">{isCurrent ? 'Thinking' : 'Thought'}</span>
        {!isOpen && <span className="json-line">{lastLine(entry.text)}</span>}
      </summary>
      {isOpen && <Markdown text={entry.text} />}
    </details>
  );
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.slice(0, 300) ?? '';
}

/** The first line says what happened; what follows is the end of what the agent wrote to its stderr. */
export function ErrorEntry({ item }: { readonly item: FailureItem }): ReactNode {
  const owner = useContext(NestedIn);
  const [message = '', ...rest] = item.message.split('\n');
  const tail = rest.join('\n').trim();
  return (
    <section className="error" aria-label="Error" {...placeIn(owner)}>
      <p className="error-head">
        <Icon name="warning" />
        <span className="error-text">
          <Plain text={message.replace(/; the end of its stderr:$/, '')} />
        </span>
        <ClockTime at={item.at} />
      </p>
      {tail !== '' && (
        <details open>
          <summary>The end of its stderr</summary>
          <pre className="code">
            <Plain text={tail} />
          </pre>
        </details>
      )}
    </section>
  );
}

export function StatusLine({ item }: { readonly item: StatusEntry }): ReactNode {
  const isResumed = item.previous === 'resuming' && !['paused', 'interrupted'].includes(item.status);
  const { label, tone } = isResumed ? { label: 'Resumed', tone: 'quiet' } : statusWords[item.status];
  const reason = reasonText(item);
  return (
    <div className="status-line" data-tone={tone}>
      <span>{label}</span>
      {reason !== undefined && (
        <span className="status-reason" data-long={reason.length > longReason}>
          <BlockList blocks={blocksOf(textContent(reason))} />
        </span>
      )}
      <DayTime at={item.at} />
    </div>
  );
}

export function BudgetLine({ item: { level, what, budget, at } }: { readonly item: BudgetEntry }): ReactNode {
  const figures = budgetTexts(budget, what.length === 0 ? undefined : what).join(', ');
  return (
    <p className="status-line" data-tone={level === 'near' ? 'attention' : 'quiet'}>
      <span>{level === 'near' ? 'Budget nearly used up' : 'Budget raised'}</span>
      <span className="status-reason">{figures}</span>
      <ClockTime at={at} />
    </p>
  );
}

export function GapLine({ item }: { readonly item: GapEntry }): ReactNode {
  return (
    <p className="status-line" data-tone="attention">
      <span>
        Events {item.from.toLocaleString()} to {item.to.toLocaleString()} are no longer kept
      </span>
    </p>
  );
}

/** One that says no more than the status itself is none. */
function reasonText({ reason, status }: StatusEntry): string | undefined {
  if (reason === 'forced') return 'by force, after waiting for the agent';
  return reason === status ? undefined : reason;
}
