import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert } from '@concerto/base';
import { memoryEventLog } from '@concerto/log';
import { mcpOverHttp } from '@concerto/mcp';
import { SessionId } from '@concerto/protocol';
import { catalogOf, PoolKeeper, RuleBook, SessionStore, Sessions, systemClock } from '@concerto/runtime';
import { serve } from '@concerto/server';
import { type Dice, mutatedJson, mutatedText, type Texts } from './mutate.ts';
import type { Subject } from './subjects.ts';

const token = 'a-token-of-some-length';
const root = join(import.meta.dirname, '../..');

/** Calls of one wire, and what stands in their bodies, or in the query of a `GET`. */
type Wire = { readonly calls: Texts; readonly queries: Texts; readonly bodies: Texts };

const json = (...values: readonly [object, ...object[]]): Texts => {
  const [first, ...rest] = values.map((value) => JSON.stringify(value));
  assert(first !== undefined, 'there is a first');
  return [first, ...rest];
};

const user = { id: 'u9', role: 'user', content: [{ type: 'text', text: 'hello' }] };
const rpc = (method: string, params: object): object => ({ jsonrpc: '2.0', id: 1, method, params });
const tool = (name: string, args: object): object => rpc('tools/call', { name, arguments: args });

export const wireNames = ['agui', 'chat', 'chat-stream', 'streams', 'beta', 'runs', 'mcp'] as const;
type WireName = (typeof wireNames)[number];

const wires: Readonly<Record<WireName, Wire>> = {
  agui: {
    calls: ['POST /api/agui/live', 'POST /api/agui/rests', 'POST /api/agui/nobody', 'POST /api/agui'],
    queries: ['agent=echo&priority=queued'],
    bodies: json(
      { threadId: 'rests', runId: 'r', messages: [], tools: [], context: [], state: {} },
      {
        threadId: 'new',
        runId: 'r',
        parentRunId: 'p',
        messages: [{ id: 's', role: 'system', content: 'be kind' }, user],
        tools: [{ name: 't', description: 'd', parameters: {} }],
        context: [{ description: 'd', value: 'v' }],
        state: { a: 1 },
        forwardedProps: { agent: 'echo', priority: 'queued' },
      },
      {
        threadId: 'live',
        runId: 'r',
        messages: [
          {
            id: 'u8',
            role: 'user',
            content: [{ type: 'image', source: { type: 'data', value: 'aGk=', mimeType: 'image/png' } }],
          },
        ],
        resume: [{ interruptId: 'i', status: 'resolved', payload: { approved: true } }],
      },
    ),
  },
  chat: {
    calls: ['POST /api/chat', 'POST /api/chat/rests/stop', 'POST /api/chat/nobody/stop'],
    queries: ['agent=echo'],
    bodies: json(
      {
        id: 'rests',
        trigger: 'submit-message',
        messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'x' }] }],
      },
      {
        id: 'live',
        messages: [
          {
            id: 'a',
            role: 'assistant',
            metadata: { position: 3 },
            parts: [
              { type: 'dynamic-tool', toolCallId: 'x', state: 'output-available', output: 1 },
              { type: 'tool-ask', toolCallId: 'y', state: 'approval-responded', approval: { id: 'r', approved: true } },
            ],
          },
        ],
      },
      {
        id: 'new',
        agent: 'echo',
        messages: [
          {
            id: 'u',
            role: 'user',
            parts: [{ type: 'file', mediaType: 'text/plain', url: 'data:text/plain;base64,aGk=', filename: 'a.txt' }],
          },
        ],
      },
    ),
  },
  'chat-stream': {
    calls: ['GET /api/chat/live/stream', 'GET /api/chat/rests/messages', 'GET /api/chat/*/stream'],
    queries: ['x=1&after=2', 'id=live'],
    bodies: [''],
  },
  streams: {
    calls: ['GET /api/streams/sessions/live', 'GET /api/streams/sessions/rests', 'GET /api/streams/sessions/*'],
    queries: ['offset=-1', 'offset=now&live=sse', 'offset=0000000000000003&live=sse&cursor=12', 'live=sse&offset=-1'],
    bodies: [''],
  },
  beta: {
    calls: [
      'POST /v1beta1/sessions/new',
      'POST /v1beta1/sessions/live:resume',
      'POST /v1beta1/sessions/nobody:cancel',
      'GET /v1beta1/sessions/live',
      'GET /v1beta1/sessions/rests',
      'GET /v1beta1/sessions/rests/status',
      'GET /v1beta1/sessions/*',
    ],
    queries: ['agent=echo', 'alt=sse&after=3', 'after=-1'],
    bodies: json(
      {
        segments: [
          { type: 'text', text: 'a' },
          { asset: { title: 't', content: { role: 'user', parts: [{ text: 'b' }] } } },
        ],
      },
      { interactionId: 'r', consent: true, accessToken: 'x' },
      { selected: { ids: ['a'] } },
      { input: { role: 'user', parts: [{ text: 'x' }] } },
    ),
  },
  runs: {
    calls: [
      'POST /api/agent/run',
      'POST /api/agent/live/input',
      'POST /api/agent/nobody/abort',
      'GET /api/agent/rests/events',
      'GET /api/agent/live/events',
      'GET /api/agent/*/events',
    ],
    queries: ['include=requests', 'after=2', 'after=0&include=requests'],
    bodies: json(
      { kind: 'echo', objective: { role: 'user', parts: [{ text: 'go' }] }, run_id: 'mine' },
      { agent: 'echo', objective: 'go' },
      { request_id: 'r', response: { approved: true } },
      { requestId: 'r', response: null },
    ),
  },
  mcp: {
    calls: ['POST /mcp'],
    queries: ['held=1', 'x=1'],
    bodies: json(
      rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }),
      rpc('tools/list', {}),
      rpc('resources/list', {}),
      rpc('resources/templates/list', {}),
      rpc('resources/read', { uri: 'concerto://sessions/rests' }),
      rpc('prompts/list', {}),
      rpc('ping', {}),
      rpc('tasks/get', { taskId: 'rests' }),
      tool('list_agents', {}),
      tool('list_sessions', { limit: 3 }),
      tool('start_session', { agent: 'echo', prompt: 'go', title: 't', once: true }),
      tool('send_message', { session: 'rests', content: 'x' }),
      tool('wait_for_session', { session: 'rests', seconds: 0 }),
      tool('answer_request', { session: 'live', request: 'r', answer: true }),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
    ),
  },
};

