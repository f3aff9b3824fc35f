import type { Turn } from '@concerto/protocol';
import { useCallback, useEffect, useRef } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { sessionPath } from '../routing/route.ts';
import { navigate } from '../routing/use-location.ts';
import { post } from '../shell/notice-board.ts';

/** Begins another session with what was said in this one, up to the end of a turn, and goes there. */
export function useFork(id: string, turns: readonly Turn[]): (turn: number) => void {
  const known = useRef(turns);
  useEffect(() => {
    known.current = turns;
  }, [turns]);
  return useCallback(
    (turn) => {
      const next = known.current.find(({ number }) => number === turn + 1);
      client.fork(id, next === undefined ? {} : { at: next.key - 1 }).then(
        (forked) => navigate(sessionPath(forked.id)),
        (cause: unknown) => post('bad', failureOf(cause).text),
      );
    },
    [id],
  );
}
