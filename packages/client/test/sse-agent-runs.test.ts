import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { AgentEventConsumer, AgentService, SSEAgentEventSource, SSEAgentRun } from '../src/index.ts';
import { problem, sendJson, type TestServer, testServer } from './test-server.ts';

type Script = (response: ServerResponse, after: string | null) => void;

/** Each stream is written by the next script; posts are answered 200 unless `answer` says otherwise. */
async function runServer(scripts: Script[], answer = (_line: string): number => 200): Promise<TestServer> {
  return await testServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://test');
    if (request.method === 'POST') {
      const status = answer(url.pathname);
      return sendJson(response, status, status < 300 ? { ok: true } : problem(status, 'no'));
    }
    const script = scripts.shift();
    if (script === undefined) return sendJson(response, 404, problem(404, 'no_such_session'));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    script(response, url.searchParams.get('after'));
  });
}

function send(response: ServerResponse, id: number, event: object): void {
  response.write(`id: ${id}\ndata: ${JSON.stringify(event)}\n\n`);
}

const question = { type: 'waitForInput', requestId: 'r1', prompt: { parts: [{ text: '?' }] }, inputType: 'text' };
const posted = (server: TestServer, path: string): unknown[] =>
  server.seen.filter((call) => call.line === `POST ${path}`).map((call): unknown => JSON.parse(call.body));

describe('a run on a server', () => {
  it('is started under its own id, followed to the end, and forgotten', async () => {
    const server = await runServer([
      (response) => {
        send(response, 1, { type: 'thought', text: 'a', seq: 1, at: 'now', icon: null });
        send(response, 2, { type: 'newer than this client' });
        send(response, 3, { type: 'finish' });
        send(response, 4, { type: 'thought', text: 'after the end' });
      },
    ]);
    const service = new AgentService();
    service.configureRemote(server.url);
    const run = service.startRun({ kind: 'k', objective: 'go', target: { agent: 'echo' } });
    const heard: string[] = [];
    run.events.on('thought', (event) => heard.push(event.text)).on('finish', () => heard.push('finish'));
    if (!(run instanceof SSEAgentRun)) throw new Error('not remote');
    await run.connect();
    expect(heard).toEqual(['a', 'finish']);
    expect(server.seen[0]?.line).toBe('POST /api/agent/run');
    expect(posted(server, '/api/agent/run')).toEqual([{ runId: run.runId, objective: 'go', agent: 'echo' }]);
    expect(server.seen[1]?.line).toBe(`GET /api/agent/${run.runId}/events`);
    expect(service.activeRunIds).toEqual([]);
  });

  it('that is refused says so, and may be tried again', async () => {
    let refusals = 1;
    const server = await runServer([(response) => send(response, 1, { type: 'finish' })], () =>
      refusals-- > 0 ? 409 : 200,
    );
    const run = new SSEAgentRun('x', 'k', { baseUrl: server.url, fetch, objective: 'go' });
    await expect(run.connect()).rejects.toThrow('refused to start the run: 409');
    await run.connect();
  });

  it('that could not be started because the server was away is started by the next connect', async () => {
    let isAway = true;
    const server = await runServer([(response) => send(response, 1, { type: 'finish' })]);
    const fetchThere: typeof fetch = async (input, init) => {
      if (isAway) throw new TypeError('fetch failed');
      return await fetch(input, init);
    };
    const run = new SSEAgentRun('x', 'k', { baseUrl: server.url, fetch: fetchThere, objective: 'go' });
    await expect(run.connect()).rejects.toMatchObject({ code: 'connection_failed' });
    isAway = false;
    await run.connect();
    expect(server.seen.map((call) => call.line)).toEqual(['POST /api/agent/run', 'GET /api/agent/x/events']);
  }, 30_000);

  it('that is aborted while it is being started is ended once it has begun, not before', async () => {
    const told: string[] = [];
    const server = await testServer((request, response) => {
      told.push(`${request.url}`);
      if (request.url !== '/api/agent/run') return sendJson(response, 200, { ok: true });
      run.abort();
      // Long enough for an abort that does not wait to be here first.
      setTimeout(() => {
        told.push('begun');
        sendJson(response, 200, { ok: true });
      }, 200);
    });
    const run = new SSEAgentRun('x', 'k', { baseUrl: server.url, fetch, objective: 'go' });
    await expect(run.connect()).rejects.toMatchObject({ name: 'AbortError' });
    expect(told).toEqual(['/api/agent/run']);
    await expect.poll(() => told).toHaveLength(3);
    expect(told).toEqual(['/api/agent/run', 'begun', '/api/agent/x/abort']);
  });
});

