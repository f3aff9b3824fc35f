import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { concertoCommand } from '../support/concerto-command.ts';
import { startRoomyPuppetServer, steps } from '../support/puppets.ts';

const puppets = await startRoomyPuppetServer(
  '[connections.offline]\nprovider = "mock"\n[assistants.echo]\nconnection = "offline"\nfunctions = ["read_graph"]\n',
);
const { api } = puppets;
const clients: Client[] = [];
afterAll(async () => {
  for (const client of clients) await client.close();
  await puppets.close();
});

/** Undefined: the user sends the form away. */
type Answers = (message: string) => Record<string, string | boolean> | undefined;
type Era = '2025-11-25' | '2026-07-28';
type Way = { readonly answers?: Answers; readonly token?: string; readonly url?: string };

async function open(over: 'http' | 'stdio', era: Era, way: Way = {}): Promise<Client> {
  const { answers, token = api.token, url = api.url } = way;
  const capabilities = answers === undefined ? {} : { elicitation: { form: {} } };
  const mode = era === '2025-11-25' ? 'legacy' : { pin: era };
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode } });
  if (answers !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }) => {
      const content = answers(params.message);
      return content === undefined ? { action: 'cancel' } : { action: 'accept', content };
    });
  }
  const transport =
    over === 'http'
      ? new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
          requestInit: { headers: { authorization: `Bearer ${token}` } },
        })
      : new StdioClientTransport({
          command: process.execPath,
          args: [...concertoCommand, 'mcp', '--url', url, '--token', token],
        });
  await client.connect(transport);
  clients.push(client);
  return client;
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<any> {
  const { content, isError } = await client.callTool({ name, arguments: args });
  const [first] = Array.isArray(content) ? content : [];
  const text = first?.type === 'text' ? first.text : '';
  return isError === true ? { error: text } : JSON.parse(text);
}

const asking = steps(
  { say: { type: 'partial', text: 'I will.' } },
  { ask: { type: 'approval', id: 'a', description: 'Clean up', tool: 'Bash', command: 'rm -r build' } },
  { ask: { type: 'question', id: 'q', question: 'Which?', options: ['red', 'blue'] } },
  { tell: 'answer' },
);

const ways = [
  ['http', '2025-11-25'],
  ['http', '2026-07-28'],
  ['stdio', '2025-11-25'],
  ['stdio', '2026-07-28'],
] as const;

