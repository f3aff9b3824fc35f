import type { EventLog } from '@concerto/log';
import { finalStatuses, type Session } from '@concerto/protocol';
import type { Sessions } from '@concerto/runtime';
import type { BudgetDesk } from './budget-desk.ts';

export type Watched = {
  readonly log: EventLog;
  readonly sessions: Sessions;
  readonly session: string;
  readonly budget: BudgetDesk;
};

/** The session as it stands when it is over. */
export async function untilOver({ log, sessions, session, budget }: Watched): Promise<Session> {
  let wake = (): void => {};
  const stop = log.onGrowth(() => wake(), session);
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
