import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { HttpAgent, type Message } from '@ag-ui/client';
import { concertoClient } from '@concerto/client';
import { type Client, ClientSideConnection, ndJsonStream, type RequestPermissionRequest } from 'acp-example-agent';
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai';
import { afterAll, expect, test } from 'vitest';
import { concertoCommand } from '../support/concerto-command.ts';
import { openBrowser, visit } from '../support/open-browser.ts';
import { startRoomyPuppetServer, steps } from '../support/puppets.ts';

const puppets = await startRoomyPuppetServer();
const { api } = puppets;
const headers = { authorization: `Bearer ${api.token}` };
const leaves: (() => void)[] = [];
afterAll(async () => {
  for (const leave of leaves) leave();
  await puppets.close();
});

const aguiOf = (id: string): HttpAgent => new HttpAgent({ url: `${api.url}/api/agui/${id}`, headers });

/** What the AI SDK makes of the turn that is under way, to where it waits. */
async function chatOf(chatId: string): Promise<UIMessage | undefined> {
  const transport = new DefaultChatTransport({ api: `${api.url}/api/chat`, headers });
  const stream = await transport.reconnectToStream({ chatId });
  let last: UIMessage | undefined;
  if (stream !== null) for await (const each of readUIMessageStream({ stream, terminateOnError: true })) last = each;
  return last;
}

function editorOf(): { agent: ClientSideConnection; asked: RequestPermissionRequest[]; text: () => string } {
  const args = [...concertoCommand, 'acp', '--agent', 'able', '--url', api.url, '--token', api.token];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  leaves.push(() => child.stdin.end());
  const asked: RequestPermissionRequest[] = [];
  let text = '';
  const client: Client = {
    sessionUpdate: async ({ update }) => {
      if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text') text += update.content.text;
    },
    requestPermission: async (request) => {
      asked.push(request);
      return await new Promise(() => undefined);
    },
  };
  const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>);
  return { agent: new ClientSideConnection(() => client, stream), asked, text: () => text };
}

const textsOf = (messages: readonly Message[]): string =>
  messages.flatMap(({ role, content }) => (role === 'assistant' ? [String(content ?? '')] : [])).join('');
