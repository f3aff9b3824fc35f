import { randomUUID } from 'node:crypto';
import type { ConcertoClient } from '@concerto/client';
import {
  isInitializeRequest,
  readRequestBody,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { serveSubscriptions } from './resource-updates.ts';
import { mcpServerFor, type Serving } from './serve-mcp.ts';

/** As many connections are held; the one that was used longest ago makes room, and its client opens another. */
const connectionsMax = 200;
const bodyBytesMax = 4 * 1024 * 1024;

type Caller = { readonly token: string | undefined; readonly client: ConcertoClient };
type Connection = {
  readonly token: string | undefined;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly close: () => Promise<void>;
};

/** Connections of 2025-11-25 (`Mcp-Session-Id`): they hear of changes, and can be asked something. */
export class HttpSessions {
  readonly #about: Omit<Serving, 'subscribe'>;
  readonly #max: number;
  /** The one that was used last is the last. */
  readonly #connections = new Map<string, Connection>();

  constructor(about: Omit<Serving, 'subscribe'>, max = connectionsMax) {
    this.#about = about;
    this.#max = max;
  }

  /** Undefined: it neither has a connection nor opens one. */
  async answer(request: Request, caller: Caller): Promise<Response | undefined> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) return (await opens(request)) ? await this.#open(request, caller) : undefined;
    const connection = this.#connections.get(id);
    // Who has another token is told of no connection of somebody else.
    if (connection === undefined || connection.token !== caller.token) return noSuchConnection();
    this.#connections.delete(id);
    this.#connections.set(id, connection);
    return await connection.transport.handleRequest(request);
  }

  async close(): Promise<void> {
    for (const { close } of this.#connections.values()) await close();
    this.#connections.clear();
  }

  async #open(request: Request, { token, client }: Caller): Promise<Response> {
    const left = new AbortController();
    const server = mcpServerFor(client, { ...this.#about, subscribe: true });
    serveSubscriptions(server, client, left.signal);
    const close = async (): Promise<void> => {
      left.abort();
      await server.close();
    };
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => this.#keep(id, { token, transport, close }),
      onsessionclosed: (id) => {
        left.abort();
        this.#connections.delete(id);
      },
    });
    await server.connect(transport);
    return await transport.handleRequest(request);
  }

  #keep(id: string, connection: Connection): void {
    this.#connections.set(id, connection);
    const [oldest] = this.#connections;
    if (oldest === undefined || this.#connections.size <= this.#max) return;
    this.#connections.delete(oldest[0]);
    oldest[1].close().catch(() => undefined);
  }
}

async function opens(request: Request): Promise<boolean> {
  if (request.method !== 'POST') return false;
  const body = await readRequestBody(request.clone(), bodyBytesMax);
  if (body.tooLarge) return false;
  try {
    return isInitializeRequest(JSON.parse(body.text));
  } catch {
    return false;
  }
}

function noSuchConnection(): Response {
  const error = { code: -32_001, message: 'Session not found' };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 });
}
