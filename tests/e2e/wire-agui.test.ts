import { join } from 'node:path';
import { HttpAgent, type Interrupt, type Message } from '@ag-ui/client';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundlePage, openForeignPage, sayOn, statusOn, textsOn } from '../support/foreign-page.ts';
import { openBrowser } from '../support/open-browser.ts';
import { startRoomyPuppetServer, steps } from '../support/puppets.ts';

const puppet = JSON.stringify(join(import.meta.dirname, '../support/puppet.mjs'));
const seeing = `[agents.seeing]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${puppet}]\naccepts = ["text", "image/*"]\n`;
const puppets = await startRoomyPuppetServer(seeing);
const { api } = puppets;
afterAll(() => puppets.close());

type Ended = { readonly outcome?: string; readonly interrupts: readonly Interrupt[]; readonly error?: string };

/** Their client, as any page has it. */
function agentOf(path = '/api/agui?agent=able', threadId?: string): HttpAgent {
  const headers = { authorization: `Bearer ${api.token}` };
  return new HttpAgent({ url: api.url + path, headers, ...(threadId === undefined ? {} : { threadId }) });
}

async function run(agent: HttpAgent, parameters: Parameters<HttpAgent['runAgent']>[0] = {}): Promise<Ended> {
  let ended: Ended = { interrupts: [] };
  await agent.runAgent(parameters, {
    onRunFinishedEvent: (params) => {
      ended = { outcome: params.outcome, interrupts: params.outcome === 'interrupt' ? params.interrupts : [] };
    },
    onRunErrorEvent: ({ event }) => {
      ended = { error: event.message, interrupts: [] };
    },
  });
  return ended;
}

const say = (agent: HttpAgent, id: string, content: string): void => agent.addMessage({ id, role: 'user', content });
const texts = (messages: readonly Message[]): unknown[] =>
  messages.filter(({ role }) => role === 'assistant').flatMap(({ content }) => content ?? []);

const work = steps(
  { say: { type: 'thought', text: 'Let me see.' } },
  { say: { type: 'plan', entries: [{ content: 'look', status: 'in_progress' }] } },
  { say: { type: 'partial', text: 'I will ' } },
  { say: { type: 'partial', text: 'look.' } },
  { say: { type: 'tool_call', id: 't1', name: 'Bash', args: { command: 'rm -r build' }, kind: 'execute' } },
  { ask: { type: 'approval', id: 'a1', description: 'rm -r build', call: 't1' } },
  { say: { type: 'tool_result', id: 't1', content: 'gone' } },
  { ask: { type: 'question', id: 'q1', question: 'Which?', options: ['red', 'blue'] } },
  { say: { type: 'usage', input_tokens: 10, output_tokens: 5, model: 'm1' } },
  { tell: 'answer' },
);

