import type { Session } from '@concerto/protocol';
import { useSyncExternalStore } from 'react';
import { client } from '../client.ts';
import { OverviewFeed, type OverviewState } from './overview-feed.ts';

/** One for every view of this tab. */
export const overview = new OverviewFeed(client);

export function useOverview(): OverviewState {
  return useSyncExternalStore(overview.subscribe, overview.state);
}

/** Those that wait for a person, wherever one is in the page. */
export function useWaiting(): readonly Session[] {
  return useSyncExternalStore(overview.subscribe, () => overview.state().waiting);
}

/** How many that are; `200+` where not all were read. */
export function useWaitingCount(): string {
  return useSyncExternalStore(overview.subscribe, () => {
    const { waiting, mayMoreWait } = overview.state();
    return `${waiting.length}${mayMoreWait ? '+' : ''}`;
  });
}

/** What is known now of one; undefined when nothing has changed since the page was opened and it is an old one. */
export function useRow(id: string): Session | undefined {
  return useSyncExternalStore(overview.subscribe, () => overview.state().rows?.get(id));
}
