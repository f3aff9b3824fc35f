import type { Json } from '@concerto/base';
import type { SuspendEvent } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { Icon } from '../shell/icon.tsx';
import { ClockTime } from '../time/moment.tsx';
import type { Settlement } from '../timeline/timeline-state.ts';
import { answerText } from './answer-text.ts';

type Props = {
  readonly event: SuspendEvent;
  readonly settled: Settlement;
  readonly answer: Json | undefined;
  /** Given in this tab. */
  readonly isOwn: boolean;
};

export function SettledNote({ event, settled, answer, isOwn }: Props): ReactNode {
  if (settled.outcome === 'withdrawn') {
    return (
      <p className="settled" data-outcome="withdrawn">
        <Icon name="close" />
        <span>Withdrawn: {settled.reason ?? 'no longer asked'}</span>
        <ClockTime at={settled.at} />
      </p>
    );
  }
  const who = isOwn ? 'you' : (settled.by ?? 'someone');
  return (
    <p className="settled" data-outcome="answered" data-answer={answer === false ? 'no' : undefined}>
      <Icon name={answer === false ? 'close' : 'check'} />
      {answer === undefined ? <span>Answered</span> : <strong>{answerText(event, answer)}</strong>}
      <span>by {who}</span>
      <ClockTime at={settled.at} />
    </p>
  );
}
