import type { ConcertoClient } from '@concerto/client';

const pageSize = 200;
/** A beginning is looked for among this many; older sessions are named in full. */
const lookedAt = 1_000;
const listedMax = 5;

/** The session that `last` or the beginning of an id means. Throws with what there is when it means none, or several. */
export async function idMeant(client: ConcertoClient, given: string): Promise<string> {
  if (given === 'last') {
    const [newest] = (await client.list({ limit: 1 })).sessions;
    if (newest === undefined)
      throw new Error('there is no session yet; start one: concerto sessions start AGENT "PROMPT"');
    return newest.id;
  }
  const matches = await idsThatBegin(client, given);
  const [only, ...others] = matches;
  if (only === undefined)
    throw new Error(`there is no session ${JSON.stringify(given)}; \`concerto sessions ls\` lists them`);
  if (others.length > 0) {
    const shown = matches.slice(0, listedMax).join(', ');
    const more = matches.length > listedMax ? ` and ${matches.length - listedMax} more` : '';
    throw new Error(`${JSON.stringify(given)} begins ${matches.length} ids: ${shown}${more}; write more of it`);
  }
  return only;
}

async function idsThatBegin(client: ConcertoClient, given: string): Promise<readonly string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  for (let seen = 0; seen < lookedAt; seen += pageSize) {
    const page = await client.list({ limit: pageSize, ...(cursor === undefined ? {} : { cursor }) });
    // Ids that we mint begin alike; nobody types what all of them have.
    found.push(
      ...page.sessions.map(({ id }) => id).filter((id) => id.startsWith(given) || id.startsWith(`s_${given}`)),
    );
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  return found;
}
