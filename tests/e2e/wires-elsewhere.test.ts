import { HttpAgent } from '@ag-ui/client';
import { concertoClient } from '@concerto/client';
import { stream } from '@durable-streams/client';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { DefaultChatTransport, readUIMessageStream } from 'ai';
import { afterAll, describe, expect, test } from 'vitest';
import { fetchElsewhere } from '../support/fetch-elsewhere.ts';
import { startRoomyPuppetServer } from '../support/puppets.ts';

const origin = 'http://console.example:8080';
const puppets = await startRoomyPuppetServer(`[server]\nallowed_origins = ["${origin}"]\n`);
const { api } = puppets;
afterAll(() => puppets.close());

const headers = { authorization: `Bearer ${api.token}` };
const fetch = fetchElsewhere(origin);

describe('from a page of another origin, with the headers that a browser lets it send and read', () => {
  test('AG-UI, the AI SDK, Durable Streams and our own client', async () => {
    const agent = new HttpAgent({ url: `${api.url}/api/agui?agent=able`, headers, fetch, threadId: 'elsewhere' });
    agent.addMessage({ id: 'u1', role: 'user', content: 'one' });
    await agent.runAgent();
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'did: one' });

    const transport = new DefaultChatTransport({ api: `${api.url}/api/chat`, headers, fetch, body: { agent: 'able' } });
    const said = { id: 'u2', role: 'user' as const, parts: [{ type: 'text' as const, text: 'two' }] };
    const request = { messages: [said], trigger: 'submit-message' as const, abortSignal: undefined };
    const chunks = await transport.sendMessages({ ...request, chatId: 'elsewhere-chat', messageId: undefined });
    let last: unknown;
    for await (const message of readUIMessageStream({ stream: chunks })) last = message;
    expect(JSON.stringify(last)).toContain('did: two');

    const url = `${api.url}/api/streams/sessions/elsewhere`;
    const read = await stream({ url, headers, fetch, offset: '-1', live: false, json: true });
    expect(await read.json()).toContainEqual(expect.objectContaining({ type: 'turnComplete' }));
    const client = concertoClient({ url: api.url, token: api.token, fetch });
    expect((await client.list()).sessions.map(({ id }) => id)).toContain('elsewhere');
  });

  test.each(['2025-11-25', '2026-07-28'])('MCP of %s', async (era) => {
    const mode = era === '2025-11-25' ? 'legacy' : { pin: era };
    const client = new Client({ name: 'page', version: '1' }, { versionNegotiation: { mode } });
    const transport = new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { requestInit: { headers }, fetch });
    await client.connect(transport);
    const { content } = await client.callTool({ name: 'list_agents', arguments: {} });
    expect(JSON.stringify(content)).toContain('able');
    await client.close();
  });

  test('a call may be traced by the page', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const answered = await fetch(`${api.url}/api/pool`, { headers: { ...headers, traceparent, tracestate: 'a=1' } });
    expect(answered.status).toBe(200);
    expect(answered.headers.get('x-request-id')).toMatch(/./);
  });
});
