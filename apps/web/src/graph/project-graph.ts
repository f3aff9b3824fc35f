import { useEffect, useSyncExternalStore } from 'react';
import { client } from '../client.ts';
import { overview } from '../live/use-overview.ts';
import { post } from '../shell/notice-board.ts';
import { type GraphState, GraphStore } from './graph-store.ts';

/** One for every view of this tab. */
export const graphStore = new GraphStore({ client, complain: (text) => post('bad', text) });

/** The project's graph as it is now, whoever changes it. */
export function useGraph(): GraphState {
  useEffect(() => {
    let heard = overview.state().graphs;
    void graphStore.sync();
    return overview.subscribe(() => {
      const { graphs } = overview.state();
      if (graphs === heard) return;
      heard = graphs;
      void graphStore.sync();
    });
  }, []);
  return useSyncExternalStore(graphStore.subscribe, graphStore.state);
}
