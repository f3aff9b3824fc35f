import type { EventLog } from './event-log.ts';
import { type Durations, Histogram } from './histogram.ts';

export type LogMeasures = {
  readonly appends: Durations;
  readonly appendFailures: number;
  /** Leases that this process got from another holder's hands. */
  readonly takeovers: number;
};

export type MeasuredLog = { readonly log: EventLog; readonly measures: () => LogMeasures };

/** The same log, which counts what an operator watches. `elapsed` grows, in milliseconds. */
export function measuredLog(log: EventLog, elapsed: () => number): MeasuredLog {
  const appends = new Histogram();
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
        appends.add(elapsed() - began);
      }
    },
    acquireLease: async (request) => {
      const lease = await log.acquireLease(request);
      if (lease.kind === 'acquired' && lease.epoch > 1) takeovers += 1;
      return lease;
    },
  };
  return { log: measured, measures: () => ({ appends: appends.read(), appendFailures, takeovers }) };
}
