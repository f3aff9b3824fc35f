import type { AuditEntry } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { JsonView } from '../json/json-view.tsx';
import { whoText } from '../requests/who-text.ts';
import { Plain } from '../text/plain.tsx';
import { ClockTime } from '../time/moment.tsx';

type Props = { readonly sessionId: string; readonly revision: number };

/** So many are laid out at once, the newest first. */
const shownMax = 200;

/** The life of each message and request: who wanted what, when it was confirmed, after how long. */
export function AuditTable({ sessionId, revision }: Props): ReactNode {
  const [only, setOnly] = useState<string>();
  const { value, error } = useFetched((signal) => client.audit(sessionId, {}, { signal }), {
    key: sessionId,
    revision,
  });
  if (error !== undefined) return <p className="inline-problem">{failureOf(error).text}</p>;
  if (value === undefined) return <p className="muted">Loading …</p>;
  const entries = value.entries.filter((entry) => only === undefined || subjectOf(entry) === only).toReversed();
  return (
    <>
      {only !== undefined && (
        <p className="audit-only">
          Only what is about <code>{only}</code>{' '}
          <button type="button" className="link-button" onClick={() => setOnly(undefined)}>
            Show all
          </button>
        </p>
      )}
      <div className="table-frame">
        <table className="audit">
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Who</th>
              <th scope="col">What</th>
              <th scope="col">About</th>
              <th scope="col">Took</th>
            </tr>
          </thead>
          <tbody>
            {entries.slice(0, shownMax).map((entry, index) => (
              <AuditRow key={`${entry.at} ${entries.length - index}`} entry={entry} onOnly={setOnly} />
            ))}
          </tbody>
        </table>
      </div>
      {entries.length > shownMax && <p className="muted">The latest {shownMax} are shown.</p>}
    </>
  );
}

type RowProps = { readonly entry: AuditEntry; readonly onOnly: (subject: string) => void };

function AuditRow({ entry, onOnly }: RowProps): ReactNode {
  const { at, direction, actor, what, latencyMs, deliveredAt, detail } = entry;
  const subject = subjectOf(entry);
  return (
    <tr>
      <td>
        <ClockTime at={at} />
      </td>
      <td>
        <span title={direction === 'in' ? 'asked of the session' : 'told by the session'}>
          {direction === 'in' ? '→' : '←'} {whoText(actor)}
        </span>
      </td>
      <td>
        <Plain text={what} />
        {deliveredAt !== undefined && (
          <span className="muted">
            {' '}
            · delivered <ClockTime at={deliveredAt} />
          </span>
        )}
        {detail !== undefined && <JsonView title="detail" data={detail} />}
      </td>
      <td>
        {subject !== undefined && (
          <button type="button" className="link-button" onClick={() => onOnly(subject)}>
            <code>{subject}</code>
          </button>
        )}
      </td>
      <td className="time">{latencyMs === undefined ? '' : `${Math.round(latencyMs).toLocaleString()} ms`}</td>
    </tr>
  );
}

function subjectOf({ messageId, requestId }: AuditEntry): string | undefined {
  return messageId ?? requestId;
}
