import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

export type TestServer = {
  readonly url: string;
  /** Method, path and body of each request so far. */
  readonly seen: { readonly line: string; readonly headers: IncomingMessage['headers']; readonly body: string }[];
};

/** A real server on loopback whose behaviour a test writes; gone after the test. */
export async function testServer(handle: Handler): Promise<TestServer> {
  const seen: TestServer['seen'] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      seen.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
      handle(request, response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, seen };
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const type = status >= 400 ? 'application/problem+json' : 'application/json';
  response.writeHead(status, { 'content-type': type }).end(JSON.stringify(value));
}

export function problem(status: number, code: string, members: object = {}): object {
  return { type: `urn:concerto:problem:${code}`, title: 'No', status, code, detail: `because ${code}`, ...members };
}

export function session(status: string, position: number): object {
  return {
    id: 's1',
    title: 't',
    kind: 'agent',
    agent: 'demo',
    status,
    turn: 1,
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    pending: 0,
    usage: { inputTokens: 0, outputTokens: 0 },
    position,
  };
}

/** `length` events, the last of them `finish`. */
export function history(length: number): string[] {
  return Array.from({ length }, (_, index) => {
    const seq = index + 1;
    const event = seq === length ? { type: 'finish' } : { type: 'thought', text: `é 漢 ${seq}` };
    return JSON.stringify({ ...event, at: '2026-01-01T00:00:00.000Z', seq });
  });
}

export function frame(event: string): string {
  return `id: ${(JSON.parse(event) as { seq: number }).seq}\ndata: ${event}\n\n`;
}
