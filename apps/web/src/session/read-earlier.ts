import type { ConcertoClient, FollowedEvent } from '@concerto/client';
import { type Entry, SessionFold, type Turn } from '@concerto/protocol';

/** How many events are read at a time. */
const partEvents = 1000;
/** What a part asked and called is often settled a little later. */
const settlingEvents = 500;
const settles: ReadonlySet<string> = new Set(['functionResult', 'toolOutput', 'requestSettled', 'requestRouted']);

type Reader = Pick<ConcertoClient, 'get' | 'follow'>;

export type Part = {
  readonly turns: readonly Turn[];
  /** The position before its first event. */
  readonly from: number;
};

/** The turns of some events before and at a position, numbered so that `next` goes on after them. */
export async function readEarlier(
  client: Reader,
  id: string,
  place: { readonly to: number; readonly next: Turn | undefined },
): Promise<Part> {
  const { to, next } = place;
  const from = Math.max(0, to - partEvents);
  const events = await eventsBetween(client, id, { from, to: to + settlingEvents });
  const begun = events.filter(({ type, seq }) => type === 'start' && seq <= to).length;
  // The turn that follows this part goes on from it, or is a new one.
  const number = next === undefined ? begun : next.number - (next.isCut ? 0 : 1);
  const fold = new SessionFold({ turnsBefore: Math.max(0, number - begun) });
  const calls = new Set(events.flatMap((event) => (event.type === 'functionCall' ? [event.callId] : [])));
  fold.takeAll(
    events.filter((event) => {
      // What came of a call in the part before stands there.
      if ('callId' in event && event.callId !== undefined && !calls.has(event.callId)) return false;
      return event.seq <= to || settles.has(event.type);
    }),
  );
  // What is open to this day stands with the newer ones.
  const isShown = (entry: Entry): boolean => entry.key <= to && !isOpen(entry);
  const turns = fold.view.turns.map((turn) => ({
    ...turn,
    entries: turn.entries.filter(isShown),
    isCut: turn.objective === undefined,
  }));
  return { turns, from };
}

async function eventsBetween(
  client: Reader,
  id: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly FollowedEvent[]> {
  const { position } = await client.get(id);
  const last = Math.min(to, position);
  const events: FollowedEvent[] = [];
  for await (const event of client.follow(id, { after: from })) {
    events.push(event);
    if (event.seq >= last) break;
  }
  return events;
}

function isOpen(entry: Entry): boolean {
  if (entry.kind === 'tool') return entry.state === 'running';
  return entry.kind === 'request' && entry.settled === undefined;
}