describe.each(ways)('MCP over %s, %s', (over, era) => {
  const seen: string[] = [];
  let client: Client;
  beforeAll(async () => {
    const answers = (message: string) => {
      seen.push(message);
      return message === 'Which?' ? { selected: 'red' } : { approved: true };
    };
    client = await open(over, era, { answers });
  });

  test('a model starts a session, waits for it, answers, says more and ends it', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'list_agents',
      'list_sessions',
      'start_session',
      'run_session',
      'fork_session',
      'follow_session',
      'wait_for_session',
      'send_message',
      'answer_request',
      'control_session',
    ]);
    const { id: session } = await call(client, 'start_session', { agent: 'able', prompt: asking });
    const asked = await call(client, 'wait_for_session', { session, seconds: 30 });
    expect(asked).toMatchObject({ requests: [{ type: 'queryConsent', question: 'Clean up' }] });
    expect(asked.requests[0].details).toContain('- command: rm -r build\n');
    expect(asked.text).toContain('I will.');
    expect(asked.text).toContain('- command: rm -r build\n');
    await call(client, 'answer_request', { session, request: asked.requests[0].request, response: true });
    const { requests, position } = await call(client, 'wait_for_session', { session, seconds: 30 });
    expect(requests[0].details).toBe('- `option-1`: red\n- `option-2`: blue\n');
    await call(client, 'answer_request', { session, request: requests[0].request, response: 'option-2' });
    const done = await call(client, 'wait_for_session', { session, seconds: 30, after: position });
    expect(done).toMatchObject({ status: 'idle', requests: [] });
    expect(done.text).toContain('blue');
    expect(done.text).not.toContain('I will.');
    await call(client, 'send_message', { session, content: 'more' });
    const more = await call(client, 'wait_for_session', { session, seconds: 30 });
    expect(more.text).toContain('did: more');
    // A position of another session would leave out what was said here.
    for (const name of ['follow_session', 'wait_for_session'])
      expect(await call(client, name, { session, after: more.position + 1 })).toEqual({
        error: `cursor_ahead: the position ${more.position + 1} is beyond the end, ${more.position}`,
      });
    expect(await call(client, 'control_session', { session, verb: 'cancel' })).toMatchObject({
      requestId: expect.any(String),
    });
    expect(await call(client, 'send_message', { session: 'nobody', content: 'x' })).toEqual({
      error: expect.stringContaining('no_such_session'),
    });
  });

  test('sessions are resources, and who listens hears that one has changed', async () => {
    const updated: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri));
    const { id } = await api.start({ agent: 'able', prompt: 'read me', title: `to read over ${over} ${era}` });
    await api.untilStatus(id, 'idle');
    const uri = `concerto://sessions/${id}`;
    const { resources } = await client.listResources();
    expect(resources).toContainEqual(expect.objectContaining({ uri, name: `to read over ${over} ${era}` }));
    const { contents } = await client.readResource({ uri });
    expect(contents[0]).toMatchObject({ mimeType: 'text/markdown', text: expect.stringContaining('did: read me') });
    if (era === '2025-11-25') await client.subscribeResource({ uri });
    else await client.listen({ resourceSubscriptions: [uri] });
    await api.post(`/api/sessions/${id}/messages`, { content: 'two' });
    await expect.poll(() => updated, { timeout: 15_000 }).toContain(uri);
    expect(updated.filter((changed) => changed !== uri)).toEqual([]);
  });

  test('what is asked is put before the user', async () => {
    const { id: session } = await call(client, 'start_session', { agent: 'able', prompt: asking });
    const done = await call(client, 'wait_for_session', { session, seconds: 30, ask_user: true });
    expect(seen).toEqual([expect.stringMatching(/^Clean up\n\n[^]*- command: rm -r build/), 'Which?']);
    expect(done.text).toContain('red');
  });
});

test.each(ways)('what the user sends away or fills in wrongly is left open: %s, %s', async (over, era) => {
  for (const content of [undefined, { approved: 'perhaps' }]) {
    let asked = 0;
    const answers = () => {
      asked++;
      return content;
    };
    const client = await open(over, era, { answers });
    const { id: session } = await call(client, 'start_session', { agent: 'able', prompt: asking });
    const left = await call(client, 'wait_for_session', { session, seconds: 30, ask_user: true });
    expect(left).toMatchObject({ requests: [{ question: 'Clean up' }] });
    expect(asked).toBe(1);
    await call(client, 'control_session', { session, verb: 'cancel' });
  }
});

test('what only a client with a graph can answer is put before no user', async () => {
  let asked = 0;
  const answers = () => {
    asked++;
    return { text: 'what graph?' };
  };
  const client = await open('http', '2026-07-28', { answers });
  const { id: session } = await call(client, 'start_session', { assistant: 'echo', prompt: '/call read_graph {}' });
  const left = await call(client, 'wait_for_session', { session, seconds: 30, ask_user: true });
  expect(left).toMatchObject({ requests: [{ type: 'readGraph' }] });
  expect(asked).toBe(0);
  await call(client, 'control_session', { session, verb: 'cancel' });
});

