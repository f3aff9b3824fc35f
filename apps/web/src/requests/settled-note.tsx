import type { Settlement, SuspendEvent } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { Link } from '../routing/link.tsx';
import { sessionPath } from '../routing/route.ts';
import { Icon } from '../shell/icon.tsx';
import { ClockTime } from '../time/moment.tsx';
import { answerText, isRefusal } from './answer-text.ts';
import { Who } from './who.tsx';

type Props = { readonly event: SuspendEvent; readonly settled: Settlement };

/** How a request ended, as the events tell it: the same in every tab, and after a reload. */
export function SettledNote({ event, settled }: Props): ReactNode {
  if (settled.outcome === 'withdrawn') {
    return (
      <p className="settled" data-outcome="withdrawn">
        <Icon name="close" />
        <span>Withdrawn: {settled.reason ?? 'no longer asked'}</span>
        <ClockTime at={settled.at} />
      </p>
    );
  }
  const { response, reason, because } = settled;
  const isNo = response !== undefined && isRefusal(event, response);
  const said = response === undefined ? 'Answered' : answerText(event, response, reason);
  const saysWhy = response !== undefined && said !== answerText(event, response);
  return (
    <p className="settled" data-outcome="answered" data-answer={isNo ? 'no' : undefined}>
      <Icon name={isNo ? 'close' : 'check'} />
      {response === undefined ? <span>{said}</span> : <strong>{said}</strong>}
      {settled.by !== 'timeout' && (
        <span>
          by <Who actor={settled.by} />
        </span>
      )}
      {reason !== undefined && !saysWhy && <span className="settled-reason">{reason}</span>}
      {because !== undefined && (
        <Link href={`${sessionPath(because.session)}?event=${because.seq}`}>where it was decided</Link>
      )}
      <ClockTime at={settled.at} />
    </p>
  );
}
