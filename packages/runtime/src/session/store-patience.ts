import { LogError, type LogErrorCode } from '@concerto/log';
import type { Clock } from '../ports.ts';

/** How long a failing store is tried again; less than a lease, so that whoever gives up still owns what it gives up. */
export const storePatienceMs = 6_000;
const firstWaitMs = 50;
const longestWaitMs = 1_000;

const passing: ReadonlySet<LogErrorCode> = new Set(['unavailable', 'full', 'read-only']);

/** A store that may be well again in a moment: restarting, out of room, not reachable. */
export function mayPass(cause: unknown): boolean {
  return cause instanceof LogError && passing.has(cause.code);
}

export type Patience = {
  readonly clock: Clock;
  /** No use in trying any more. */
  readonly givenUp: () => boolean;
};

/**
 * Tries again while the store is away, each time after a longer wait, then gives the failure on. `work` is told whether
 * an earlier try may have got through: a store that was lost while it answered has perhaps written.
 */
export async function withPatience<T>(work: (again: boolean) => Promise<T>, patience: Patience): Promise<T> {
  const { clock, givenUp } = patience;
  const until = clock.elapsed() + storePatienceMs;
  for (let wait = firstWaitMs, again = false; ; wait = Math.min(wait * 2, longestWaitMs), again = true) {
    try {
      return await work(again);
    } catch (cause) {
      if (!mayPass(cause) || givenUp() || clock.elapsed() + wait > until) throw cause;
    }
    await pause(clock, wait);
  }
}

export async function pause(clock: Clock, ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    clock.at(clock.now() + ms, resolve);
  });
}
