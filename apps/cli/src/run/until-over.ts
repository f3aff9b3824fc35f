import { finalStatuses, type Session } from '@concerto/protocol';
import type { Sessions } from '@concerto/runtime';
import type { BudgetDesk } from './budget-desk.ts';

export type Watched = {
  readonly sessions: Sessions;
  readonly session: string;
  /** Calls when something may have been decided of it, until the returned call. */
  readonly onDecided: (listener: () => void) => () => void;
  readonly budget: BudgetDesk;
};

/** The session as it stands when it is over. */
export async function untilOver({ onDecided, sessions, session, budget }: Watched): Promise<Session> {
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
      if (stands.budget !== undefined) budget.look((await sessions.requests(session))?.requests ?? []);
      await grown;
    }
  } finally {
    budget.close();
    stop();
  }
}
