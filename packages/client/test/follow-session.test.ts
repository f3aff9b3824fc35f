import {
  ClientError,
  type ConnectionState,
  concertoClient,
  type FollowedEvent,
  type FollowOptions,
} from '@concerto/client';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { frame, history, problem, sendJson, session, testServer } from './test-server.ts';

async function follow(url: string, options: FollowOptions = {}): Promise<FollowedEvent[]> {
  const events: FollowedEvent[] = [];
  for await (const event of concertoClient({ url }).follow('s1', options)) events.push(event);
  return events;
}

function positions(events: readonly FollowedEvent[]): number[] {
  return events.map((event) => event.seq);
}

function upTo(length: number): number[] {
  return Array.from({ length }, (_, index) => index + 1);
}

function cursorOf(url: string | undefined): number {
  return Number(new URL(url ?? '', 'http://x').searchParams.get('after'));
}

describe('follow', () => {
  test('gives every event, typed, and ends after finish', async () => {
    const events = history(3);
    const server = await testServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`: ping\n\n${events.map(frame).join('')}`);
    });
    const states: ConnectionState[] = [];
    const followed = await follow(server.url, { onState: (state) => void states.push(state) });
    expect(followed).toEqual(events.map((event) => JSON.parse(event)));
    expect(states.map((state) => state.kind)).toEqual(['connecting', 'live', 'ended']);
    expect(server.seen.map(({ line }) => line)).toEqual(['GET /api/sessions/s1/events?after=0']);
  });

  test('loses and repeats nothing, wherever connections break and whatever the server repeats', async () => {
    const events = history(12);
    const cuts = fc.array(fc.record({ length: fc.nat(1200), back: fc.nat(3), isClean: fc.boolean() }), {
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(cuts, async (broken) => {
        const left = [...broken];
        const server = await testServer((request, response) => {
          if (!request.url?.includes('/events')) return sendJson(response, 200, session('running', 12));
          const after = cursorOf(request.url);
          const cut = left.shift();
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          const start = Math.max(0, after - (cut?.back ?? 0));
          const rest = Buffer.from(events.slice(start).map(frame).join(''));
          if (cut === undefined) return void response.end(rest);
          response.write(rest.subarray(0, cut.length), () => (cut.isClean ? response.end() : response.destroy()));
        });
        expect(positions(await follow(server.url))).toEqual(upTo(12));
      }),
      { numRuns: 15 },
    );
  });

  test('begins after a position', async () => {
    const server = await testServer((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(history(5).slice(cursorOf(request.url)).map(frame).join(''));
    });
    expect(positions(await follow(server.url, { after: 3 }))).toEqual([4, 5]);
  });

  test('of what is over and already seen ends', async () => {
    const server = await testServer((request, response) => {
      if (!request.url?.includes('/events')) return sendJson(response, 200, session('completed', 5));
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': ping\n\n');
    });
    expect(await follow(server.url, { after: 5 })).toEqual([]);
  });

  test('waits out a server that is away or stopping, and says so', async () => {
    let calls = 0;
    const server = await testServer((request, response) => {
      calls++;
      if (calls === 1) return void request.socket.destroy();
      if (calls === 2) return sendJson(response, 503, problem(503, 'stopping'));
      if (calls === 3) return void response.writeHead(502).end('<html>');
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(history(2).map(frame).join(''));
    });
    const states: ConnectionState[] = [];
    expect(positions(await follow(server.url, { onState: (state) => void states.push(state) }))).toEqual([1, 2]);
    expect(states.flatMap((state) => (state.kind === 'waiting' ? [state.error.code] : []))).toEqual([
      'unreachable',
      'stopping',
      'bad_answer',
    ]);
  });

  test('drops a connection that has fallen silent', async () => {
    let calls = 0;
    const server = await testServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const events = history(3).map(frame);
      calls++;
      if (calls === 1) response.write(events[0]);
      else response.end(events.slice(1).join(''));
    });
    expect(positions(await follow(server.url, { silenceMaxMs: 200 }))).toEqual([1, 2, 3]);
    expect(server.seen.map(({ line }) => line)).toEqual([
      'GET /api/sessions/s1/events?after=0',
      'GET /api/sessions/s1/events?after=1',
    ]);
  });

  test.each([
    [404, 'no_such_session'],
    [401, 'unauthorized'],
    [409, 'cursor_ahead'],
  ])('gives up when the server refuses: %d %s', async (status, code) => {
    const server = await testServer((_, response) => sendJson(response, status, problem(status, code)));
    await expect(follow(server.url)).rejects.toMatchObject({
      name: 'ClientError',
      status,
      code,
      message: `because ${code}`,
    });
    expect(server.seen).toHaveLength(1);
  });

  test('hands over what it does not know', async () => {
    const event = JSON.stringify({ type: 'hologram', size: 3, at: '2026-01-01T00:00:00.000Z', seq: 1 });
    const server = await testServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(frame(event) + history(2).slice(1).map(frame).join(''));
    });
    const [unknown] = await follow(server.url);
    expect(unknown).toMatchObject({ type: 'unknown', raw: { type: 'hologram', size: 3 }, seq: 1 });
  });

  test('fails on nonsense', async () => {
    const server = await testServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: 1\ndata: nonsense\n\n');
    });
    await expect(follow(server.url)).rejects.toBeInstanceOf(ClientError);
  });

  test.each(['while live', 'while it waits'])('ends at once when its reader leaves %s', async (when) => {
    const leave = new AbortController();
    const server = await testServer((request, response) => {
      if (when === 'while it waits') return void request.socket.destroy();
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': ping\n\n');
    });
    const wanted = when === 'while live' ? 'live' : 'waiting';
    const events = await follow(server.url, {
      signal: leave.signal,
      onState: (state) => {
        if (state.kind === wanted) leave.abort();
      },
    });
    expect(events).toEqual([]);
  });

  test('closes its connection when its reader breaks off', async () => {
    let closed: Promise<unknown> | undefined;
    const server = await testServer((_, response) => {
      closed = new Promise((resolve) => response.on('close', resolve));
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write(history(3).slice(0, 2).map(frame).join(''));
    });
    for await (const event of concertoClient({ url: server.url }).follow('s1')) {
      expect(event.seq).toBe(1);
      break;
    }
    await closed;
  });
});
