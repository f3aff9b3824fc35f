import type { EventLog } from '@concerto/log';
import type { Clock } from '../ports.ts';

/** Looks again whenever the session's streams have grown. Whether it settled in time; a store that fails is thrown. */
export async function untilGrown(
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
