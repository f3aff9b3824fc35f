import { type ConcertoClient, concertoClient } from '@concerto/client';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { registerSessions, sessionsUri, sessionUri } from './session-resources.ts';
import { registerTools } from './session-tools.ts';

type About = { readonly version: string };

const instructions =
  'Start agents and follow, steer, answer and stop them. `start_session` begins one; `wait_for_session` waits until it is done or asks something; `answer_request` answers.';

/** A server that does what its caller may do, as whoever's token the client has. */
function mcpServerFor(client: ConcertoClient, { version }: About): McpServer {
  const server = new McpServer(
    { name: 'concerto', version, title: 'Concerto' },
    { instructions, capabilities: { resources: { subscribe: true, listChanged: true }, tools: {} } },
  );
  registerTools(server, client);
  registerSessions(server, client);
  return server;
}

/** On standard input and output, until the other side leaves. */
export async function mcpOverStdio(
  client: ConcertoClient,
  about: About & { readonly signal: AbortSignal },
): Promise<void> {
  const left = new AbortController();
  const signal = AbortSignal.any([left.signal, about.signal]);
  const handle = serveStdio((context) => {
    const server = mcpServerFor(client, about);
    const subscribed = new Set<string>();
    if (context.era === 'legacy') {
      server.server.setRequestHandler('resources/subscribe', ({ params }) => {
        subscribed.add(params.uri);
        return {};
      });
      server.server.setRequestHandler('resources/unsubscribe', ({ params }) => {
        subscribed.delete(params.uri);
        return {};
      });
    }
    // The newer protocol knows itself what was asked for.
    const tell = (uri: string): void => {
      if (context.era === 'legacy' && !subscribed.has(uri)) return;
      server.server.sendResourceUpdated({ uri }).catch(() => undefined);
    };
    void watch(client, signal, tell);
    return server;
  });
  process.stdin.once('end', () => left.abort());
  process.stdin.once('close', () => left.abort());
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });
  await handle.close();
}

/** Which resources have changed, as long as anybody wants to know. */
async function watch(client: ConcertoClient, signal: AbortSignal, tell: (uri: string) => void): Promise<void> {
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

/** One call of the streamable HTTP transport; `authorization` is the caller's own. */
export type McpDoor = {
  readonly answer: (request: Request, authorization: string | undefined) => Promise<Response>;
  readonly close: () => Promise<void>;
};

/** Everything that is asked is a call of the API with the caller's own token: what it may not do there, it may not here. */
export function mcpOverHttp(about: About & { readonly url: () => string }): McpDoor {
  const handler = createMcpHandler((context) => {
    const token = /^Bearer\s+(.+)$/i.exec(context.requestInfo?.headers.get('authorization') ?? '')?.[1];
    return mcpServerFor(concertoClient({ url: about.url(), ...(token === undefined ? {} : { token }) }), about);
  });
  return {
    answer: async (request, authorization) => {
      if (authorization !== undefined && request.headers.get('authorization') === null) {
        const headers = new Headers(request.headers);
        headers.set('authorization', authorization);
        return await handler.fetch(new Request(request, { headers }));
      }
      return await handler.fetch(request);
    },
    close: () => handler.close(),
  };
}
