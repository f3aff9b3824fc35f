import type { Clock } from './ports.ts';

/** Resolves with the work, at the latest after so long; no alarm is left behind, which would keep our process or fill it. */
export async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  let takeBack = (): void => {};
  const late = new Promise<void>((resolve) => {
    takeBack = clock.at(clock.now() + ms, resolve);
  });
  await Promise.race([work, late]).finally(takeBack);
}
