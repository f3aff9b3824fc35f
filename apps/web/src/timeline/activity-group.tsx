import { type ReactNode, useState } from 'react';
import { isJsonObject } from '../json/json-object.ts';
import { JsonView } from '../json/json-view.tsx';
import { lineOf } from '../json/line-of.ts';
import { Icon } from '../shell/icon.tsx';
import { ClockTime } from '../time/moment.tsx';
import type { ActivityEntry, ActivityItem } from './timeline-state.ts';

type Props = {
  readonly item: ActivityItem;
  /** It is what the agent does now. */
  readonly isCurrent: boolean;
};

/** How many of the latest notes are shown while it is closed. */
const notesShown = 3;

/** What the agent did between two things it said: its latest step, the latest notes, and on demand all of it. */
export function ActivityGroup({ item, isCurrent }: Props): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { entries, steps } = item;
  const last = entries.findLast((entry) => entry.kind === 'progress');
  const notes = entries.filter((entry) => entry.kind === 'note');
  const hidden = entries.length - (last === undefined ? 0 : 1) - Math.min(notes.length, notesShown);
  return (
    <div className="activity" data-current={isCurrent}>
      {last !== undefined && (
        <p className="activity-now">
          <span className="activity-mark" aria-hidden="true">
            {!isCurrent && <Icon name="check" />}
          </span>
          <span className="activity-text">{last.message}</span>
          {last.percent !== undefined && isCurrent && <Percent value={last.percent} />}
          <ClockTime at={last.at} />
        </p>
      )}
      {isOpen ? (
        <ol className="activity-all" aria-label="All steps">
          {entries.map((entry) => (
            <li key={entry.seq}>
              <Entry entry={entry} />
            </li>
          ))}
        </ol>
      ) : (
        notes.slice(-notesShown).map((entry) => <Entry key={entry.seq} entry={entry} />)
      )}
      {(hidden > 0 || isOpen) && (
        <button
          type="button"
          className="link-button activity-more"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? 'Show less' : moreText(hidden, steps)}
        </button>
      )}
    </div>
  );
}

function moreText(hidden: number, steps: number): string {
  const what = steps > 1 ? 'earlier step' : 'more';
  return what === 'more' ? `${hidden} more` : `${hidden} ${what}${hidden === 1 ? '' : 's'}`;
}

function Percent({ value }: { readonly value: number }): ReactNode {
  return <progress className="percent" max={100} value={value} aria-label={`${value} percent`} title={`${value} %`} />;
}

function Entry({ entry }: { readonly entry: ActivityEntry }): ReactNode {
  if (entry.kind === 'progress') {
    return (
      <p className="activity-step">
        <ClockTime at={entry.at} />
        <span>{entry.message}</span>
        {entry.percent !== undefined && <span className="muted">{entry.percent} %</span>}
      </p>
    );
  }
  const { title, data, at } = entry;
  if (title !== 'log' || !isJsonObject(data)) return <JsonView title={title} data={data} />;
  const level = typeof data.level === 'string' ? data.level : 'log';
  const text = typeof data.message === 'string' ? data.message : lineOf(data);
  return (
    <p className="log" data-level={level}>
      <span className="log-level">{level}</span>
      <span className="log-text">{text}</span>
      <ClockTime at={at} />
    </p>
  );
}
