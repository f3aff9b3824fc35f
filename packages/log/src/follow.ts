import { assert } from '@concerto/base';
import type { EventLog, Page, StreamName } from './event-log.ts';

export type FollowRequest = {
  readonly session: string;
  readonly stream: StreamName;
  /** Position of the last entry already seen; 0 for all. */
  readonly after: number;
  /** Up to where the reader knows the stream by now from elsewhere: that is not read. */
  readonly known?: () => number;
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
  readonly pageSize?: number;
};

const PAGE_SIZE = 512;

/**
 * Everything after a position, for ever: a page whenever there is something to read, then a wait until the session
 * grows. A page is empty only to tell of a gap (`page.oldest` beyond the cursor, with nothing kept after it).
 */
export function follow(log: EventLog, request: FollowRequest): AsyncIterable<Page> {
  return {
    [Symbol.asyncIterator]() {
      const waiter = growthWaiter(log, request);
      const pages = readOn(log, request, waiter);
      return {
        next: () => pages.next(),
        // A generator that waits cannot be returned from until it is woken.
        return: () => {
          waiter.stop();
          return pages.return(undefined);
        },
      };
    },
  };
}

type Waiter = {
  /** To be called before a read: growth from here on is remembered. */
  arm(): void;
  /** Resolves when the session has grown since `arm`, or after `stop`. */
  grown(): Promise<void>;
  stop(): void;
  stopped(): boolean;
};

function growthWaiter(log: EventLog, request: FollowRequest): Waiter {
  let grew = false;
  let stopped = request.signal?.aborted ?? false;
  let wake: (() => void) | undefined;
  const signalled = (): void => {
    wake?.();
    wake = undefined;
  };
  const stopListening = log.onGrowth(() => {
    grew = true;
    signalled();
  }, request.session);
  const stop = (): void => {
    stopped = true;
    stopListening();
    request.signal?.removeEventListener('abort', stop);
    signalled();
  };
  if (stopped) stop();
  else request.signal?.addEventListener('abort', stop, { once: true });
  return {
    arm() {
      grew = false;
    },
    grown() {
      if (grew || stopped) return Promise.resolve();
      return new Promise((resolve) => {
        wake = resolve;
      });
    },
    stop,
    stopped: () => stopped,
  };
}

async function* readOn(log: EventLog, request: FollowRequest, waiter: Waiter): AsyncGenerator<Page, undefined> {
  const limit = request.pageSize ?? PAGE_SIZE;
  assert(limit > 0, 'a page holds at least one entry');
  let after = request.after;
  try {
    while (!waiter.stopped()) {
      waiter.arm();
      after = Math.max(after, request.known?.() ?? 0);
      const page = await log.read({ session: request.session, stream: request.stream, after, limit });
      if (waiter.stopped()) return undefined;
      const last = page.entries.at(-1);
      if (last !== undefined) after = last.position;
      else if (page.oldest > after + 1) after = page.oldest - 1;
      else {
        await waiter.grown();
        continue;
      }
      yield page;
    }
    return undefined;
  } finally {
    waiter.stop();
  }
}
