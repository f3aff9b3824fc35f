import type { ConnectionState, WatchedEvent } from '@concerto/client';

/** What the tab that watches tells the others. */
export type Told =
  | { readonly kind: 'event'; readonly event: WatchedEvent }
  /** What was known may be outdated. */
  | { readonly kind: 'anew' }
  | { readonly kind: 'state'; readonly state: ConnectionState['kind'] };

export type TabChannel = {
  readonly tell: (told: Told) => void;
  /** Resolves when this tab is the one that watches, and for as long as the work goes on. */
  readonly whenFirst: (work: () => Promise<void>) => Promise<void>;
};

const name = 'concerto.overview';

/**
 * A browser opens six connections to one server, so only one of its tabs watches everything, and tells the others. Where
 * the browser cannot agree on one (locks need a secure address), each watches for itself.
 */
export function openTabChannel(hear: (told: Told) => void): TabChannel {
  if (!('locks' in navigator) || !('BroadcastChannel' in window)) {
    return { tell: hear, whenFirst: (work) => work() };
  }
  const channel = new BroadcastChannel(name);
  // Only tabs of the same page speak here.
  channel.addEventListener('message', ({ data }: MessageEvent<Told>) => hear(data));
  return {
    tell: (told) => {
      hear(told);
      channel.postMessage(told);
    },
    whenFirst: async (work) => await navigator.locks.request(name, work),
  };
}
