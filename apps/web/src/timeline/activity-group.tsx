import { type NoteEntry, programAnswer } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { isJsonObject } from '../json/json-object.ts';
import { JsonView } from '../json/json-view.tsx';
import { lineOf } from '../json/line-of.ts';
import { Icon } from '../shell/icon.tsx';
import { Plain } from '../text/plain.tsx';
import { ClockTime } from '../time/moment.tsx';
import { AnswerLine } from './answer-line.tsx';
import { stepOf } from './step.ts';
import type { ActivityItem } from './timeline-items.ts';

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
  const { notes } = item;
  const steps = notes.filter((note) => stepOf(note) !== undefined);
  const others = notes.filter((note) => stepOf(note) === undefined);
  const last = steps.at(-1);
  const hidden = notes.length - (last === undefined ? 0 : 1) - Math.min(others.length, notesShown);
  return (
    <div className="activity" data-current={isCurrent}>
      {last !== undefined && <Latest note={last} isCurrent={isCurrent} />}
      {isOpen ? (
        <ol className="activity-all" aria-label="All steps">
          {notes.map((note) => (
            <li key={note.key}>
              <Note note={note} />
            </li>
          ))}
        </ol>
      ) : (
        others.slice(-notesShown).map((note) => <Note key={note.key} note={note} />)
      )}
      {(hidden > 0 || isOpen) && (
        <button
          type="button"
          className="link-button activity-more"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? 'Show less' : moreText(hidden, steps.length)}
        </button>
      )}
    </div>
  );
}

function Latest({ note, isCurrent }: { readonly note: NoteEntry; readonly isCurrent: boolean }): ReactNode {
  const { message = '', percent } = stepOf(note) ?? {};
  return (
    <p className="activity-now">
      <span className="activity-mark" aria-hidden="true">
        {!isCurrent && <Icon name="check" />}
      </span>
      <span className="activity-text">
        <Plain text={message} />
      </span>
      {percent !== undefined && isCurrent && <Percent value={percent} />}
      <ClockTime at={note.at} />
    </p>
  );
}

function moreText(hidden: number, steps: number): string {
  const what = steps > 1 ? 'earlier step' : 'more';
  return what === 'more' ? `${hidden} more` : `${hidden} ${what}${hidden === 1 ? '' : 's'}`;
}

function Percent({ value }: { readonly value: number }): ReactNode {
  return <progress className="percent" max={100} value={value} aria-label={`${value} percent`} title={`${value} %`} />;
}

function Note({ note }: { readonly note: NoteEntry }): ReactNode {
  const step = stepOf(note);
  if (step !== undefined) {
    return (
      <p className="activity-step">
        <ClockTime at={note.at} />
        <span>
          <Plain text={step.message} />
        </span>
        {step.percent !== undefined && <span className="muted">{step.percent} %</span>}
      </p>
    );
  }
  const answer = programAnswer(note);
  if (answer !== undefined) return <AnswerLine answer={answer} at={note.at} />;
  const { title, data, at } = note;
  if (title !== 'log' || !isJsonObject(data)) return <JsonView title={title} data={data} />;
  const level = typeof data.level === 'string' ? data.level : 'log';
  const text = typeof data.message === 'string' ? data.message : lineOf(data);
  return (
    <p className="log" data-level={level}>
      <span className="log-level">{level}</span>
      <span className="log-text">
        <Plain text={text} />
      </span>
      <ClockTime at={at} />
    </p>
  );
}
