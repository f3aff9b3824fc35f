import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/open-browser.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';

/** A page on another port: another origin, as a console of one's own is. */
async function startPage(): Promise<{ readonly origin: string; close(): void }> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>console</title>');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, close: () => void server.close() };
}

const ours = await startPage();
const others = await startPage();
let puppets: PuppetServer;
let browser: Browser;

beforeAll(async () => {
  puppets = await startPuppetServer({ manifest: `[server]\nallowed_origins = ["${ours.origin}"]\n` });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await puppets.close();
  ours.close();
  others.close();
});

const ask = (id: string): object => ({ ask: { type: 'question', id, question: `${id}?` } });
const suspend = (event: { type: string }): boolean => event.type === 'waitForInput';

describe('a client that answers whatever it reads', () => {
  const start = async (): Promise<string> => {
    const objective = steps(ask('one'), ask('two'), { say: { type: 'result', text: 'done' } });
    return (await puppets.api.post('/api/agent/run', { agent: 'puppet', objective })).body.runId;
  };
  const events = (id: string, fits: (event: any) => boolean) =>
    puppets.api.eventsUntil(`/api/agent/${id}/events`, fits);
  const answer = (id: string, request: string, response: unknown) =>
    puppets.api.post(`/api/agent/${id}/input`, { request_id: request, response });

  test('reloaded with a second question open it is offered that one alone; at the end none', async () => {
    const id = await start();
    const first = (await events(id, suspend)).at(-1);
    expect((await answer(id, first.requestId, 'a')).status).toBe(200);
    const reloaded = await events(id, suspend);
    const second = reloaded.at(-1);
    expect(second.requestId).not.toBe(first.requestId);
    expect(reloaded.filter(suspend)).toHaveLength(1);
    expect((await answer(id, second.requestId, 'b')).status).toBe(200);
    await events(id, ({ type }) => type === 'finish');
    expect((await events(id, ({ type }) => type === 'finish')).filter(suspend)).toEqual([]);
    // A client with sessions sees them all, and how they were settled.
    const all = await puppets.api.eventsUntil(`/api/sessions/${id}/events`, ({ type }) => type === 'finish');
    expect(all.filter(suspend)).toHaveLength(2);
    expect(all.filter(({ type }) => type === 'requestSettled')).toHaveLength(2);
  });

  test('as the slower of two tabs: the same answer is fine, another is not', async () => {
    const id = await start();
    const { requestId } = (await events(id, suspend)).at(-1);
    expect((await answer(id, requestId, 'a')).status).toBe(200);
    expect((await answer(id, requestId, 'a')).status).toBe(200);
    expect((await answer(id, requestId, 'b')).status).toBe(409);
  });
});

describe('pages of other origins', () => {
  const run = async (origin: string): Promise<unknown> => {
    const page = await browser.newPage();
    await page.goto(origin);
    const { url, token } = puppets.server;
    try {
      return await page.evaluate(
        async ([server, secret]) => {
          const started = await fetch(`${server}/api/agent/run`, {
            method: 'POST',
            headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'idempotency-key': 'k' },
            body: JSON.stringify({ agent: 'puppet', objective: 'hello' }),
          });
          const { runId } = await started.json();
          const wrong = await fetch(`${server}/api/sessions/none`, { headers: { authorization: `Bearer ${secret}` } });
          // A header of a protocol that is spoken here, and one of the answer.
          const spoken = await fetch(`${server}/mcp`, {
            method: 'POST',
            headers: {
              authorization: `Bearer ${secret}`,
              'content-type': 'application/json',
              accept: 'application/json, text/event-stream',
              'mcp-protocol-version': '2025-06-18',
            },
            body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
          });
          const source = new EventSource(`${server}/api/agent/${runId}/events?token=${secret}`);
          const types: string[] = [];
          await new Promise<void>((resolve, reject) => {
            source.onmessage = ({ data }) => {
              types.push(JSON.parse(data).type);
              if (types.at(-1) === 'finish') resolve();
            };
            source.onerror = () => reject(new Error('the stream was refused'));
          });
          source.close();
          return { wrong: wrong.status, spoken: [spoken.status, spoken.headers.has('x-request-id')], types };
        },
        [url, token] as const,
      );
    } finally {
      await page.close();
    }
  };

  test('one that is allowed posts, hears the events, and reads a refusal', async () => {
    expect(await run(ours.origin)).toMatchObject({
      wrong: 404,
      spoken: [200, true],
      types: expect.arrayContaining(['start', 'functionCall', 'content', 'turnComplete', 'complete', 'finish']),
    });
  });

  test('any other is refused by us and by its browser', async () => {
    await expect(run(others.origin)).rejects.toThrow(/Failed to fetch/);
    const told = { headers: { origin: others.origin, authorization: `Bearer ${puppets.server.token}` } };
    const refused = await fetch(`${puppets.server.url}/api/pool`, told);
    expect(refused.status).toBe(403);
    expect(refused.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('a token in the address is taken from an allowed page for a stream, and from nobody else', async () => {
    const { url, token } = puppets.server;
    const of = async (path: string, origin?: string): Promise<number> =>
      (await fetch(`${url}${path}?token=${token}`, origin === undefined ? {} : { headers: { origin } })).status;
    expect(await of('/api/sessions', ours.origin)).toBe(401);
    expect(await of('/api/sessions/none/events')).toBe(401);
    expect(await of('/api/sessions/none/events', ours.origin)).toBe(404);
  });
});