describe('AG-UI', () => {
  test('a thread begins a session; what it asks interrupts the run, and the next one resumes it', async () => {
    const agent = agentOf(undefined, 'agui-thread-1');
    say(agent, 'u1', work);
    const asked = await run(agent);
    expect(asked.interrupts).toMatchObject([{ reason: 'tool_call', toolCallId: 't1', message: 'rm -r build' }]);
    expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'reasoning', 'assistant']);
    expect(agent.state).toMatchObject({ session: { id: 'agui-thread-1', plan: [{ content: 'look' }] } });

    const [approval] = asked.interrupts;
    const chosen = await run(agent, {
      resume: [{ interruptId: approval?.id ?? '', status: 'resolved', payload: { approved: true } }],
    });
    expect(chosen.interrupts).toMatchObject([{ reason: 'input_required', message: 'Which?' }]);
    const [question] = chosen.interrupts;
    const done = await run(agent, {
      resume: [{ interruptId: question?.id ?? '', status: 'resolved', payload: 'option-2' }],
    });
    expect(done).toMatchObject({ outcome: 'success' });
    expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'reasoning', 'assistant', 'tool', 'assistant']);
    expect(agent.messages[3]).toMatchObject({ toolCallId: 't1', content: 'gone', metadata: { outcome: 'ok' } });
    const [first, last] = texts(agent.messages);
    expect(first).toBe('I will look.');
    expect(JSON.parse(String(last))).toMatchObject({ in_reply_to_id: 'q1', value: 'blue' });
    expect(agent.state).toMatchObject({ session: { status: 'idle', usage: { inputTokens: 10, outputTokens: 5 } } });

    // The same thread goes on, and nothing that it has said is said again.
    say(agent, 'u2', 'and now?');
    expect(await run(agent)).toMatchObject({ outcome: 'success' });
    expect(texts(agent.messages).at(-1)).toBe('did: and now?');
    const { history } = (await api.get('/api/sessions/agui-thread-1/messages?all=true')).body;
    expect(history.map(({ id }: { id: string }) => id)).toEqual(['u1', 'u2']);
  });

  test('whoever joins a live session hears all of it, says something, and a lost line costs nothing', async () => {
    const gate = puppets.gate();
    const prompt = steps(
      { say: { type: 'partial', text: 'one ' } },
      { until: gate.path },
      { say: { type: 'partial', text: 'two' } },
      { say: { type: 'result' } },
    );
    const { id } = await api.start({ agent: 'able', prompt });
    await api.until(id, (event) => event.type === 'content');
    const agent = agentOf(`/api/agui/${id}`);
    // The line goes as soon as the first words were heard.
    await agent.runAgent({}, { onMessagesSnapshotEvent: () => agent.abortRun() }).catch(() => undefined);
    expect(texts(agent.messages)).toEqual(['one ']);
    const other = agentOf(`/api/agui/${id}`);
    say(other, 'from-other', 'next');
    const both = Promise.all([run(agent), run(other)]);
    await api.until(id, (event) => event.type === 'message' && event.message.id === 'from-other');
    await gate.open();
    expect(await both).toMatchObject([{ outcome: 'success' }, { outcome: 'success' }]);
    // What the other said is heard by both; this one left after the turn that it came for.
    expect(texts(other.messages)).toEqual(['one two', 'did: next']);
    await run(agent);
    // A client keeps the order in which it came to know them.
    const byId = (a: Message, b: Message): number => a.id.localeCompare(b.id);
    expect(agent.messages.toSorted(byId)).toEqual(other.messages.toSorted(byId));
  });

  test('a text that is corrected while a message waits takes nothing that is the client’s own', async () => {
    const gate = puppets.gate();
    const prompt = steps(
      { say: { type: 'partial', message: 'm1', text: 'wrong' } },
      { until: gate.path },
      { say: { type: 'message', id: 'm1', text: 'right' } },
      { say: { type: 'result' } },
    );
    const { id } = await api.start({ agent: 'able', prompt });
    await api.until(id, (event) => event.type === 'content');
    const agent = agentOf(`/api/agui/${id}`);
    agent.addMessage({ id: 'sys', role: 'system', content: 'my own' });
    say(agent, 'waits', 'next');
    const running = run(agent);
    await api.until(id, (event) => event.type === 'message' && event.message.id === 'waits');
    await gate.open();
    expect(await running).toMatchObject({ outcome: 'success' });
    expect(texts(agent.messages)).toEqual(['right', 'did: next']);
    expect(agent.messages).toEqual(
      expect.arrayContaining([
        { id: 'sys', role: 'system', content: 'my own' },
        { id: 'waits', role: 'user', content: 'next' },
      ]),
    );
  });

  test('what was heard cannot be said otherwise; said again as it was, it is known', async () => {
    const agent = agentOf(undefined, 'agui-thread-edited');
    say(agent, 'u1', 'one');
    say(agent, 'u2', 'two \ud83d');
    expect(await run(agent)).toMatchObject({ outcome: 'success' });
    expect(texts(agent.messages)).toEqual(['did: one\n\ntwo \ufffd']);
    // A client whose line broke before it had heard anything.
    const again = agentOf(undefined, 'agui-thread-edited');
    say(again, 'u1', 'one');
    say(again, 'u2', 'two \ud83d');
    expect(await run(again)).toMatchObject({ outcome: 'success' });
    expect(texts(again.messages)).toEqual(texts(agent.messages));

    const edited = agentOf(undefined, 'agui-thread-edited');
    say(edited, 'u1', 'one, or rather three');
    await expect(run(edited)).rejects.toThrow('id_in_use');
    const { history } = (await api.get('/api/sessions/agui-thread-edited/messages?all=true')).body;
    expect(history).toHaveLength(1);
  });

  test('who comes back to a session that was cancelled hears just that', async () => {
    const agent = agentOf(undefined, 'agui-thread-gone');
    say(agent, 'u1', 'one');
    await run(agent);
    await api.post('/api/sessions/agui-thread-gone/cancel');
    await api.until('agui-thread-gone', (event) => event.type === 'finish');
    expect(await run(agent)).toMatchObject({ outcome: 'cancelled' });
  });

  test('what another has answered is settled for this client too', async () => {
    const agent = agentOf(undefined, 'agui-thread-2');
    say(agent, 'u1', steps({ ask: { type: 'question', id: 'q', question: 'Well?' } }, { tell: 'answer' }));
    const { interrupts } = await run(agent);
    const [{ id } = { id: '' }] = interrupts;
    await api.post(`/api/sessions/agui-thread-2/requests/${id}`, { response: 'the page said so' });
    const ended = await run(agent, { resume: [{ interruptId: id, status: 'resolved', payload: 'too late' }] });
    expect(ended).toMatchObject({ outcome: 'success' });
    expect(String(texts(agent.messages).at(-1))).toContain('the page said so');
  });

  test('a turn that fails is a run that fails; one that is interrupted is cancelled', async () => {
    const failing = agentOf('/api/agui?agent=puppet', 'agui-thread-3');
    say(failing, 'u1', steps({ say: { type: 'error', message: 'it broke' } }));
    expect(await run(failing)).toMatchObject({ error: expect.stringContaining('it broke') });

    const stopped = agentOf(undefined, 'agui-thread-4');
    say(stopped, 'u1', steps({ say: { type: 'partial', text: 'on and on' } }, { hang: true }));
    const running = run(stopped);
    await expect.poll(() => api.get('/api/sessions/agui-thread-4').then(({ body }) => body.status)).toBe('running');
    await api.until('agui-thread-4', (event) => event.type === 'content');
    await api.post('/api/sessions/agui-thread-4/interrupt');
    expect(await running).toMatchObject({ outcome: 'cancelled' });
    expect(texts(stopped.messages)).toEqual(['on and on']);
  });

  test('a picture goes to an agent that takes pictures, and is there for whoever comes later', async () => {
    const image = {
      type: 'image' as const,
      source: { type: 'data' as const, value: 'iVBORw0KGgo=', mimeType: 'image/png' },
    };
    const content = [{ type: 'text' as const, text: 'look' }, image];
    const agent = agentOf('/api/agui?agent=seeing', 'agui-thread-5');
    agent.addMessage({ id: 'u1', role: 'user', content });
    expect(await run(agent)).toMatchObject({ outcome: 'success' });
    const later = agentOf('/api/agui/agui-thread-5');
    await run(later);
    expect(later.messages[0]).toMatchObject({ id: 'u1', role: 'user', content: [{ type: 'text' }, { type: 'image' }] });
    const { messages } = (await api.get('/api/chat/agui-thread-5/messages')).body;
    expect(messages[0].parts).toContainEqual(expect.objectContaining({ type: 'file', mediaType: 'image/png' }));
    const blind = { threadId: 'agui-thread-6', runId: 'r', messages: [{ id: 'u', role: 'user', content }] };
    expect(await api.post('/api/agui?agent=able', blind)).toMatchObject({ status: 422 });
  });

  test('a large picture is elsewhere for who comes back, and is not said again', async () => {
    const png = Buffer.concat([Buffer.from('iVBORw0KGgo=', 'base64'), Buffer.alloc(1_200_000)]).toString('base64');
    const source = { type: 'data' as const, value: png, mimeType: 'image/png' };
    const agent = agentOf('/api/agui?agent=seeing', 'agui-thread-large');
    const content = [
      { type: 'text' as const, text: steps({ hang: true }) },
      { type: 'image' as const, source },
    ];
    agent.addMessage({ id: 'u1', role: 'user', content });
    // Each time it has heard no more than what it said itself.
    for (const type of ['data', 'url', 'url']) {
      await agent.runAgent({}, { onStateSnapshotEvent: () => agent.abortRun() });
      expect(agent.messages).toMatchObject([{ id: 'u1', content: [{ type: 'text' }, { source: { type } }] }]);
      await api.until('agui-thread-large', (event) => event.type === 'start');
    }
    await api.post('/api/sessions/agui-thread-large/cancel');
  });

  test('what cannot be served is refused, and says why', async () => {
    const input = { threadId: 'agui-x', runId: 'r', messages: [] };
    const picture = {
      id: 'u',
      role: 'user',
      content: [{ type: 'image', source: { type: 'url', value: 'http://x/' } }],
    };
    expect(await api.post('/api/agui', {})).toMatchObject({ status: 422, body: { code: 'invalid_body' } });
    expect(await api.post('/api/agui', input)).toMatchObject({ status: 422 });
    expect(await api.post('/api/agui/nobody', input)).toMatchObject({ status: 404, body: { code: 'no_such_session' } });
    expect(await api.post('/api/agui', { ...input, messages: [picture] })).toMatchObject({
      status: 422,
      body: { code: 'unsupported_content' },
    });
    expect(await api.call('GET', '/api/agui')).toMatchObject({ status: 405 });
    expect((await api.call('POST', '/api/agui', input, { authorization: 'Bearer no' })).status).toBe(401);
    expect((await api.call('POST', '/api/agui', input, { origin: 'https://evil.example' })).status).toBe(403);
  });
});

