import { ClientError, type ConcertoClient } from '@concerto/client';
import { ProseFold } from '@concerto/wires';
import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';

export const sessionsUri = 'concerto://sessions';
const listMax = 100;

export function sessionUri(id: string): string {
  return `${sessionsUri}/${id}`;
}

/** Sessions to read: what was said in each, as text. */
export function registerSessions(server: McpServer, client: ConcertoClient): void {
  server.registerResource(
    'sessions',
    sessionsUri,
    { title: 'Sessions', description: 'All sessions, the newest first', mimeType: 'application/json' },
    async () => {
      const { sessions } = await client.list({ limit: listMax });
      return { contents: [{ uri: sessionsUri, mimeType: 'application/json', text: JSON.stringify(sessions) }] };
    },
  );
  const template = new ResourceTemplate(`${sessionsUri}/{id}`, {
    list: async () => {
      const { sessions } = await client.list({ limit: listMax });
      return {
        resources: sessions.map(({ id, title, agent, status }) => ({
          uri: sessionUri(id),
          name: title,
          description: `${agent}: ${status}`,
          mimeType: 'text/markdown',
        })),
      };
    },
  });
  server.registerResource(
    'session',
    template,
    { title: 'Session', description: 'What was said and done in a session', mimeType: 'text/markdown' },
    async (uri, { id }) => {
      const { text } = await readSession(client, String(id), 0);
      return { contents: [{ uri: uri.href, mimeType: 'text/markdown', text }] };
    },
  );
}

/** All that follows a position, as text. */
export async function readSession(
  client: ConcertoClient,
  id: string,
  after: number,
): Promise<{ readonly text: string; readonly fold: ProseFold }> {
  const fold = new ProseFold();
  let text = '';
  const head = (await client.get(id)).position;
  // As over HTTP. It is that of another session, and what this one said until then would be left out.
  if (after > head) throw new ClientError('cursor_ahead', `the position ${after} is beyond the end, ${head}`);
  if (head === 0) return { text, fold };
  for await (const event of client.follow(id)) {
    const said = fold.take(event);
    if (event.seq > after) text += said;
    if (event.seq >= head) break;
  }
  return { text, fold };
}