test('a session is run in one call, and forked', async () => {
  const client = await open('http', '2025-11-25');
  const ran = await call(client, 'run_session', { assistant: 'echo', prompt: 'first', seconds: 30 });
  expect(ran).toMatchObject({ status: 'idle', text: expect.stringContaining('first') });
  const { id } = await call(client, 'fork_session', { session: ran.id, prompt: 'second' });
  const { text } = await call(client, 'wait_for_session', { session: id, seconds: 30 });
  expect(text).toMatch(/first[\s\S]*second/);
  expect((await call(client, 'follow_session', { session: ran.id })).text).not.toContain('second');
  const forked = await call(client, 'start_session', { agent: 'able', prompt: 'x' });
  expect(await call(client, 'fork_session', { session: forked.id })).toEqual({
    error: expect.stringContaining('fork'),
  });
});

test('a running turn is steered and interrupted', async () => {
  const client = await open('http', '2026-07-28');
  const hanging = steps({ say: { type: 'partial', text: 'on and on' } }, { hang: true });
  const { id: session } = await call(client, 'start_session', { agent: 'able', prompt: hanging });
  await api.until(session, ({ type }) => type === 'content');
  await call(client, 'send_message', { session, content: 'in English, please', steer: true });
  const heard = await api.until(session, ({ type, message }) => type === 'message' && message.how === 'steer');
  expect(heard.at(-1).message).toMatchObject({ content: 'in English, please', status: 'delivered' });
  await call(client, 'control_session', { session, verb: 'interrupt' });
  expect(await call(client, 'wait_for_session', { session, seconds: 30 })).toMatchObject({ status: 'interrupted' });
});

