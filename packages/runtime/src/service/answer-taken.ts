import { err, ok, type Result } from '@concerto/base';
import type { EventLog } from '@concerto/log';
import { answerStanding, type SessionState, withdrawnRefusal } from '@concerto/session';
import type { Clock } from '../ports.ts';
import { ofDomain, refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import type { SessionStore } from '../session/session-store.ts';

/** Longer than a dead runner's lease and the time another takes to settle what it left. */
const takenWithinMs = 20_000;

type Ports = { readonly log: EventLog; readonly store: SessionStore; readonly clock: Clock };

type Offered = {
  readonly session: string;
  readonly requestId: string;
  /** As the answer left it. */
  readonly state: SessionState;
  readonly takeBack: () => Promise<Result<SessionState, ServiceRefusal>>;
};

/** Whoever answers hears what is true: a living owner has the answer, or it was not given. */
export async function answerTaken(
  { log, store, clock }: Ports,
  { session, requestId, state, takeBack }: Offered,
): Promise<Result<void, ServiceRefusal>> {
  const standing = (now: SessionState | undefined) =>
    now === undefined ? ({ is: 'open' } as const) : answerStanding(now, requestId);
  let outcome = standing(state);
  if (outcome.is === 'offered') {
    const isSettled = async (): Promise<boolean> => {
      outcome = standing(await store.state(session));
      return outcome.is !== 'offered';
    };
    if (!(await untilGrown(log, clock, { session, withinMs: takenWithinMs, isSettled }))) {
      const back = await takeBack();
      if (!back.ok) return back;
      outcome = standing(back.value);
    }
  }
  if (outcome.is === 'given') return ok(undefined);
  if (outcome.is === 'withdrawn') return err(ofDomain(withdrawnRefusal(requestId, outcome.reason)));
  const message = `no runner has the session now, so the answer was not given; request ${requestId} is still open`;
  return err(refusal('not_delivered', message));
}

/** Looks again whenever the session's streams have grown. Whether it settled in time; a store that fails is thrown. */
async function untilGrown(
  log: EventLog,
  clock: Clock,
  wait: { readonly session: string; readonly withinMs: number; readonly isSettled: () => Promise<boolean> },
): Promise<boolean> {
  let wake: () => void = () => {};
  let grown = false;
  let expired = false;
  const stirred = (): void => {
    grown = true;
    wake();
  };
  const stopListening = log.onGrowth(stirred, wait.session);
  const cancel = clock.at(clock.now() + wait.withinMs, () => {
    expired = true;
    wake();
  });
  try {
    for (;;) {
      grown = false;
      if (await wait.isSettled()) return true;
      if (expired) return false;
      if (grown) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (grown || expired) resolve();
      });
    }
  } finally {
    cancel();
    stopListening();
  }
}
