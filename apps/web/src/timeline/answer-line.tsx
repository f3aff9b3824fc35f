import type { ProgramAnswer } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { lineOf } from '../json/line-of.ts';
import { useRow } from '../live/use-overview.ts';
import { Link } from '../routing/link.tsx';
import { sessionPath } from '../routing/route.ts';
import { Icon } from '../shell/icon.tsx';
import { Plain } from '../text/plain.tsx';
import { ClockTime } from '../time/moment.tsx';

type Props = { readonly answer: ProgramAnswer; readonly at: string };

/** What a program answered in the session of one of its agents: there it is told that it was decided here. */
export function AnswerLine({ answer: { session, response }, at }: Props): ReactNode {
  const row = useRow(session);
  return (
    <p className="activity-step answer-line">
      <Icon name="check" />
      <span>
        Answered <Link href={sessionPath(session)}>{row?.agent ?? 'its agent'}</Link>:{' '}
        <strong>
          <Plain text={lineOf(response)} />
        </strong>
      </span>
      <ClockTime at={at} />
    </p>
  );
}
