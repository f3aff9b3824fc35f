import type { Session } from '@concerto/protocol';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { post } from '../shell/notice-board.ts';

/** So many calls are under way at a time. */
const atOnceMax = 4;

/** Puts them away, or takes them out again; either can be taken back at once. */
export async function putAway(sessions: readonly Session[], isAway: boolean): Promise<void> {
  const done = await each(sessions, ({ id }) => client.describe(id, { archived: isAway }));
  const undo = () => void each(done, ({ id }) => client.describe(id, { archived: !isAway }));
  tell(done, isAway ? 'archived' : 'taken out of the archive', { label: 'Undo', act: undo });
}

export async function deleteSessions(sessions: readonly Session[]): Promise<readonly Session[]> {
  const done = await each(sessions, ({ id }) => client.delete(id));
  tell(done, 'deleted');
  return done;
}

export async function endSessions(sessions: readonly Session[]): Promise<void> {
  tell(await each(sessions, ({ id }) => client.cancel(id)), 'being ended');
}

/** Does it to each and gives those with which it went well; why it did not with others is told. */
export async function each(
  sessions: readonly Session[],
  act: (session: Session) => Promise<unknown>,
): Promise<readonly Session[]> {
  const left = [...sessions];
  const done: Session[] = [];
  const work = async (): Promise<void> => {
    for (let session = left.shift(); session !== undefined; session = left.shift()) {
      try {
        await act(session);
        done.push(session);
      } catch (cause) {
        post('bad', `${session.title}: ${failureOf(cause).text}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnceMax }, work));
  return done;
}

type Action = { readonly label: string; readonly act: () => void };

export function tell(done: readonly Session[], what: string, action?: Action): void {
  if (done.length === 0) return;
  const who = done.length === 1 ? `“${done[0]?.title}” is` : `${done.length} sessions are`;
  post('info', `${who} ${what}.`, action);
}
