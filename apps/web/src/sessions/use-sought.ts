import type { Session } from '@concerto/protocol';
import { client } from '../client.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { useOverview } from '../live/use-overview.ts';
import type { Wish } from './overview.ts';

/** Whoever types on is not done. */
const typedMs = 250;
const hitsMax = 200;
/** One call looks through a part of what was said. */
const callsMax = 50;

const none: ReadonlyMap<string, Session> = new Map();

export type Sought = { readonly hits: ReadonlyMap<string, Session>; readonly isLooking: boolean };

/** Sessions in whose texts the words are: what the rows at hand do not say. */
export function useSought({ sought, isArchive }: Wish): Sought {
  const words = sought.trim();
  const { rows } = useOverview();
  const { value, error } = useFetched((signal) => look(words, isArchive, signal), {
    key: `${isArchive} ${words}`,
    // What was put away or deleted is no hit any more.
    revision: rows?.size ?? 0,
  });
  return { hits: value ?? none, isLooking: words !== '' && value === undefined && error === undefined };
}

async function look(q: string, archived: boolean, signal: AbortSignal): Promise<ReadonlyMap<string, Session>> {
  if (q === '') return none;
  await new Promise((resolve) => setTimeout(resolve, typedMs));
  const hits = new Map<string, Session>();
  let cursor: string | undefined;
  for (let calls = 0; calls < callsMax && hits.size < hitsMax && !signal.aborted; calls++) {
    const page = await client.list(
      { q, archived, tree: true, ...(cursor === undefined ? {} : { cursor }) },
      { signal },
    );
    for (const session of page.sessions) hits.set(session.id, session);
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  return hits;
}
