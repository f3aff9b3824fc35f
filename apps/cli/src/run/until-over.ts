import { finalStatuses, type Session } from '@concerto/protocol';
import type { Sessions } from '@concerto/runtime';

export type Watched = {
  readonly sessions: Sessions;
  readonly session: string;
  /** Calls when something may have been decided of it, until the returned call. */
  readonly onDecided: (listener: () => void) => () => void;
};

/** The session as it stands when it is over. */
export async function untilOver({ onDecided, sessions, session }: Watched): Promise<Session> {
  let wake = (): void => {};
  const stop = onDecided(() => wake());
  try {
    for (;;) {
      const grown = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const stands = await sessions.get(session);
      if (stands === undefined) throw new Error(`session ${session} is not there any more: somebody has deleted it`);
      if (finalStatuses.includes(stands.status)) return stands;
      await grown;
    }
  } finally {
    stop();
  }
}
