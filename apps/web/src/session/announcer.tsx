import type { ReactNode } from 'react';
import { questionText } from '../requests/question-text.ts';
import { statusWords } from '../status/status-words.ts';
import type { TimelineState } from '../timeline/timeline-state.ts';

type Props = { readonly timeline: TimelineState; readonly isReplaying: boolean };

/** Says aloud what a person must not miss: the newest open question, else where the session stands. */
export function Announcer({ timeline, isReplaying }: Props): ReactNode {
  return (
    <p className="visually-hidden" aria-live="assertive" data-testid="announcer">
      {isReplaying ? '' : announcementOf(timeline)}
    </p>
  );
}

function announcementOf({ open, requests, items, status }: TimelineState): string {
  const id = open.at(-1);
  const index = id === undefined ? undefined : requests.get(id);
  const item = index === undefined ? undefined : items[index];
  if (item?.kind === 'request') return `The agent waits for you: ${questionText(item.event)}. Press A to answer.`;
  return status === undefined ? '' : statusWords[status].label;
}