/** Longer heads are refused by Node itself. */
const queryMax = 4_000;
/** An app keeps what it is told: after so many calls there is a fresh one. */
const callsOfAServer = 2_000;
/** A tool may wait for a session; nobody here does. */
const waitMs = 20_000;
const toolWaitMs = 1_000;

/** A wire of a real server, on a session in the middle of a turn and on one that rests. */
export function wireSubject(name: WireName): Subject {
  const wire = wires[name];
  let server: WireServer | undefined;
  let asked = 0;
  return {
    make: (dice) => {
      const call = dice.of(wire.calls).replace('*', () => encoded(mutatedText(dice, ['live', 'rests', 'nobody'])));
      const query = dice.below(2) === 0 ? dice.of(wire.queries) : mutatedText(dice, wire.queries);
      const isInner = name === 'mcp' && dice.below(4) > 0;
      const change = isInner ? mutatedParams : mutatedJson;
      const body = call.startsWith('GET') ? '' : change(dice, wire.bodies);
      return `${call}?${new URLSearchParams(query).toString().slice(0, queryMax)}\n${body}`;
    },
    check: async (input) => {
      if (asked % callsOfAServer === 0) {
        await server?.close();
        server = await startWireServer();
      }
      asked += 1;
      assert(server !== undefined, 'there is a server');
      await checkCall(server, input);
    },
  };
}

/** What is no JSON-RPC is refused before anybody looks at it: so the call stays one, and what it says is changed. */
function mutatedParams(dice: Dice, bodies: Texts): string {
  const { params, ...call } = JSON.parse(dice.of(bodies));
  const changed = mutatedJson(dice, [JSON.stringify(params ?? {})]);
  return `${JSON.stringify(call).slice(0, -1)},"params":${changed}}`;
}

function encoded(text: string): string {
  return new URLSearchParams({ x: text }).toString().slice(2, queryMax).replaceAll('+', '%20') || 'nobody';
}

type WireServer = Awaited<ReturnType<typeof startWireServer>>;

/**
 * Connections are kept from call to call, as everybody keeps them, so that one call can spoil the next. One that is cut
 * is a finding, unless it had rested for as long as the server had said that it keeps it.
 */
class KeptConnections {
  #keptUntil = Number.POSITIVE_INFINITY;

