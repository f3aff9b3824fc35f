import type { Message } from '@concerto/protocol';

/** Those whose order can be changed: the ones of the later lane that have not been handed over. */
export function movable(pending: readonly Message[]): readonly string[] {
  return pending
    .filter(({ priority, inFlight, uncertain }) => priority === 'queued' && inFlight !== true && uncertain !== true)
    .map(({ id }) => id);
}

/** The ids with one of them moved by some places; the same list when it is already at that end. */
export function moved(ids: readonly string[], id: string, by: number): readonly string[] {
  const from = ids.indexOf(id);
  const to = Math.min(ids.length - 1, Math.max(0, from + by));
  if (from === -1 || to === from) return ids;
  const rest = ids.filter((other) => other !== id);
  return [...rest.slice(0, to), id, ...rest.slice(to)];
}
