/**
 * Things by id, most of which are over. The few that are not are at hand in `live`; the rest is kept in ever larger
 * maps, so that closing one copies a logarithmic part and every older version stays as it was. A long session would
 * otherwise take quadratic time to load.
 */
export type Archive<V> = {
  readonly live: ReadonlyMap<string, V>;
  /** Largest first; each at least twice the next. */
  readonly closed: readonly ReadonlyMap<string, V>[];
};

export function emptyArchive<V>(): Archive<V> {
  return { live: new Map(), closed: [] };
}

export function find<V>(archive: Archive<V>, id: string): V | undefined {
  return archive.live.get(id) ?? archive.closed.findLast((part) => part.has(id))?.get(id);
}

/** Adds or changes one that is not over. */
export function keep<V>(archive: Archive<V>, id: string, value: V): Archive<V> {
  return { live: new Map(archive.live).set(id, value), closed: archive.closed };
}

/** Its last change. */
export function close<V>(archive: Archive<V>, id: string, value: V): Archive<V> {
  const live = new Map(archive.live);
  live.delete(id);
  const closed = [...archive.closed];
  let newest: ReadonlyMap<string, V> = new Map([[id, value]]);
  for (;;) {
    const last = closed.at(-1);
    if (last === undefined || last.size > newest.size) break;
    closed.pop();
    newest = new Map([...last, ...newest]);
  }
  return { live, closed: [...closed, newest] };
}

/** In the order in which they were closed. */
export function closedValues<V>(archive: Archive<V>): readonly V[] {
  return archive.closed.flatMap((part) => [...part.values()]);
}