  async fetch(url: string, init: RequestInit): Promise<Response> {
    const hadRested = performance.now() >= this.#keptUntil;
    const call = (): Promise<Response> => fetch(url, init);
    const response = await call().catch((cause: unknown) => (hadRested ? call() : Promise.reject(cause)));
    const seconds = /timeout=(\d+)/.exec(response.headers.get('keep-alive') ?? '')?.[1];
    this.#keptUntil = seconds === undefined ? Number.POSITIVE_INFINITY : performance.now() + Number(seconds) * 1_000;
    return response;
  }
}

/** It is taken, or refused with a reason; a stream that begins goes on. */
async function checkCall({ url, complaints, held, kept }: WireServer, input: string): Promise<void> {
  const end = input.indexOf('\n');
  const [method = '', path = ''] = input.slice(0, end).split(' ');
  const isTool = path.startsWith('/mcp');
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(path.includes('held=1') ? { 'mcp-session-id': held } : {}),
  };
  const sent = method === 'GET' ? { method } : { method, body: input.slice(end + 1) };
  const signal = AbortSignal.timeout(isTool ? toolWaitMs : waitMs);
  try {
    const response = await kept.fetch(url + path, { ...sent, headers, signal });
    assert(response.status < 500, `${method} ${path} is ${response.status}: ${complaints.at(-1)}`);
    if (response.ok) {
      const reader = response.body?.getReader();
      await reader?.read();
      await reader?.cancel();
    } else {
      const problem = await response.text();
      assert(isTool || /"code":|"detail":/.test(problem), `${response.status} says why: ${problem}`);
    }
  } catch (cause) {
    if (!(isTool && signal.aborted)) throw cause;
  }
  assert(complaints.length === 0, `nobody is told of a fault: ${complaints.at(-1)}`);
}

async function startWireServer() {
  const log = memoryEventLog({ now: Date.now });
  const complaints: string[] = [];
  const report = (message: string, cause?: unknown): void => void complaints.push(`${message}: ${String(cause)}`);
  const store = new SessionStore(log);
  const clock = systemClock;
  let minted = 0;
  const mintId = (prefix: string): string => `${prefix}_${++minted}`;
  const spec = {
    name: 'echo',
    protocol: 'ndjson',
    command: 'cat',
    args: [],
    env: {},
    workingDir: '.',
    plainText: 'result',
  } as const;
  const catalog = catalogOf([{ kind: 'agent', name: 'echo', spec }]);
  const pool = new PoolKeeper({ log, store, clock, report, initialMax: 1 });
  const rules = new RuleBook({ log, catalog, mintId });
  const sessions = new Sessions({ log, store, pool, rules, catalog, clock, mintId });
  let url = '';
  const mcp = mcpOverHttp({ version: '1', url: () => url });
  const server = await serve({
    host: '127.0.0.1',
    port: 0,
    sessions,
    log,
    programs: { list: () => [], source: async () => undefined },
    inlineTools: { mode: 'off' },
    guard: { token, hosts: [] },
    version: '1',
    manifestSchema: () => ({}),
    webRoot: undefined,
    mcp: mcp.answer,
    report,
  });
  url = `http://127.0.0.1:${server.port}`;
  const lines = readFileSync(join(root, 'packages/wires/test/logs/ndjson-all.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean);
  const asks = lines.findIndex((line) => line.includes('"queryConsent"'));
  for (const [id, said] of Object.entries({ rests: lines, live: lines.slice(0, asks + 1) })) {
    const started = await sessions.start(
      { agent: 'echo', prompt: 'go', id: SessionId.parse(id), ifFull: 'queue' },
      { actor: 'user', key: undefined },
    );
    assert(started.ok, 'a session is started');
    const entries = said.map((line) => {
      const { seq: _seq, ...event } = JSON.parse(line);
      return { type: String(event.type), data: JSON.stringify(event) };
    });
    await log.append({ session: id, streams: [{ stream: 'events', entries }] });
  }
  return {
    url,
    complaints,
    kept: new KeptConnections(),
    /** A connection of MCP that was introduced. */
    held: await introduce(`${url}/mcp`),
    close: async () => {
      await mcp.close();
      await server.close();
      await log.close();
    },
  };
}

async function introduce(url: string): Promise<string> {
  const [body] = wires.mcp.bodies;
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const response = await fetch(url, { method: 'POST', body, headers });
  await response.text();
  return response.headers.get('mcp-session-id') ?? '';
}
