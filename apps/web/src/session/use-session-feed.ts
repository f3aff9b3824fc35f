import { useMemo, useSyncExternalStore } from 'react';
import { client } from '../client.ts';
import { emptyFeed, type FeedState, SessionFeed } from './session-feed.ts';

export function useSessionFeed(id: string) {
  const feed = useMemo(() => new SessionFeed(client, id), [id]);
  return {
    feed: useSyncExternalStore(feed.subscribe, feed.state),
    retry: feed.retry,
    hold: feed.hold,
    readEarlier: feed.readEarlier,
  };
}

const nothing = () => () => {};
const emptyState = () => emptyFeed;

/** The same for whoever may have none to follow. */
export function useFeedOf(id: string | undefined): FeedState {
  const feed = useMemo(() => (id === undefined ? undefined : new SessionFeed(client, id)), [id]);
  return useSyncExternalStore(feed?.subscribe ?? nothing, feed?.state ?? emptyState);
}
