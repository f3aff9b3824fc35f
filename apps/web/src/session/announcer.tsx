import type { SessionView } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { questionText } from '../requests/question-text.ts';
import { statusWords } from '../status/status-words.ts';

type Props = { readonly view: SessionView; readonly isReplaying: boolean };

/** Says aloud what a person must not miss: the newest open question, else where the session stands. */
export function Announcer({ view, isReplaying }: Props): ReactNode {
  return (
    <p className="visually-hidden" aria-live="assertive" data-testid="announcer">
      {isReplaying ? '' : announcementOf(view)}
    </p>
  );
}

function announcementOf({ requests, status }: SessionView): string {
  const newest = requests.at(-1);
  if (newest !== undefined) return `The agent waits for you: ${questionText(newest.event)}. Press A to answer.`;
  return status === undefined ? '' : statusWords[status].label;
}
