import type { PolicyTried, Session } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { useAttempt } from '../fetching/use-attempt.ts';
import { useOverview } from '../live/use-overview.ts';
import { Link } from '../routing/link.tsx';
import { sessionPath, startPath } from '../routing/route.ts';
import { isOver } from '../session/lifecycle-table.ts';
import { useChange } from '../settings/use-change.ts';
import { Icon } from '../shell/icon.tsx';
import { Plain } from '../text/plain.tsx';
import { TriedRequests } from './tried-requests.tsx';

type Props = { readonly program: string; readonly isChanged: boolean };

/** A program that answers for sessions: tried on those that are past, and attached to those that are not. */
export function SupervisePanel({ program, isChanged }: Props): ReactNode {
  const { isBusy, value, problem, attempt } = useAttempt<PolicyTried>();
  return (
    <section className="supervise-panel" aria-label="Supervise">
      <header className="panel-head">
        <h2>Supervise</h2>
        <button
          type="button"
          className="button small"
          disabled={isBusy}
          onClick={() => void attempt(() => client.tryPolicy({ supervisor: program }))}
        >
          <Icon name="retry" />
          {isBusy ? 'Trying …' : 'Try on past sessions'}
        </button>
      </header>
      {isChanged && <p className="muted">What is not saved is not tried.</p>}
      {problem !== undefined && (
        <p className="inline-problem" role="alert">
          {problem}
        </p>
      )}
      {value !== undefined && <TriedRequests tried={value} />}
      <Attach program={program} />
    </section>
  );
}

function Attach({ program }: { readonly program: string }): ReactNode {
  const { rows } = useOverview();
  const [chosen, setChosen] = useState('');
  const { isBusy, change } = useChange(() => setChosen(''));
  const live = [...(rows?.values() ?? [])].filter(
    ({ status, kind, archived }) => !isOver(status) && kind !== 'program' && archived !== true,
  );
  const attached = live.filter(({ supervisor }) => supervisor === program);
  const others = live.filter(({ supervisor }) => supervisor !== program);
  const attach = (): void => {
    if (chosen !== '') void change(() => client.supervise(chosen, program), `${program} answers for it now.`);
  };
  return (
    <>
      {attached.length > 0 && (
        <ul className="plain-list" aria-label="Sessions that it answers for">
          {attached.map((session) => (
            <AttachedLine key={session.id} session={session} program={program} />
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <form
          className="inline-form"
          aria-label="Attach"
          onSubmit={(event) => {
            event.preventDefault();
            attach();
          }}
        >
          <label className="field wide-field">
            <span className="field-label">Attach it to a session that runs</span>
            <select value={chosen} onChange={(event) => setChosen(event.target.value)}>
              <option value="">Choose one</option>
              {others.map(({ id, title, supervisor }) => (
                <option key={id} value={id}>
                  {title}
                  {supervisor !== undefined && ` (in place of ${supervisor})`}
                </option>
              ))}
            </select>
          </label>
          <button type="submit" className="button" disabled={isBusy || chosen === ''}>
            Attach
          </button>
        </form>
      )}
      <p>
        <Link href={startPath(program)}>Start a session that it answers for</Link>
      </p>
    </>
  );
}

function AttachedLine({ session, program }: { readonly session: Session; readonly program: string }): ReactNode {
  const { id, title } = session;
  const { isBusy, change } = useChange(() => {});
  return (
    <li className="rule-row">
      <div>
        answers for{' '}
        <Link href={sessionPath(id)}>
          <Plain text={title} />
        </Link>
      </div>
      <button
        type="button"
        className="button small"
        disabled={isBusy}
        aria-label={`Take away ${program} from ${title}`}
        onClick={() => void change(() => client.supervise(id, null), 'A person is asked again.')}
      >
        Take away
      </button>
    </li>
  );
}
