import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { createApp } from '../../src/app.ts';
import { OpenConnections } from '../../src/open-connections.ts';
import { callApp, token } from '../called-app.ts';

/** Their suite waits for as long as it takes several times. */
export const longPollMs = 1_500;

type Written = { readonly id: string; readonly type: string; readonly base: string };

/**
 * The writing half of Durable Streams, for their suite alone: what it writes goes into a session's log as it is, and
 * what it reads is what our routes answer, with each entry taken out of its event again.
 */
export async function startWritingHalf(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const app = callApp();
  const { log, sessions } = app.context;
  const served = createAdaptorServer({
    fetch: createApp({ ...app.context, longPollMs }, () => {}, new OpenConnections()).fetch,
  });
  const ours = await listen(served);
  const streams = new Map<string, Written>();
  let created = 0;

  const read = async (stream: Written, search: URLSearchParams, init: RequestInit): Promise<Response> => {
    // What a session begins with is none of theirs.
    const offsets = search.getAll('offset').map((offset) => (offset === '-1' ? stream.base : offset));
    const query = new URLSearchParams([...search].filter(([key]) => key !== 'offset'));
    for (const offset of offsets.length === 0 && !search.has('live') ? [stream.base] : offsets) {
      query.append('offset', offset);
    }
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${token}`);
    return await fetch(`${ours}/api/streams/sessions/${stream.id}?${query}`, { ...init, headers });
  };
  const append = async ({ id, type }: Written, body: Buffer, closes: boolean): Promise<void> => {
    const raws = type === 'application/json' ? jsonTexts(body.toString()) : [body.toString('base64')];
    const entries = (body.length === 0 ? [] : raws).map((raw) => ({ type: 'raw', data: JSON.stringify({ raw }) }));
    const last = closes ? [{ type: 'finish', data: '{"type":"finish"}' }] : [];
    await log.append({ session: id, streams: [{ stream: 'events', entries: [...entries, ...last] }] });
  };
  const offsetHeaders = async (stream: Written): Promise<Record<string, string>> => {
    const { headers } = await read(stream, new URLSearchParams(), { method: 'HEAD' });
    const kept = ['stream-next-offset', 'stream-closed'].flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    return { ...Object.fromEntries(kept), 'x-content-type-options': 'nosniff' };
  };

  const create = async (path: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const type = request.headers['content-type'] ?? 'application/octet-stream';
    const known = streams.get(path);
    const body = await bodyOf(request);
    if (known !== undefined) {
      const isSame = known.type.toLowerCase() === type.toLowerCase();
      response.writeHead(isSame ? 200 : 409, { 'content-type': known.type, ...(await offsetHeaders(known)) }).end();
      return;
    }
    created += 1;
    const id = `stream-${created}`;
    const started = await sessions.start(
      { agent: 'echo', prompt: 'x', ifFull: 'queue', id: id as never },
      { actor: 'suite', key: undefined },
    );
    if (!started.ok) throw new Error(started.error.message);
    const base = String(await log.head(id, 'events')).padStart(16, '0');
    const stream = { id, type, base };
    streams.set(path, stream);
    await append(stream, body, request.headers['stream-closed'] === 'true');
    response.writeHead(201, { 'content-type': type, location: path, ...(await offsetHeaders(stream)) }).end();
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://suite');
    if (request.method === 'PUT') return await create(path, request, response);
    const stream = streams.get(path);
    if (stream === undefined) return void response.writeHead(404).end();
    if (request.method === 'DELETE') {
      streams.delete(path);
      return void response.writeHead(204).end();
    }
    if (request.method === 'POST') {
      await append(stream, await bodyOf(request), request.headers['stream-closed'] === 'true');
      return void response.writeHead(204, await offsetHeaders(stream)).end();
    }
    const left = new AbortController();
    response.on('close', () => left.abort());
    const conditional = request.headers['if-none-match'];
    const answer = await read(stream, searchParams, {
      method: request.method ?? 'GET',
      signal: left.signal,
      ...(conditional === undefined ? {} : { headers: { 'if-none-match': conditional } }),
    });
    await giveBack(stream, answer, response);
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const url = await listen(server);
  return {
    url,
    close: async () => {
      if ('closeAllConnections' in served) served.closeAllConnections();
      server.closeAllConnections();
      await Promise.all([
        new Promise((resolve) => served.close(resolve)),
        new Promise((resolve) => server.close(resolve)),
      ]);
      await app.close();
    },
  };
}

async function listen(
  server: ReturnType<typeof createServer> | ReturnType<typeof createAdaptorServer>,
): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function jsonTexts(text: string): readonly string[] {
  if (text === '') return [];
  const value: unknown = JSON.parse(text);
  return (Array.isArray(value) ? value : [value]).map((each) => JSON.stringify(each));
}

/** Our answer with what the suite wrote in place of the events that hold it. */
async function giveBack({ type }: Written, answer: Response, response: ServerResponse): Promise<void> {
  const contentType = answer.headers.get('content-type') ?? '';
  const isStream = contentType === 'text/event-stream';
  const isOurs = answer.ok || answer.status === 304;
  const binary = isStream && !/^(text\/|application\/json)/.test(type) ? { 'stream-sse-data-encoding': 'base64' } : {};
  const names = ['content-length', 'transfer-encoding', 'connection', 'keep-alive', 'date', 'content-type'];
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !names.includes(name)));
  response.writeHead(answer.status, {
    ...headers,
    ...binary,
    'content-type': isOurs && !isStream ? type : contentType,
  });
  if (answer.body === null || !isOurs) return void response.end(answer.body === null ? '' : await answer.text());
  if (!isStream) {
    const text = await answer.text();
    return void response.end(text === '' ? '' : rawOf(type, text));
  }
  let rest = '';
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) response.write(`${frameOf(type, block)}\n\n`);
  }
  response.end();
}

function frameOf(type: string, block: string): string {
  const data = /^event: data\ndata:(.*)$/s.exec(block)?.[1];
  if (data === undefined) return block;
  const raw = rawOf(type, data);
  const isText = type.startsWith('text/') || type === 'application/json';
  const lines = (isText ? raw.toString() : raw.toString('base64')).split(/\r\n|\r|\n/);
  return ['event: data', ...lines.map((line) => `data:${line}`)].join('\n');
}

function rawOf(type: string, json: string): Buffer {
  const events: readonly { readonly raw?: string }[] = JSON.parse(json);
  const raws = events.flatMap(({ raw }) => raw ?? []);
  if (type === 'application/json') return Buffer.from(`[${raws.join(',')}]`);
  return Buffer.concat(raws.map((raw) => Buffer.from(raw, 'base64')));
}