const chatText = (message: UIMessage | undefined): string =>
  (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');

test('an AG-UI client, a chat, an editor, the page and a program follow one session; one answer settles it for all', async () => {
  const gate = puppets.gate();
  const prompt = steps(
    { say: { type: 'partial', text: 'one ' } },
    { ask: { type: 'approval', id: 'a', description: 'sure?' } },
    { say: { type: 'partial', text: 'two' } },
    { until: gate.path },
    { say: { type: 'result' } },
  );
  const { id } = await api.start({ agent: 'able', prompt });
  const asked = (await api.until(id, ({ type }) => type === 'queryConsent')).at(-1);
  const heard: string[] = [];
  const program = (async () => {
    const client = concertoClient({ url: api.url, token: api.token });
    for await (const event of client.follow(id)) {
      heard.push(event.type);
      if (event.type === 'turnComplete') return;
    }
  })();
  const browser = await openBrowser();
  leaves.push(() => void browser.close());
  const { page, problems } = await visit(browser, puppets.server.entrance);
  await page.goto(`${puppets.server.url}/sessions/${id}`);
  const approve = page.getByRole('button', { name: 'Approve' });
  await approve.waitFor();
  const agui = aguiOf(id);
  const editor = editorOf();
  await editor.agent.initialize({ protocolVersion: 1, clientCapabilities: {} });
  const [, chat] = await Promise.all([
    agui.runAgent(),
    chatOf(id),
    editor.agent.loadSession({ sessionId: id, cwd: puppets.folder, mcpServers: [] }),
  ]);
  await expect.poll(() => editor.asked.length, { timeout: 20_000 }).toBe(1);
  expect(agui.pendingInterrupts.map((interrupt) => interrupt.id)).toEqual([asked.requestId]);
  expect(chat?.parts.at(-1)).toMatchObject({ state: 'approval-requested', approval: { id: asked.requestId } });

  await approve.click();
  await api.until(id, (event) => event.type === 'content' && event.content.parts[0].text === 'two');
  await approve.waitFor({ state: 'detached' });
  await expect.poll(() => heard).toContain('requestSettled');
  await gate.open();
  const [, rest] = await Promise.all([
    agui.runAgent({ resume: [{ interruptId: asked.requestId, status: 'resolved', payload: false }] }),
    chatOf(id),
  ]);
  await expect.poll(() => editor.text()).toBe('one two');
  expect(textsOf(agui.messages)).toBe('one two');
  // The turn may be over by the time that the chat asks: then its history has it.
  const { messages } = (await api.get(`/api/chat/${id}/messages`)).body;
  expect(chatText(messages.at(-1))).toBe('one two');
  expect(chatText(rest ?? messages.at(-1))).toBe('one two');
  const settled = (await api.until(id, ({ type }) => type === 'requestSettled')).at(-1);
  expect(settled).toMatchObject({ outcome: 'answered', response: true });
  await program;
  await page.getByText('one two').waitFor();
  expect(problems).toEqual([]);
});

test('readers that are cut off again and again have the same in the end', { timeout: 120_000 }, async () => {
  const pieces = 400;
  const prompt = steps({ many: pieces, bytes: 20, every: 2 }, { say: { type: 'result' } });
  const { id } = await api.start({ agent: 'able', prompt });
  const isOver = async (): Promise<boolean> => (await api.get(`/api/sessions/${id}`)).body.status === 'idle';
  let agui = aguiOf(id);
  let cuts = 0;
  while (!(await isOver()) && cuts < 50) {
    cuts += 1;
    let heard = 0;
    const after = 1 + ((cuts * 7) % 23);
    const reader = agui;
    const run = new Promise<'ended' | 'stuck'>((resolve) => {
      const cut = (): void => {
        heard += 1;
        if (heard !== after) return;
        reader.abortRun();
        // Their client does not always say that it has stopped; then another one comes in its place.
        setTimeout(() => resolve('stuck'), 2_000).unref();
      };
      const ended = (): void => resolve('ended');
      reader.runAgent({}, { onEvent: cut }).then(ended, ended);
    });
    if ((await run) === 'stuck') agui = aguiOf(id);
  }
  await agui.runAgent();
  await api.untilStatus(id, 'idle');
  await agui.runAgent();
  const fresh = aguiOf(id);
  await fresh.runAgent();
  expect(agui.messages).toEqual(fresh.messages);
  const { events } = (await api.get(`/api/sessions/${id}/events?format=json&limit=5000`)).body;
  const said = events.flatMap((event: any) =>
    event.type === 'content' && event.whole !== true ? [event.content.parts[0].text] : [],
  );
  expect(said).toHaveLength(pieces);
  expect(textsOf(fresh.messages)).toBe(said.join(''));
  expect(cuts).toBeGreaterThan(0);
});

test('who waits for a message that is taken back waits no longer', async () => {
  const gate = puppets.gate();
  const { id } = await api.start({ agent: 'able', prompt: steps({ until: gate.path }, { tell: 'answer' }) });
  await api.until(id, ({ type }) => type === 'start');
  const agent = aguiOf(id);
  agent.addMessage({ id: 'by-agui', role: 'user', content: 'one' });
  const run = agent.runAgent();
  const transport = new DefaultChatTransport({ api: `${api.url}/api/chat`, headers });
  const said: UIMessage = { id: 'by-chat', role: 'user', parts: [{ type: 'text', text: 'two' }] };
  const request = { trigger: 'submit-message', messageId: undefined, abortSignal: undefined } as const;
  const chat = await transport.sendMessages({ ...request, chatId: id, messages: [said] });
  const editor = editorOf();
  await editor.agent.initialize({ protocolVersion: 1, clientCapabilities: {} });
  await editor.agent.loadSession({ sessionId: id, cwd: '/', mcpServers: [] });
  const prompted = editor.agent.prompt({ sessionId: id, prompt: [{ type: 'text', text: 'three' }] });
  const waiting = async () => (await api.get(`/api/sessions/${id}/messages`)).body.pending;
  await expect.poll(async () => (await waiting()).length).toBe(3);
  for (const { id: message } of await waiting()) await api.call('DELETE', `/api/sessions/${id}/messages/${message}`);
  expect(await prompted).toEqual({ stopReason: 'cancelled' });
  const chunks: unknown[] = [];
  for await (const chunk of chat) chunks.push(chunk);
  expect(chunks).not.toContainEqual(expect.objectContaining({ type: 'start' }));
  await gate.open();
  await run;
});

test('a message that is sent again, because its answer was lost, is answered whole under its id', async () => {
  const transport = new DefaultChatTransport({ api: `${api.url}/api/chat`, headers, body: { agent: 'able' } });
  const said: UIMessage = { id: 'again', role: 'user', parts: [{ type: 'text', text: 'one' }] };
  const request = { trigger: 'submit-message', messageId: undefined, abortSignal: undefined } as const;
  const answers: (UIMessage | undefined)[] = [];
  for (const _ of [1, 2]) {
    const stream = await transport.sendMessages({ ...request, chatId: 'sent-again', messages: [said] });
    let last: UIMessage | undefined;
    for await (const each of readUIMessageStream({ stream })) last = each;
    answers.push(last);
  }
  expect(answers[0]).toMatchObject({ id: 'answer-again' });
  expect(answers[1]?.id).toBe('answer-again');
  expect(answers[1]?.parts).toEqual(answers[0]?.parts);
  const { history } = (await api.get('/api/sessions/sent-again/messages?all=true')).body;
  expect(history).toHaveLength(1);
});
