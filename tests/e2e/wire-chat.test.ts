import { join } from 'node:path';
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundlePage, type ForeignPage, openForeignPage, sayOn, statusOn, textsOn } from '../support/foreign-page.ts';
import { openBrowser } from '../support/open-browser.ts';
import { startRoomyPuppetServer, steps } from '../support/puppets.ts';

const puppet = JSON.stringify(join(import.meta.dirname, '../support/puppet.mjs'));
const seeing = `[agents.seeing]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${puppet}]\naccepts = ["text", "image/*"]\n`;
const puppets = await startRoomyPuppetServer(seeing);
const { api } = puppets;
let browser: Browser;
let script: string;

beforeAll(async () => {
  browser = await openBrowser();
  script = await bundlePage('chat-page.jsx');
});
afterAll(async () => {
  await browser?.close();
  await puppets.close();
});

const openChat = (id: string): Promise<ForeignPage> => openForeignPage(browser, puppets, { script, id });

const work = steps(
  { say: { type: 'thought', text: 'Let me see.' } },
  { say: { type: 'plan', entries: [{ content: 'look', status: 'in_progress' }] } },
  { say: { type: 'partial', text: 'I will ' } },
  { say: { type: 'partial', text: 'look.' } },
  { say: { type: 'tool_call', id: 't1', name: 'Bash', args: { command: 'rm -r build' } } },
  { ask: { type: 'approval', id: 'a1', description: 'rm -r build', call: 't1' } },
  { say: { type: 'tool_result', id: 't1', content: 'gone' } },
  { ask: { type: 'question', id: 'q1', question: 'Which?', options: ['red', 'blue'] } },
  { say: { type: 'result', text: 'All done.' } },
);

