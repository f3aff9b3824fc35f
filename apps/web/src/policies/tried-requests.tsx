import type { PolicyTried, ReplayedRequest } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { whoText } from '../requests/who-text.ts';
import { Link } from '../routing/link.tsx';
import { sessionPath } from '../routing/route.ts';
import { OutcomeMark } from '../text/outcome-mark.tsx';
import { Plain } from '../text/plain.tsx';

/** So many are shown until more are asked for. */
const shownFirst = 20;

/** What a policy would have said to what was asked before: what it would have said otherwise comes first. */
export function TriedRequests({ tried }: { readonly tried: PolicyTried }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const { requests, isCut } = tried;
  const shown = isWhole ? requests : requests.slice(0, shownFirst);
  return (
    <section className="tried-requests" aria-label="What it would have said">
      <output>
        <strong>{sumOf(tried)}</strong> {sparedText(tried)}
        {isCut && ' There is more than was looked at: the newest sessions were.'}
      </output>
      <ul className="tried-list">
        {shown.map((one) => (
          <TriedLine key={`${one.session} ${one.requestId}`} one={one} />
        ))}
      </ul>
      {shown.length < requests.length && (
        <button type="button" className="button small" onClick={() => setWhole(true)}>
          Show all {requests.length}
        </button>
      )}
    </section>
  );
}

const marks = { differs: '≠', same: '=', open: '?' } as const;
const words = { differs: 'differs', same: 'the same', open: 'nobody decided it' } as const;

function TriedLine({ one }: { readonly one: ReplayedRequest }): ReactNode {
  const { session, agent, what, before, now, outcome } = one;
  return (
    <li data-outcome={outcome}>
      <p>
        <OutcomeMark sign={marks[outcome]} words={words[outcome]} />
        <code>
          <Plain text={what} />
        </code>{' '}
        <Link href={sessionPath(session)} className="muted">
          {agent}
        </Link>
      </p>
      <p className="muted">
        then {before === undefined ? 'nobody decided' : decisionText(before)}, now <strong>{decisionText(now)}</strong>
        {now.reason !== undefined && (
          <>
            : <Plain text={now.reason} />
          </>
        )}
      </p>
    </li>
  );
}

function decisionText({ decision, by }: ReplayedRequest['now']): string {
  if (decision === 'ask') return by === 'person' ? 'a person is asked' : `${whoText(by)} is asked`;
  return `${decision} by ${whoText(by)}`;
}

function sumOf({ counts: { requests, sessions, differs, same, open } }: PolicyTried): string {
  if (requests === 0) return `Nothing was asked in ${sessions} ${sessions === 1 ? 'session' : 'sessions'}.`;
  const never = open === 0 ? '' : `, ${open} never decided`;
  return `${differs} of ${requests} would be answered otherwise, ${same} the same${never}.`;
}

function sparedText({ counts: { spared } }: PolicyTried): string {
  return spared === 0 ? '' : `${spared} would have needed no person.`;
}
