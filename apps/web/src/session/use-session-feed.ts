import { useMemo, useSyncExternalStore } from 'react';
import { client } from '../client.ts';
import { SessionFeed } from './session-feed.ts';

export function useSessionFeed(id: string) {
  const feed = useMemo(() => new SessionFeed(client, id), [id]);
  return {
    feed: useSyncExternalStore(feed.subscribe, feed.state),
    retry: feed.retry,
    hold: feed.hold,
    readEarlier: feed.readEarlier,
  };
}
