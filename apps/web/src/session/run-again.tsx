import type { Session } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { failureOf } from '../fetching/failure.ts';
import { startAgain } from '../keeping/start-again.ts';
import { useMay } from '../people/may.ts';
import { sessionPath } from '../routing/route.ts';
import { navigate } from '../routing/use-location.ts';
import { Icon } from '../shell/icon.tsx';
import { post } from '../shell/notice-board.ts';

type Props = { readonly session: Session; readonly isOver: boolean };

/** Where nothing can be said; the way on from a session that is over is the same task, from the beginning. */
export function RunAgain({ session, isOver }: Props): ReactNode {
  const mayStart = useMay('agent');
  const [isStarting, setStarting] = useState(false);
  const start = async (over: Session): Promise<void> => {
    setStarting(true);
    try {
      const started = await startAgain(over);
      if (started !== undefined) return navigate(sessionPath(started.id));
      post('bad', 'Nothing says any more what its task was.');
    } catch (cause) {
      post('bad', failureOf(cause).text);
    }
    setStarting(false);
  };
  return (
    <div className="composer-closed">
      <p>{isOver ? 'This session is over.' : 'You may read this session, and say nothing in it.'}</p>
      {/* What a program opened is the program's to open again. */}
      {isOver && mayStart && session.parent === undefined && (
        <button type="button" className="button small" disabled={isStarting} onClick={() => void start(session)}>
          <Icon name="retry" />
          Run it again
        </button>
      )}
    </div>
  );
}
