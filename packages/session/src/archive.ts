import { GrownMap } from './grown-map.ts';

/**
 * Things by id, most of which are over. The few that are not are at hand in `live`; the rest has grown by one with each that
 * was closed, and every older version stays as it was. A long session would otherwise take quadratic time to load.
 */
export type Archive<V> = {
  readonly live: ReadonlyMap<string, V>;
  readonly closed: GrownMap<V>;
};

export function emptyArchive<V>(): Archive<V> {
  return { live: new Map(), closed: GrownMap.empty() };
}

export function find<V>(archive: Archive<V>, id: string): V | undefined {
  return archive.live.get(id) ?? archive.closed.get(id);
}

/** Adds or changes one that is not over. */
export function keep<V>(archive: Archive<V>, id: string, value: V): Archive<V> {
  return { live: copyOf(archive.live).set(id, value), closed: archive.closed };
}

/** Its last change. */
export function close<V>(archive: Archive<V>, id: string, value: V): Archive<V> {
  const live = copyOf(archive.live);
  live.delete(id);
  return { live, closed: archive.closed.with(id, value) };
}

/** In the order in which they were closed. */
export function closedValues<V>(archive: Archive<V>): readonly V[] {
  return archive.closed.values();
}

/** Not `new Map(map)`, which makes a list of every pair of it. */
function copyOf<V>(map: ReadonlyMap<string, V>): Map<string, V> {
  const copy = new Map<string, V>();
  for (const [id, value] of map) copy.set(id, value);
  return copy;
}
