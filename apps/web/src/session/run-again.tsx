import { type Session, type SessionView, textOf } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { sessionPath } from '../routing/route.ts';
import { navigate } from '../routing/use-location.ts';
import { Icon } from '../shell/icon.tsx';
import { post } from '../shell/notice-board.ts';

type Props = { readonly session: Session | undefined; readonly view: SessionView };

/** The way on from a session that is over: the same task, from the beginning. */
export function RunAgain({ session, view }: Props): ReactNode {
  const [isStarting, setStarting] = useState(false);
  const objective = view.turns.find((turn) => turn.objective !== undefined)?.objective;
  const prompt = objective === undefined ? '' : textOf(objective).trim();
  const start = async ({ kind, agent, once }: Session): Promise<void> => {
    setStarting(true);
    try {
      const asked = prompt === '' || kind === 'program' ? {} : { prompt };
      const started = await client.start({ [kind]: agent, ...asked, ...(once === true ? { once } : {}) });
      navigate(sessionPath(started.id));
    } catch (cause) {
      post('bad', failureOf(cause).text);
      setStarting(false);
    }
  };
  // What a program opened is the program's to open again.
  const isOwn = session !== undefined && session.parent === undefined;
  return (
    <div className="composer-closed">
      <p>This session is over.</p>
      {isOwn && (prompt !== '' || session.kind === 'program') && (
        <button type="button" className="button small" disabled={isStarting} onClick={() => void start(session)}>
          <Icon name="retry" />
          Run it again
        </button>
      )}
    </div>
  );
}