describe('suspends over the wire', () => {
  it('are answered as the seed writes it, while other events go on', async () => {
    const heard: string[] = [];
    const server = await runServer(
      [
        (response) => {
          send(response, 1, question);
          send(response, 2, { ...question, requestId: 'r2' });
          send(response, 3, { type: 'thought', text: 'meanwhile' });
          streams.push(response);
        },
      ],
      (line) => {
        if (line.endsWith('/input') && ++answers === 2)
          for (const stream of streams) send(stream, 4, { type: 'finish' });
        return 200;
      },
    );
    const streams: ServerResponse[] = [];
    let answers = 0;
    const answer = new Map<string, (value: unknown) => void>();
    const consumer = new AgentEventConsumer()
      .on('waitForInput', (event) => new Promise((resolve) => answer.set(event.requestId, resolve)))
      .on('thought', () => {
        heard.push('meanwhile');
        // In another order than they were asked.
        answer.get('r2')?.(false);
        answer.get('r1')?.({ input: { parts: [{ text: 'hello' }] } });
      });
    await new SSEAgentEventSource(server.url, 'run-1', consumer).connect();
    expect(heard).toEqual(['meanwhile']);
    expect(posted(server, '/api/agent/run-1/input')).toEqual(
      expect.arrayContaining([
        { request_id: 'r2', response: false },
        { request_id: 'r1', response: { input: { parts: [{ text: 'hello' }] } } },
      ]),
    );
  });

  it('an answer whose reply was lost is sent again under the same key; one that came too late is no failure', async () => {
    let failures = 2;
    const overtaken: string[] = [];
    const server = await runServer(
      [
        (response) => {
          send(response, 1, question);
          streams.push(response);
        },
      ],
      () => {
        if (failures-- > 0) return 503;
        for (const stream of streams) send(stream, 2, { type: 'finish' });
        return 409;
      },
    );
    const streams: ServerResponse[] = [];
    const consumer = new AgentEventConsumer().on('waitForInput', () => 'yes');
    const onOvertaken = (id: string): number => overtaken.push(id);
    await new SSEAgentEventSource(server.url, 'run-1', consumer, fetch, undefined, { onOvertaken }).connect();
    const keys = server.seen
      .filter((call) => call.line.startsWith('POST'))
      .map((call) => call.headers['idempotency-key']);
    expect(keys).toEqual(['answer-r1', 'answer-r1', 'answer-r1']);
    expect(overtaken).toEqual(['r1']);
  });

  it('without a handler stay open for another reader', async () => {
    const server = await runServer([
      (response) => {
        send(response, 1, question);
        send(response, 2, { type: 'finish' });
      },
    ]);
    await new SSEAgentEventSource(server.url, 'run-1', new AgentEventConsumer()).connect();
    expect(posted(server, '/api/agent/run-1/input')).toEqual([]);
  });

  it('survive a lost connection, and are not asked twice', async () => {
    let asked = 0;
    let answer: (text: string) => void = () => {};
    const cursors: (string | null)[] = [];
    const server = await runServer([
      (response) => {
        send(response, 1, question);
        setTimeout(() => response.destroy(), 20);
      },
      (response, after) => {
        cursors.push(after);
        answer('late');
        setTimeout(() => send(response, 2, { type: 'finish' }), 50);
      },
    ]);
    const consumer = new AgentEventConsumer().on('waitForInput', () => {
      asked++;
      return new Promise<string>((resolve) => (answer = resolve));
    });
    await new SSEAgentEventSource(server.url, 'run-1', consumer).connect();
    expect([asked, cursors]).toEqual([1, ['1']]);
    expect(posted(server, '/api/agent/run-1/input')).toEqual([{ request_id: 'r1', response: 'late' }]);
  });

  it('whose handler fails reject, and are asked again by the next connect', async () => {
    let tries = 0;
    const server = await runServer([
      (response) => send(response, 1, question),
      (response) => setTimeout(() => send(response, 2, { type: 'finish' }), 30),
    ]);
    const consumer = new AgentEventConsumer().on('waitForInput', () => {
      if (++tries === 1) throw new Error('the dialog broke');
      return 'ok';
    });
    const source = new SSEAgentEventSource(server.url, 'run-1', consumer);
    await expect(source.connect()).rejects.toThrow('the dialog broke');
    await source.connect();
    expect(posted(server, '/api/agent/run-1/input')).toEqual([{ request_id: 'r1', response: 'ok' }]);
  });
});

