import type { EventLog } from './event-log.ts';

/** Upper ends of the classes by which appends are counted, in seconds. */
const classes = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const;

export type LogMeasures = {
  /** How many appends took at most that many seconds. */
  readonly appends: readonly { readonly seconds: number; readonly count: number }[];
  readonly appendCount: number;
  readonly appendSeconds: number;
  readonly appendFailures: number;
  /** Leases that this process got from another holder's hands. */
  readonly takeovers: number;
};

export type MeasuredLog = { readonly log: EventLog; readonly measures: () => LogMeasures };

/** The same log, which counts what an operator watches. `elapsed` grows, in milliseconds. */
export function measuredLog(log: EventLog, elapsed: () => number): MeasuredLog {
  const counts = classes.map(() => 0);
  let appendCount = 0;
  let appendSeconds = 0;
  let appendFailures = 0;
  let takeovers = 0;
  const measured: EventLog = {
    ...log,
    append: async (append) => {
      const began = elapsed();
      try {
        return await log.append(append);
      } catch (cause) {
        appendFailures += 1;
        throw cause;
      } finally {
        const seconds = (elapsed() - began) / 1000;
        appendCount += 1;
        appendSeconds += seconds;
        const index = classes.findIndex((end) => seconds <= end);
        if (index !== -1) counts[index] = (counts[index] ?? 0) + 1;
      }
    },
    acquireLease: async (request) => {
      const lease = await log.acquireLease(request);
      if (lease.kind === 'acquired' && lease.epoch > 1) takeovers += 1;
      return lease;
    },
  };
  return {
    log: measured,
    measures: () => {
      let sum = 0;
      const appends = classes.map((seconds, index) => {
        sum += counts[index] ?? 0;
        return { seconds, count: sum };
      });
      return { appends, appendCount, appendSeconds, appendFailures, takeovers };
    },
  };
}
