import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, describe, expect, test } from 'vitest';
import { concertoCommand } from '../support/concerto-command.ts';
import { startRoomyPuppetServer, steps } from '../support/puppets.ts';

const puppets = await startRoomyPuppetServer();
const { api } = puppets;
const clients: Client[] = [];
afterAll(async () => {
  for (const client of clients) await client.close();
  await puppets.close();
});

type Answers = (message: string) => Record<string, string | boolean>;

async function open(over: 'http' | 'stdio', answers?: Answers, token = api.token): Promise<Client> {
  const capabilities = answers === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client({ name: 'test', version: '1' }, { capabilities });
  if (answers !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }) => ({
      action: 'accept',
      content: answers(params.message),
    }));
  }
  const transport =
    over === 'http'
      ? new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), {
          requestInit: { headers: { authorization: `Bearer ${token}` } },
        })
      : new StdioClientTransport({
          command: process.execPath,
          args: [...concertoCommand, 'mcp', '--url', api.url, '--token', token],
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
  { ask: { type: 'approval', id: 'a', description: 'rm -r build' } },
  { ask: { type: 'question', id: 'q', question: 'Which?', options: ['red', 'blue'] } },
  { tell: 'answer' },
);

describe.each(['http', 'stdio'] as const)('MCP over %s', (over) => {
  test('a model starts a session, waits for it, answers, says more and ends it', async () => {
    const client = await open(over);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'list_agents',
      'list_sessions',
      'start_session',
      'follow_session',
      'wait_for_session',
      'send_message',
      'answer_request',
      'control_session',
    ]);
    const { id: session } = await call(client, 'start_session', { agent: 'able', prompt: asking });
    const asked = await call(client, 'wait_for_session', { session, seconds: 30 });
    expect(asked).toMatchObject({ requests: [{ type: 'queryConsent', question: 'rm -r build' }] });
    expect(asked.text).toContain('I will.');
    await call(client, 'answer_request', { session, request: asked.requests[0].request, response: true });
    const { requests, position } = await call(client, 'wait_for_session', { session, seconds: 30 });
    await call(client, 'answer_request', { session, request: requests[0].request, response: 'option-2' });
    const done = await call(client, 'wait_for_session', { session, seconds: 30, after: position });
    expect(done).toMatchObject({ status: 'idle', requests: [] });
    expect(done.text).toContain('blue');
    expect(done.text).not.toContain('I will.');
    await call(client, 'send_message', { session, content: 'more' });
    const more = await call(client, 'wait_for_session', { session, seconds: 30 });
    expect(more.text).toContain('did: more');
    expect(await call(client, 'control_session', { session, verb: 'cancel' })).toMatchObject({
      requestId: expect.any(String),
    });
    expect(await call(client, 'send_message', { session: 'nobody', content: 'x' })).toEqual({
      error: expect.stringContaining('no_such_session'),
    });
  });

  test('sessions are resources', async () => {
    const client = await open(over);
    const { id } = await api.start({ agent: 'able', prompt: 'read me', title: `to read over ${over}` });
    await api.untilStatus(id, 'idle');
    const { resources } = await client.listResources();
    expect(resources).toContainEqual(
      expect.objectContaining({ uri: `concerto://sessions/${id}`, name: `to read over ${over}` }),
    );
    const { contents } = await client.readResource({ uri: `concerto://sessions/${id}` });
    expect(contents[0]).toMatchObject({ mimeType: 'text/markdown', text: expect.stringContaining('did: read me') });
  });
});

test('who subscribes to a session hears that it has changed', async () => {
  const client = await open('stdio');
  const updated: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri));
  const { id } = await api.start({ agent: 'able', prompt: 'one' });
  await api.untilStatus(id, 'idle');
  await client.subscribeResource({ uri: `concerto://sessions/${id}` });
  await api.post(`/api/sessions/${id}/messages`, { content: 'two' });
  await expect.poll(() => updated, { timeout: 15_000 }).toContain(`concerto://sessions/${id}`);
});

test('what is asked is put before the user, where the client can', async () => {
  const seen: string[] = [];
  const client = await open('stdio', (message) => {
    seen.push(message);
    return message === 'Which?' ? { selected: 'option-1' } : { approved: true };
  });
  const { id: session } = await call(client, 'start_session', { agent: 'able', prompt: asking });
  const done = await call(client, 'wait_for_session', { session, seconds: 30, ask_user: true });
  expect(seen).toEqual(['rm -r build', 'Which?']);
  expect(done.text).toContain('red');
});

test('a token may do over MCP what it may do at all', async () => {
  const { token } = (await api.post('/api/tokens', { name: 'mcp-reader', role: 'observer' })).body;
  const client = await open('http', undefined, token);
  expect(await call(client, 'list_sessions')).toMatchObject({ sessions: expect.any(Array) });
  expect(await call(client, 'start_session', { agent: 'able', prompt: 'x' })).toEqual({
    error: expect.stringContaining('forbidden'),
  });
  await expect(open('http', undefined, 'wrong')).rejects.toThrow(/401|[Uu]nauthor/);
  expect((await api.call('POST', '/mcp', { jsonrpc: '2.0' }, { origin: 'https://evil.example' })).status).toBe(403);
});
