import type { ConcertoClient } from '@concerto/client';
import type { McpServer } from '@modelcontextprotocol/server';
import { sessionsUri, sessionUri } from './session-resources.ts';

/** Which resources have changed, as long as anybody wants to know. */
export async function watchResources(
  client: ConcertoClient,
  signal: AbortSignal,
  tell: (uri: string) => void,
): Promise<void> {
  try {
    for await (const event of client.watch({ signal })) {
      if (event.type !== 'session') continue;
      tell(sessionUri(event.summary.id));
      tell(sessionsUri);
    }
  } catch {
    // The server is gone or refuses: whoever asks for something is told so.
  }
}

/** Subscriptions of a connection of 2025-11-25; with the first one, changes are watched. */
export function serveSubscriptions({ server }: McpServer, client: ConcertoClient, signal: AbortSignal): void {
  const subscribed = new Set<string>();
  let watching: Promise<void> | undefined;
  server.setRequestHandler('resources/subscribe', ({ params }) => {
    subscribed.add(params.uri);
    watching ??= watchResources(client, signal, (uri) => {
      if (subscribed.has(uri)) server.sendResourceUpdated({ uri }).catch(() => undefined);
    });
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
}
