import { setTimeout as sleep } from 'node:timers/promises';
import { parseDuration } from '@concerto/base';
import { type EventLog, LogError, openEventLog, type StoreOptions } from '@concerto/log';
import type { Report } from '@concerto/runtime';
import { UsageError } from '../arguments.ts';

const waitDefault = '2m';
const firstPauseMs = 200;
const longestPauseMs = 2_000;
/** At first, so that whoever waits is told soon; then longer, since some answer slowly. */
const firstAnswerMs = 1_000;

export const waitOptions = {
  'store-wait': {
    type: 'string',
    value: 'TIME',
    help: `how long a Redis that is away, loads or is full is waited for at the start; default ${waitDefault}`,
  },
} as const;

export type StoreOpening = {
  readonly waitMs: number;
  /** Of a store in memory whose past nobody will ask for. */
  readonly recentChars?: number;
  /** Resolves when there is nobody to wait for any more. */
  readonly stopped: Promise<unknown>;
};

export function storeWaitOf(flags: { readonly 'store-wait'?: string | undefined }): number {
  const given = flags['store-wait'] ?? waitDefault;
  const waitMs = given === '0' ? 0 : parseDuration(given);
  if (waitMs === undefined) throw new UsageError(`--store-wait is a time such as 30s, 5m or 0, not ${given}`);
  return waitMs;
}

/**
 * The store, ready to be written to. One on another machine may come up after us, load what it kept, or have no room for
 * a while: it is waited for, and that is said. Undefined when we were told to stop meanwhile.
 */
export async function openStore(
  store: string,
  { waitMs, stopped, recentChars }: StoreOpening,
  report: Report,
): Promise<EventLog | undefined> {
  const until = performance.now() + waitMs;
  const tell = once(report);
  const leaves = stopped.then(() => undefined);
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      const left = Math.max(firstAnswerMs, until - performance.now());
      const within = Math.min((firstAnswerMs * pauseMs) / firstPauseMs, left);
      return await Promise.race([
        openReady(store, { firstAnswerMs: within, onWarning: tell, ...(recentChars && { recentChars }) }),
        leaves,
      ]);
    } catch (cause) {
      // A store that cannot be reached is a failure; one that cannot be meant is a slip of whoever typed it.
      if (cause instanceof LogError && cause.code === 'bad-url') throw new UsageError(cause.message);
      if (!mayPass(store, cause) || performance.now() + pauseMs > until) throw cause;
      tell(`waiting for the store, ${Math.round(waitMs / 1_000)} s at most: ${cause.message}`);
    }
    if ((await Promise.race([sleep(pauseMs, 'again'), leaves])) === undefined) return undefined;
  }
}

async function openReady(store: string, options: Omit<StoreOptions, 'now'>): Promise<EventLog> {
  const log = await openEventLog(store, { now: Date.now, ...options });
  try {
    if (isShared(store)) await log.ping();
  } catch (cause) {
    await log.close();
    throw cause;
  }
  return log;
}

/** A file is here, and so is whoever can mend it. */
function isShared(store: string): boolean {
  return /^rediss?:/.test(store);
}

function mayPass(store: string, cause: unknown): cause is LogError {
  return isShared(store) && cause instanceof LogError && ['unavailable', 'full', 'read-only'].includes(cause.code);
}

/** The same words once. */
function once(report: Report): Report {
  const told = new Set<string>();
  return (message, cause) => {
    if (!told.has(message)) report(message, cause);
    told.add(message);
  };
}
