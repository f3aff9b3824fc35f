import type { Session } from '@concerto/protocol';
import { useState } from 'react';

export type Selection = {
  /** Undefined while nothing is being selected. */
  readonly ids: ReadonlySet<string> | undefined;
  readonly toggle: (id: string) => void;
  readonly start: () => void;
  readonly end: () => void;
  /** Those that are selected and still listed; what a program opened goes with it and is none of them. */
  readonly of: (sessions: readonly Session[]) => readonly Session[];
  readonly all: (sessions: readonly Session[]) => void;
};

export function useSelection(): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>();
  return {
    ids,
    toggle: (id) =>
      setIds((now) => {
        const next = new Set(now);
        if (!next.delete(id)) next.add(id);
        return next;
      }),
    start: () => setIds(new Set()),
    end: () => setIds(undefined),
    of: (sessions) => sessions.filter(({ id }) => ids?.has(id) === true),
    all: (sessions) => setIds(new Set(sessions.map(({ id }) => id))),
  };
}