describe('long work is a task, for a client that knows tasks', () => {
  /** Their library for tasks has the requests of 2026-07-28 sent by its host. */
  async function openTasks(seen: string[]) {
    const client = await open('http', '2026-07-28');
    const framing = {
      protocolVersion: '2026-07-28',
      clientInfo: { name: 'test', version: '1' },
      clientCapabilities: { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } },
    };
    return createTaskSessionFromClient(client, {
      endpointId: 'concerto',
      v2RequestFraming: framing,
      rawDispatch: dispatch,
      onInputRequest: async (request) => {
        if (request.kind !== 'elicitation') throw new Error(`asked for ${request.kind}`);
        const message = JSON.stringify(request.params.message);
        seen.push(message);
        const content = message === '"Which?"' ? { selected: 'red' } : { approved: true };
        return { action: 'accept', content } as never;
      },
    });
  }

  async function dispatch({ method, params }: any): Promise<any> {
    const headers = {
      authorization: `Bearer ${api.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'mcp-name': params.name ?? params.taskId,
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(`${api.url}/mcp`, { method: 'POST', headers, body });
    const answered = await response.json();
    return { kind: 'error' in answered ? 'error' : 'result', ...answered };
  }

  test('it asks, is answered, and has a result; what is said afterwards does not change that', async () => {
    const seen: string[] = [];
    const tasks = await openTasks(seen);
    const execution = await tasks.callTool('run_session', { agent: 'able', prompt: asking });
    const { outcome } = await execution.settle();
    const told = () => JSON.parse((resultFromTaskOutcome(outcome) as any).content[0].text);
    expect(seen).toEqual([expect.stringMatching(/^"Clean up[^]*- command: rm -r build/), '"Which?"']);
    expect(told()).toMatchObject({ agent: 'able', outcome: 'done', text: expect.stringContaining('red') });
    const { id } = told();
    await api.post(`/api/sessions/${id}/messages`, { content: 'later' });
    await api.until(id, (event) => event.type === 'turnComplete' && event.seq > told().position);
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    };
    const get = (taskId: string, _meta: object = meta) => dispatch({ method: 'tasks/get', params: { taskId, _meta } });
    const again = (await get(id)).result;
    expect(again).toMatchObject({ status: 'completed', result: { content: [{ text: expect.any(String) }] } });
    expect(JSON.parse(again.result.content[0].text)).toEqual(told());
    expect((await get('nobody')).error).toMatchObject({ code: -32602 });
    const undeclared = { ...meta, 'io.modelcontextprotocol/clientCapabilities': {} };
    expect((await get(id, undeclared)).error).toMatchObject({ code: -32021 });
    await tasks.close();
  });

  test('it is cancelled, and its session with it; one that fails has an error for a result', async () => {
    const tasks = await openTasks([]);
    const hanging = steps({ say: { type: 'partial', text: 'on and on' } }, { hang: true });
    const execution = await tasks.callTool('run_session', { agent: 'able', prompt: hanging, title: 'to cancel' });
    await execution.cancel();
    expect((await execution.settle()).outcome).toMatchObject({ status: 'cancelled' });
    const { sessions } = (await api.get('/api/sessions?limit=5')).body;
    const { id } = sessions.find(({ title }: { title: string }) => title === 'to cancel');
    await api.untilStatus(id, 'cancelled');
    // Also one that had not begun.
    await api.call('PUT', '/api/pool', { max: 1 });
    const { id: atWork } = await api.start({ agent: 'able', prompt: hanging });
    const queued = await tasks.callTool('run_session', { agent: 'able', prompt: 'x' });
    await queued.cancel();
    expect((await queued.settle()).outcome).toMatchObject({ status: 'cancelled' });
    await api.post(`/api/sessions/${atWork}/cancel`);
    await api.call('PUT', '/api/pool', { max: 1000 });
    const failing = await tasks.callTool('run_session', { agent: 'gone', prompt: 'x' });
    const { outcome } = await failing.settle();
    expect(resultFromTaskOutcome(outcome)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('left early') }],
    });
    await tasks.close();
  });
});

test.each(['2025-11-25', '2026-07-28'] as const)(
  'who waits while the server stops is told what there is: %s',
  async (era) => {
    const stopping = await startRoomyPuppetServer();
    const client = await open('http', era, { url: stopping.api.url, token: stopping.api.token });
    const hanging = steps({ say: { type: 'partial', text: 'on and on' } }, { hang: true });
    const { id: session } = await stopping.api.start({ agent: 'able', prompt: hanging });
    await stopping.api.until(session, ({ type }) => type === 'content');
    const waiting = call(client, 'wait_for_session', { session, seconds: 600 });
    // Said after it, so it is heard by now.
    await call(client, 'follow_session', { session });
    await stopping.close();
    expect(await waiting).toMatchObject({ status: 'running', text: expect.stringContaining('on and on') });
  },
);

test('a connection belongs to the token that opened it', async () => {
  const { token } = (await api.post('/api/tokens', { name: 'mcp-other', role: 'member' })).body;
  const said = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
  const post = async (body: object, more: Record<string, string> = {}) =>
    await fetch(`${api.url}/mcp`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        authorization: `Bearer ${api.token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...more,
      },
    });
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const opened = await post(said('initialize', hello));
  const mine = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  expect((await post(said('tools/list'), mine)).status).toBe(200);
  expect((await post(said('tools/list'), { ...mine, authorization: `Bearer ${token}` })).status).toBe(404);
  expect((await post(said('tools/list'), { 'mcp-session-id': 'unknown' })).status).toBe(404);
});

test('a token may do over MCP what it may do at all', async () => {
  const { token } = (await api.post('/api/tokens', { name: 'mcp-reader', role: 'observer' })).body;
  const client = await open('http', '2025-11-25', { token });
  expect(await call(client, 'list_sessions')).toMatchObject({ sessions: expect.any(Array) });
  expect(await call(client, 'start_session', { agent: 'able', prompt: 'x' })).toEqual({
    error: expect.stringContaining('forbidden'),
  });
  await expect(open('http', '2025-11-25', { token: 'wrong' })).rejects.toThrow(/401|[Uu]nauthor/);
  expect((await api.call('POST', '/mcp', { jsonrpc: '2.0' }, { origin: 'https://evil.example' })).status).toBe(403);
});