describe('useChat in a browser', () => {
  test('reasoning, a tool, an approval, a question; after a reload everything stands there again', async () => {
    const { page, problems } = await openChat('chat-1');
    await sayOn(page, work);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('button', { name: 'blue' }).click();
    await expect.poll(() => textsOn(page), { timeout: 20_000 }).toEqual([work, 'I will look.', 'All done.']);
    expect(await page.locator('.reasoning').allTextContents()).toEqual(['Let me see.']);
    expect(await page.locator('.plan').allTextContents()).toEqual(['look']);
    expect(await page.locator('.tool').allTextContents()).toEqual([
      'Bash output-available "gone"',
      expect.stringContaining('ask output-available'),
    ]);
    await expect.poll(() => statusOn(page)).toBe('ready');
    const { events } = (await api.get('/api/sessions/chat-1/events?format=json')).body;
    const answers = events.flatMap((event: any) => (event.type === 'requestSettled' ? [event.response] : []));
    expect(answers).toEqual([true, { selected: ['option-2'] }]);

    await page.reload();
    await expect.poll(() => textsOn(page)).toEqual([work, 'I will look.', 'All done.']);
    await sayOn(page, 'and now?');
    await expect.poll(() => textsOn(page)).toEqual([work, 'I will look.', 'All done.', 'and now?', 'did: and now?']);
    expect(problems).toEqual([]);
  });

  test('a reload in the middle goes on where it was; stop stops; a question of another page can be answered here', async () => {
    const gate = puppets.gate();
    const { page, problems } = await openChat('chat-2');
    const prompt = steps(
      { say: { type: 'partial', text: 'one ' } },
      { until: gate.path },
      { say: { type: 'partial', text: 'two' } },
      { ask: { type: 'approval', id: 'a', description: 'sure?' } },
      { hang: true },
    );
    await sayOn(page, prompt);
    await expect.poll(() => textsOn(page)).toEqual([prompt, 'one ']);
    await page.reload();
    await expect.poll(() => textsOn(page)).toEqual([prompt, 'one ']);
    await gate.open();
    await expect.poll(() => textsOn(page)).toEqual([prompt, 'one two']);
    await page.getByRole('button', { name: 'Deny' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Deny' }).click();
    await expect.poll(() => page.locator('.tool').allTextContents()).toEqual(['approve output-denied ""']);
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => statusOn(page)).toBe('ready');
    expect((await api.get('/api/sessions/chat-2')).body.status).toBe('interrupted');
    expect(problems).toEqual([]);
  });
});

describe('their transport', () => {
  const headers = { authorization: `Bearer ${api.token}` };
  const transport = new DefaultChatTransport({ api: `${api.url}/api/chat`, headers, body: { agent: 'able' } });
  const message = (id: string, text: string): UIMessage => ({ id, role: 'user', parts: [{ type: 'text', text }] });
  const ask = async (chatId: string, messages: UIMessage[]): Promise<UIMessage | undefined> => {
    const stream = await transport.sendMessages({
      chatId,
      messages,
      trigger: 'submit-message',
      messageId: undefined,
      abortSignal: undefined,
    });
    let last: UIMessage | undefined;
    for await (const each of readUIMessageStream({ stream, terminateOnError: true })) last = each;
    return last;
  };

  test('a failing turn is an error; the next one is answered', async () => {
    const first = message('u1', steps({ say: { type: 'error', message: 'it broke' } }));
    await expect(ask('chat-3', [first])).rejects.toThrow('it broke');
    const answer = await ask('chat-3', [first, message('u2', 'again')]);
    expect(answer).toMatchObject({ id: 'answer-u2', role: 'assistant' });
    expect(answer?.parts.at(-1)).toMatchObject({ type: 'text', text: 'did: again' });
    expect(await transport.reconnectToStream({ chatId: 'chat-3' })).toBeNull();
    expect(await transport.reconnectToStream({ chatId: 'never-seen' })).toBeNull();
  });

  test('a picture goes to an agent that takes pictures, and stands in the history', async () => {
    const url = 'data:image/png;base64,iVBORw0KGgo=';
    const picture = { type: 'file' as const, mediaType: 'image/png', url };
    const said: UIMessage = { id: 'u1', role: 'user', parts: [picture, { type: 'text', text: 'look' }] };
    const stream = await new DefaultChatTransport({
      api: `${api.url}/api/chat`,
      headers,
      body: { agent: 'seeing' },
    }).sendMessages({
      chatId: 'chat-4',
      messages: [said],
      trigger: 'submit-message',
      messageId: undefined,
      abortSignal: undefined,
    });
    let answer: UIMessage | undefined;
    for await (const each of readUIMessageStream({ stream, terminateOnError: true })) answer = each;
    expect(answer).toMatchObject({ id: 'answer-u1', role: 'assistant' });
    const { messages } = (await api.get('/api/chat/chat-4/messages')).body;
    expect(messages[0]).toMatchObject({ id: 'u1', role: 'user' });
    expect(messages[0].parts).toContainEqual(expect.objectContaining({ type: 'file', mediaType: 'image/png' }));
  });

  test('what cannot be served is refused, and says why', async () => {
    const file = {
      id: 'u',
      role: 'user',
      parts: [{ type: 'file', mediaType: 'image/png', url: 'https://elsewhere.example/a.png' }],
    };
    expect(await api.post('/api/chat', {})).toMatchObject({ status: 422 });
    expect(await api.post('/api/chat', { id: 'x', messages: [file] })).toMatchObject({
      status: 422,
      body: { code: 'unsupported_content' },
    });
    expect(await api.post('/api/chat', { id: 'x', messages: [], trigger: 'regenerate-message' })).toMatchObject({
      status: 422,
      body: { code: 'cannot_regenerate' },
    });
    expect(await api.get('/api/chat/never-seen/messages')).toMatchObject({ status: 404 });
    expect(await api.post('/api/chat/never-seen/stop')).toMatchObject({ status: 404 });
    expect((await api.call('GET', '/api/chat/chat-3/stream', undefined, { authorization: 'Bearer no' })).status).toBe(
      401,
    );
  });
});