describe('the stream', () => {
  it('that ends before the run is taken up from the cursor; nothing is lost, nothing comes twice', async () => {
    const heard: string[] = [];
    const cursors: (string | null)[] = [];
    const server = await runServer([
      (response) => {
        send(response, 1, { type: 'thought', text: 'one' });
        response.end();
      },
      (response, after) => {
        cursors.push(after);
        response.destroy();
      },
      (response, after) => {
        cursors.push(after);
        send(response, 2, { type: 'thought', text: 'two' });
        send(response, 3, { type: 'error', message: 'boom' });
      },
    ]);
    const consumer = new AgentEventConsumer()
      .on('thought', (event) => heard.push(event.text))
      .on('error', (event) => heard.push(event.message));
    await new SSEAgentEventSource(server.url, 'run-1', consumer).connect();
    expect([heard, cursors]).toEqual([
      ['one', 'two', 'boom'],
      ['1', '1'],
    ]);
  });

  it('that ends before anything was heard is taken up from the beginning', async () => {
    const heard: string[] = [];
    const cursors: (string | null)[] = [];
    const server = await runServer([
      (response) => {
        response.end(': ping\n\n');
      },
      (response, after) => {
        cursors.push(after);
        send(response, 1, { type: 'thought', text: 'one' });
        send(response, 2, { type: 'finish' });
      },
    ]);
    const consumer = new AgentEventConsumer().on('thought', (event) => heard.push(event.text));
    let refusals = 1;
    const startingUp: typeof fetch = async (input, init) =>
      refusals-- > 0 ? new Response(null, { status: 503 }) : await fetch(input, init);
    await new SSEAgentEventSource(server.url, 'run-1', consumer, startingUp).connect();
    expect([heard, cursors]).toEqual([['one'], [null]]);
  });

  it('of a server without positions is not read twice when it breaks', async () => {
    const server = await runServer([
      (response) => {
        response.write('data: {"type":"thought","text":"x"}\n\n', () => setTimeout(() => response.destroy(), 20));
      },
      (response) => response.end('data: {"type":"thought","text":"x"}\n\ndata: {"type":"finish"}\n\n'),
    ]);
    const heard: string[] = [];
    const consumer = new AgentEventConsumer().on('thought', (event) => heard.push(event.text));
    const source = new SSEAgentEventSource(server.url, 'run-1', consumer);
    await expect(source.connect()).rejects.toMatchObject({ code: 'ended_early' });
    expect(heard).toEqual(['x']);
  });

  it('of a server without positions that ends before the run is no success', async () => {
    const server = await runServer([
      (response) => {
        response.end('data: {"type":"thought","text":"x"}\n\n');
      },
    ]);
    const source = new SSEAgentEventSource(server.url, 'run-1', new AgentEventConsumer());
    await expect(source.connect()).rejects.toMatchObject({ code: 'ended_early' });
  });

  it('is read in any framing that the standard allows', async () => {
    const heard: string[] = [];
    const server = await runServer([
      (response) => {
        response.write(': ping\r\n\r\ndata:{"type":"thought",\r\nda');
        response.end('ta: "text":"two lines"}\r\n\r\ndata: [DONE]\n\ndata: {"type":"finish"}\n\n');
      },
    ]);
    const consumer = new AgentEventConsumer().on('thought', (event) => heard.push(event.text));
    await new SSEAgentEventSource(server.url, 'run-1', consumer).connect();
    expect(heard).toEqual(['two lines']);
  });

  it('that is refused, or has no body, says so in words that do not change', async () => {
    const server = await runServer([]);
    const consumer = new AgentEventConsumer();
    await expect(new SSEAgentEventSource(server.url, 'x', consumer).connect()).rejects.toThrow(
      'SSE connection failed: 404',
    );
    const empty = async (): Promise<Response> => await Promise.resolve(new Response(null, { status: 200 }));
    await expect(new SSEAgentEventSource('http://test', 'x', consumer, empty).connect()).rejects.toThrow(
      'SSE response has no body',
    );
  });

  it('ends with a handler that throws, and the next connect repeats that event', async () => {
    const heard: string[] = [];
    let failures = 1;
    const both: Script = (response, after) => {
      if (after === null) send(response, 1, { type: 'thought', text: 'one' });
      send(response, 2, { type: 'thought', text: 'two' });
      send(response, 3, { type: 'finish' });
    };
    const server = await runServer([both, both]);
    const consumer = new AgentEventConsumer().on('thought', async (event) => {
      await Promise.resolve();
      if (event.text === 'two' && failures-- > 0) throw new Error('full');
      heard.push(event.text);
    });
    const source = new SSEAgentEventSource(server.url, 'run-1', consumer);
    await expect(source.connect()).rejects.toMatchObject({ code: 'handler_failed' });
    await source.connect();
    expect(heard).toEqual(['one', 'two']);
  });

  it('an abort settles it while a handler is still busy, and tells the server', async () => {
    const server = await runServer([(response) => send(response, 1, question)]);
    const run = new SSEAgentRun('run-9', 'k', { baseUrl: server.url, fetch, objective: 'go' });
    let dismissed: AbortSignal | undefined;
    run.events.on('waitForInput', (_, { signal }) => {
      dismissed = signal;
      setTimeout(() => run.abort(), 10);
      return new Promise(() => {});
    });
    await expect(run.connect()).rejects.toMatchObject({ name: 'AbortError' });
    await expect.poll(() => posted(server, '/api/agent/run-9/abort')).toHaveLength(1);
    expect(dismissed?.aborted).toBe(true);
    await expect(run.connect()).rejects.toMatchObject({ name: 'AbortError' });
  });
});
