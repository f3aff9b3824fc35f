import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';
import { runConcerto } from '../support/run-concerto.ts';

const aMachineUnderLoadMs = 120_000;
let folder: string;
let puppets: PuppetServer;
let api: Api;
let early: string;
let said: string;

const tokens = async (...args: string[]) => await concerto('tokens', ...args);
const concerto = async (...args: string[]) =>
  await runConcerto(args, api === undefined ? {} : { CONCERTO_TOKEN: api.token }, folder).ended;
const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? '';
const tokenOf = async (name: string, role: string): Promise<string> =>
  (await api.post('/api/tokens', { name, role })).body.token;
const holding = (token: string): Api => apiOf({ url: api.url, token });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-people-'));
  // Nobody runs yet: the store itself is asked.
  const store = `sqlite:${join(folder, 'people.db')}`;
  const added = await tokens('add', 'early', '--role', 'observer', '--store', store);
  early = lastLine(added.out);
  said = added.err;
  puppets = await startPuppetServer({ folder, args: ['--store', store] });
  api = puppets.api;
}, aMachineUnderLoadMs);

afterAll(async () => {
  await puppets?.close();
  await rm(folder, { recursive: true, force: true });
});

test(
  'a token is made without a server and with one, and the last line of stdout is the token alone',
  async () => {
    expect(said).toContain('early may call as an observer');
    expect(early).toMatch(/^[A-Za-z0-9_-]{20,}$/);
    expect((await holding(early).get('/api/me')).body).toEqual({ name: 'early', role: 'observer' });
    // Another one when the test is tried again.
    const name = `ann-${Date.now()}`;
    const ann = lastLine((await tokens('add', name, '--role', 'member')).out);
    expect((await holding(ann).get('/api/me')).body).toEqual({ name, role: 'member' });
    const [again, listed] = await Promise.all([tokens('add', name, '--role', 'member'), tokens('ls')]);
    expect(again).toMatchObject({ code: 1, out: '', err: expect.stringContaining(`tokens revoke ${name}`) });
    expect(listed.out).toMatch(/early +observer .*\n.*ann-\d+ +member /);
    const stored = await readFile(join(folder, 'people.db'));
    expect(stored.includes(early) || stored.includes(ann)).toBe(false);
  },
  aMachineUnderLoadMs,
);

test(
  'who answers is who is named, in the events, the audit and on the terminal',
  async () => {
    const cleo = await tokenOf('cleo', 'member');
    const ask = { type: 'question', id: 1, question: 'Which?' };
    const { id } = await api.start({ agent: 'puppet', prompt: steps({ ask }, { result: 'done' }) });
    const asked = await api.until(id, (event) => event.type === 'waitForInput');
    const path = `/api/sessions/${id}/requests/${asked.at(-1).requestId}`;
    expect((await holding(early).post(path, { response: 'x' })).status).toBe(403);
    expect((await holding(cleo).post(path, { response: 'blue' })).status).toBe(200);
    const settled = await api.until(id, (event) => event.type === 'requestSettled');
    expect(settled.at(-1)).toMatchObject({ by: 'user:cleo', response: 'blue' });
    const { entries } = (await api.get(`/api/sessions/${id}/audit`)).body;
    expect(entries).toContainEqual(expect.objectContaining({ what: 'request-answered', actor: 'user:cleo' }));
    const shown = await concerto('sessions', 'audit', id);
    expect(shown.out).toContain('user:cleo');
  },
  aMachineUnderLoadMs,
);

test(
  'what is given to an agent starts, sends and cancels, and no wire lets it answer for a person',
  async () => {
    const agent = holding(await tokenOf('claude', 'agent'));
    const ask = { type: 'approval', id: 1, description: 'rm -rf', tool: 'Bash', risk_level: 'high' };
    const { id } = await agent.start({ agent: 'puppet', prompt: steps({ ask }, { tell: 'answer' }) });
    const { requestId } = (await agent.until(id, (event) => event.type === 'queryConsent')).at(-1);
    const approval = { id: requestId, approved: true };
    const tool = { type: 'dynamic-tool', toolName: 'ask', toolCallId: 'x', state: 'approval-responded', approval };
    const said = { id, messages: [{ id: 'a', role: 'assistant', parts: [tool] }] };
    const resume = [{ interruptId: requestId, status: 'resolved', payload: { approved: true } }];
    const run = { threadId: id, runId: 'r', messages: [], tools: [], context: [], state: {}, resume };
    const answers: [string, object][] = [
      [`/api/sessions/${id}/requests/${requestId}`, { response: true }],
      [`/api/agent/${id}/input`, { request_id: requestId, response: true }],
      [`/api/agui/${id}`, run],
      ['/api/chat', said],
      [`/v1beta1/sessions/${id}:resume`, { interactionId: requestId, consent: true }],
    ];
    for (const [path, body] of answers) {
      expect([path, (await agent.post(path, body)).body]).toMatchObject([path, { status: 403, needs: 'member' }]);
    }
    const arguments_ = { session: id, request: requestId, response: true };
    const mcp = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'answer_request', arguments: arguments_ },
    };
    const accept = { accept: 'application/json, text/event-stream' };
    expect(JSON.stringify((await agent.post('/mcp', mcp, accept)).body)).toContain('forbidden');
    expect((await agent.call('PUT', `/api/sessions/${id}/supervisor`, { supervisor: null })).status).toBe(403);
    expect((await agent.post(`/api/sessions/${id}/settings`, { params: {} })).status).toBe(403);
    expect((await agent.call('PUT', '/api/rules', { rules: [], version: 0 })).status).toBe(403);
    expect((await api.get(`/api/sessions/${id}/requests`)).body.requests).toHaveLength(1);
    // The same words are taken of somebody who may.
    expect((await api.post(`/api/sessions/${id}/requests/${requestId}`, { response: true })).status).toBe(200);
    expect((await agent.post(`/api/sessions/${id}/messages`, { content: 'more' })).status).toBe(202);
    expect((await agent.post(`/api/sessions/${id}/cancel`)).status).toBe(202);
    await api.untilStatus(id, 'cancelled');
  },
  aMachineUnderLoadMs,
);

test(
  'a revoked token ends the streams that it has open',
  async () => {
    const dora = await tokenOf('dora', 'observer');
    const headers = { authorization: `Bearer ${dora}` };
    const streams = await Promise.all(
      ['/api/events', `/api/sessions/${(await api.start({ agent: 'puppet', prompt: steps() })).id}/events`].map(
        async (path) => {
          const [response] = await once(get(api.url + path, { headers }), 'response');
          response.resume().on('error', () => {});
          expect(response.statusCode).toBe(200);
          return { closed: new Promise((resolve) => response.on('close', resolve)) };
        },
      ),
    );
    expect((await tokens('revoke', 'dora')).out).toContain('dora may no longer call');
    await Promise.all(streams.map(({ closed }) => closed));
    expect((await holding(dora).get('/api/me')).status).toBe(401);
    expect((await api.call('DELETE', '/api/tokens/dora')).status).toBe(404);
  },
  aMachineUnderLoadMs,
);
