import { setImmediate, setTimeout } from 'node:timers';
import type { Alarm } from './agent-process.ts';

/**
 * Timers come before input in the loop's order: after a busy moment the line that puts an alarm off may just not have
 * been read yet, so that it waits for one more round.
 */
export function alarm(ms: number, call: () => void): Alarm {
  let round: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    round = setImmediate(call);
  }, ms).unref();
  return {
    refresh: () => {
      clearImmediate(round);
      timer.refresh();
    },
    cancel: () => {
      clearImmediate(round);
      clearTimeout(timer);
    },
  };
}
