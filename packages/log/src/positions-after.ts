import type { Append, Positions, StreamName } from './event-log.ts';

/** Where the streams that it names will stand: who says what follows from it is asked before anything is written. */
export function positionsAfter(
  { session, streams }: Append,
  headOf: (session: string, stream: StreamName) => number,
): Positions {
  const positions: Partial<Record<StreamName, number>> = {};
  for (const { stream, entries } of streams) {
    let position = positions[stream] ?? headOf(session, stream);
    for (const { aside } of entries) if (aside === undefined) position++;
    positions[stream] = position;
  }
  return positions;
}
