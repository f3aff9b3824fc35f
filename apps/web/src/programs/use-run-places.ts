import { useMemo } from 'react';
import { useFeedOf } from '../session/use-session-feed.ts';

export type Place = { readonly path: string; readonly line: number };

/** Where a run of a program stands in its source now; nowhere once it is over. */
export function useRunPlaces(run: string | undefined): readonly Place[] {
  const { view } = useFeedOf(run);
  const turn = view.turns.at(-1);
  const locations = turn?.state === 'running' ? turn.locations : undefined;
  return useMemo(
    () => (locations ?? []).flatMap(({ path, line }) => (line === undefined ? [] : [{ path, line }])),
    [locations],
  );
}
