import { checkAppend } from './check-append.ts';
import type { Append, Appended, Positions, StreamName } from './event-log.ts';

export type Done = Extract<Appended, { kind: 'appended' }>;
export type Refused = Exclude<Appended, Done>;

type HeadOf = (session: string, stream: StreamName) => number;

/** How a store that joins does one append, within its commit. */
type AppendOne = {
  readonly headOf: HeadOf;
  readonly refusal: (append: Append) => Refused | undefined;
  readonly append: (append: Append) => Done;
};

/** An append that was checked, and what follows from it: who says what that is is asked before anything is written. */
export function appendBoth(request: Append, store: AppendOne): Appended {
  const refused = store.refusal(request);
  if (refused !== undefined) return refused;
  const next = request.next?.(positionsAfter(request, store.headOf));
  if (next !== undefined) checkAppend(next);
  if (request.joined && (next === undefined || store.refusal(next) !== undefined)) return { kind: 'unjoined' };
  const first = store.append(request);
  return next === undefined ? first : { ...first, next: appendBoth(next, store) };
}

/** Where the streams that it names will stand. */
function positionsAfter({ session, streams }: Append, headOf: HeadOf): Positions {
  const positions: Partial<Record<StreamName, number>> = {};
  for (const { stream, entries } of streams) {
    let position = positions[stream] ?? headOf(session, stream);
    for (const { aside } of entries) if (aside === undefined) position++;
    positions[stream] = position;
  }
  return positions;
}