describe('a page with their client and React, in a browser', () => {
  let browser: Browser;
  let script: string;
  beforeAll(async () => {
    [browser, script] = await Promise.all([openBrowser(), bundlePage('agui-page.jsx')]);
  });
  afterAll(() => browser?.close());

  test('a message, an answer as it comes, a tool, interrupts that are answered; a lost line and a reload cost nothing', async () => {
    const gate = puppets.gate();
    const streamed = steps(
      { say: { type: 'partial', text: 'one ' } },
      { until: gate.path },
      { say: { type: 'partial', text: 'two' } },
      { say: { type: 'result' } },
    );
    const { page, problems } = await openForeignPage(browser, puppets, { script, id: 'agui-page' });
    await sayOn(page, streamed);
    await expect.poll(() => textsOn(page), { timeout: 20_000 }).toEqual([streamed, 'one ']);
    await page.getByRole('button', { name: 'Reconnect' }).click();
    await expect.poll(() => statusOn(page)).toBe('running');
    await page.reload();
    await expect.poll(() => textsOn(page)).toEqual([streamed, 'one ']);
    await gate.open();
    await expect.poll(() => textsOn(page)).toEqual([streamed, 'one two']);
    await expect.poll(() => statusOn(page)).toBe('success');

    await sayOn(page, work);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('button', { name: 'blue' }).click();
    await expect.poll(() => statusOn(page), { timeout: 20_000 }).toBe('success');
    const shown = [streamed, 'one two', work, 'I will look.', expect.stringContaining('"value":"blue"')];
    expect(await textsOn(page)).toEqual(shown);
    expect(await page.locator('.reasoning').allTextContents()).toEqual(['Let me see.']);
    expect(await page.locator('.plan').textContent()).toBe('look');
    expect(await page.locator('.tool').allTextContents()).toEqual(['Bash {"command":"rm -r build"} gone']);

    await page.reload();
    await expect.poll(() => textsOn(page)).toEqual(shown);
    expect(problems).toEqual([]);
  });
});
