import type { EventLog } from '@concerto/log';
import { leaseOf } from '@concerto/runtime';

/** The time that our runner has to claim what this process has begun, or taken from an owner that is gone. */
export const firstLeaseMs = 8_000;

/** What this process begins is its own: a runner elsewhere that hears of it finds that it has an owner. */
export function ownFromTheStart(log: EventLog, owner: string): EventLog {
  return {
    ...log,
    append: async (append) => {
      const isNew = append.streams.some(({ stream, expected }) => stream === 'domain' && expected === 0);
      const { session } = append;
      if (isNew && !session.startsWith('@')) {
        await log.acquireLease({ name: leaseOf(session), owner, ttlMs: firstLeaseMs });
      }
      return await log.append(append);
    },
  };
}
