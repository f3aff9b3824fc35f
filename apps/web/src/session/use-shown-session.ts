import type { Turn } from '@concerto/protocol';
import { useMemo } from 'react';
import { client } from '../client.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import type { ShownSession } from './shown-session.ts';
import { useFork } from './use-fork.ts';

/** What is known of the session beside its events, for what stands deep in its page; and what of it can be switched. */
export function useShownSession(id: string, turns: readonly Turn[]) {
  const { value: about } = useFetched((signal) => client.agent(id, { signal }), { key: id });
  const fork = useFork(id, turns);
  const { folder, canFork, live = [] } = about ?? {};
  const context = useMemo(
    (): ShownSession => ({ id, folder, fork: canFork === true ? fork : undefined }),
    [id, folder, canFork, fork],
  );
  return { context, live } as const;
}
