import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as z from 'zod';

export type McpHttpServer = {
  readonly url: string;
  /** Different `Authorization` headers seen. */
  readonly authorizations: () => readonly string[];
  readonly sessions: () => number;
  /** As one that was started again: it knows none of its sessions any more. */
  readonly forget: () => void;
  readonly close: () => Promise<void>;
};

/** A server of the official SDK on loopback: the published ones listen on every interface. */
export async function startMcpHttpServer(
  kind: 'http' | 'sse',
  { refuse = false }: { readonly refuse?: boolean } = {},
): Promise<McpHttpServer> {
  const seen = new Set<string>();
  const http = new Map<string, StreamableHTTPServerTransport>();
  const sse = new Map<string, SSEServerTransport>();

  const serveHttp = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = request.headers['mcp-session-id'];
    if (typeof id === 'string') {
      const known = http.get(id);
      if (known !== undefined) return known.handleRequest(request, response);
      const error = { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } };
      response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(error));
      return;
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => void http.set(session, transport),
      onsessionclosed: (session) => void http.delete(session),
    });
    await calculator().connect(transport as never);
    await transport.handleRequest(request, response);
  };

  const serveSse = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'GET') {
      const transport = new SSEServerTransport('/messages', response);
      sse.set(transport.sessionId, transport);
      response.on('close', () => sse.delete(transport.sessionId));
      await calculator().connect(transport);
      return;
    }
    const id = new URL(request.url ?? '/', 'http://localhost').searchParams.get('sessionId') ?? '';
    const known = sse.get(id);
    if (known === undefined) response.writeHead(404).end('Session not found');
    else await known.handlePostMessage(request, response);
  };

  const server = createServer((request, response) => {
    if (request.headers.authorization !== undefined) seen.add(request.headers.authorization);
    if (refuse) {
      response.writeHead(403).end(`forbidden for ${request.headers.authorization ?? ''}`);
      return;
    }
    (kind === 'http' ? serveHttp : serveSse)(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/${kind === 'http' ? 'mcp' : 'sse'}`,
    authorizations: () => [...seen],
    sessions: () => http.size + sse.size,
    forget: () => {
      http.clear();
      if (sse.size > 0) server.closeAllConnections();
      sse.clear();
    },
    close: async () => {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function calculator(): McpServer {
  const server = new McpServer({ name: 'calculator', version: '1.0.0' });
  server.registerTool(
    'add',
    {
      description: 'Adds two numbers',
      inputSchema: { a: z.number(), b: z.number() },
      outputSchema: { sum: z.number() },
    },
    ({ a, b }) => ({ content: [{ type: 'text', text: `${a + b}` }], structuredContent: { sum: a + b } }),
  );
  return server;
}
