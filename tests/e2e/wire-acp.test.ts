import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import {
  type Client,
  ClientSideConnection,
  ndJsonStream,
  type RequestPermissionRequest,
  type SessionNotification,
} from 'acp-example-agent';
import { afterAll, describe, expect, test } from 'vitest';
import { concertoCommand } from '../support/concerto-command.ts';
import { startPuppetServer, steps } from '../support/puppets.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const modal = `[agents.modal]
protocol = "acp"
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([join(root, 'packages/agents/test/agents/acp.mjs'), 'modes'])}
per_session = ["mode", "model", "working_dir"]
`;
const echo =
  '[connections.offline]\nprovider = "mock"\n[assistants.echo]\nconnection = "offline"\n[assistants.graphic]\nconnection = "offline"\nfunctions = ["read_graph"]\n';
/** A program that has words and asks. */
const ships = `struct Plan { description: String }
async fn main() -> Result<String, String> {
    let what = std::env::get("CONCERTO_PROMPT").unwrap();
    emit("progress", "half way");
    Ok("\${what}: \${await emit("approve", Plan { description: "Ship \${what}" })}")
}
`;
const folder = await mkdtemp(join(tmpdir(), 'concerto-editor-'));
await writeFile(join(folder, 'ships.conc'), ships);
const programs = '[programs.ships]\nentry = "ships.conc"\n';
const rules = '[server]\ninline_tools = "any"\ninline_commands = ["serve-*"]\n';
const puppets = await startPuppetServer({ folder, manifest: modal + echo + programs + rules });
await puppets.api.call('PUT', '/api/pool', { max: 200 });
const { api } = puppets;
const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) child.stdin?.end();
  await puppets.close();
  await rm(folder, { recursive: true, force: true });
});

type Editor = {
  readonly agent: ClientSideConnection;
  readonly updates: SessionNotification['update'][];
  readonly asked: RequestPermissionRequest[];
};

/** Their client, with `concerto acp` as its agent. `choose` picks an option; undefined leaves the question open. */
function openEditor(
  choose: (asked: RequestPermissionRequest) => string | undefined,
  flags = ['--agent', 'able'],
): Editor {
  const args = [...concertoCommand, 'acp', ...flags, '--url', api.url, '--token', api.token];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const updates: SessionNotification['update'][] = [];
  const asked: RequestPermissionRequest[] = [];
  const client: Client = {
    sessionUpdate: async ({ update }) => void updates.push(update),
    requestPermission: async (request) => {
      asked.push(request);
      const optionId = choose(request);
      if (optionId === undefined) return await new Promise(() => undefined);
      return { outcome: { outcome: 'selected', optionId } };
    },
  };
  const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>);
  return { agent: new ClientSideConnection(() => client, stream), updates, asked };
}

const textOf = (updates: Editor['updates'], kind: string): string =>
  updates
    .flatMap((update) => ('content' in update && update.sessionUpdate === kind ? [update.content] : []))
    .map((content) => (content !== null && content !== undefined && 'text' in content ? content.text : ''))
    .join('');

const prompt = (text: string) => [{ type: 'text' as const, text }];

const work = steps(
  { say: { type: 'thought', text: 'Let me see.' } },
  { say: { type: 'plan', entries: [{ content: 'look', status: 'in_progress' }] } },
  { say: { type: 'partial', text: 'I will.' } },
  {
    say: {
      type: 'tool_call',
      id: 't1',
      name: 'Edit',
      args: { path: 'a.txt' },
      kind: 'edit',
      locations: [{ path: 'a.txt', line: 1 }],
      changes: [{ path: 'a.txt', kind: 'edit', patch: '@@ -1 +1 @@\n-hello\n+bye\n', added: 1, removed: 1 }],
    },
  },
  { ask: { type: 'approval', id: 'a1', description: 'Edit a.txt', call: 't1' } },
  { say: { type: 'tool_result', id: 't1', content: 'done' } },
  { ask: { type: 'question', id: 'q1', question: 'Which?', options: ['red', 'blue'] } },
  { tell: 'answer' },
);

describe('concerto acp', () => {
  test('an editor drives a session: plan, thoughts, tools, permissions, choices; the page sees the same', async () => {
    const editor = openEditor(
      ({ options }) => options.find(({ name }) => name === 'blue' || name === 'Allow')?.optionId,
    );
    const introduction = await editor.agent.initialize({ protocolVersion: 1, clientCapabilities: {} });
    expect(introduction).toMatchObject({ protocolVersion: 1, agentCapabilities: { loadSession: true } });
    const { sessionId } = await editor.agent.newSession({ cwd: puppets.folder, mcpServers: [] });
    expect(await editor.agent.prompt({ sessionId, prompt: prompt(work) })).toEqual({ stopReason: 'end_turn' });
    expect(textOf(editor.updates, 'agent_thought_chunk')).toBe('Let me see.');
    expect(textOf(editor.updates, 'agent_message_chunk')).toContain('I will.');
    expect(textOf(editor.updates, 'agent_message_chunk')).toContain('blue');
    expect(editor.updates).toContainEqual(
      expect.objectContaining({ sessionUpdate: 'plan', entries: [expect.objectContaining({ content: 'look' })] }),
    );
    expect(editor.updates).toContainEqual(
      expect.objectContaining({
        sessionUpdate: 'tool_call',
        toolCallId: 't1',
        kind: 'edit',
        title: 'Edit',
        content: [{ type: 'diff', path: 'a.txt', oldText: 'hello', newText: 'bye' }],
        locations: [{ path: 'a.txt', line: 1 }],
      }),
    );
    expect(editor.updates).toContainEqual(
      expect.objectContaining({ sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'completed' }),
    );
    expect(editor.asked.map(({ toolCall }) => toolCall.title)).toEqual(['Edit a.txt', 'Which?']);
    expect((await api.get(`/api/sessions/${sessionId}`)).body).toMatchObject({ status: 'idle', agent: 'able' });

    // Somebody else says something in it: the editor hears that too, and another editor loads all of it.
    await api.post(`/api/sessions/${sessionId}/messages`, { content: 'from the page' });
    await expect.poll(() => textOf(editor.updates, 'agent_message_chunk')).toContain('did: from the page');
    expect(textOf(editor.updates, 'user_message_chunk')).toBe('from the page');
    const other = openEditor(() => undefined);
    await other.agent.initialize({ protocolVersion: 1, clientCapabilities: {} });
    const { sessions } = await other.agent.listSessions({});
    expect(sessions.map((listed) => listed.sessionId)).toContain(sessionId);
    await other.agent.loadSession({ sessionId, cwd: puppets.folder, mcpServers: [] });
    expect(textOf(other.updates, 'agent_message_chunk')).toBe(textOf(editor.updates, 'agent_message_chunk'));
    expect(textOf(other.updates, 'user_message_chunk')).toBe(`${work}from the page`);
  });

  test('what the page answers is settled in the editor; what needs words is answered by the next prompt', async () => {
    const editor = openEditor(() => undefined);
    await editor.agent.initialize({ protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await editor.agent.newSession({ cwd: puppets.folder, mcpServers: [] });
    const asking = steps(
      { ask: { type: 'approval', id: 'a', description: 'sure?' } },
      { ask: { type: 'question', id: 'q', question: 'What name?' } },
      { tell: 'answer' },
    );
    const asked = editor.agent.prompt({ sessionId, prompt: prompt(asking) });
    await expect.poll(() => editor.asked.length, { timeout: 20_000 }).toBe(1);
    const { requests } = (await api.get(`/api/sessions/${sessionId}/requests`)).body;
    await api.post(`/api/sessions/${sessionId}/requests/${requests[0].requestId}`, { response: true });
    expect(await asked).toEqual({ stopReason: 'end_turn' });
    expect(textOf(editor.updates, 'agent_message_chunk')).toBe('What name?\n');
    expect(await editor.agent.prompt({ sessionId, prompt: prompt('Ann') })).toEqual({ stopReason: 'end_turn' });
    expect(textOf(editor.updates, 'agent_message_chunk')).toContain('Ann');
  });

  test('what only a client with a graph can answer is told, and no prompt is taken for its answer', async () => {
    const editor = openEditor(() => undefined, ['--assistant', 'graphic']);
    await editor.agent.initialize({ protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await editor.agent.newSession({ cwd: puppets.folder, mcpServers: [] });
    const reading = editor.agent.prompt({ sessionId, prompt: prompt('/call read_graph {}') });
    await expect
      .poll(() => textOf(editor.updates, 'agent_message_chunk'), { timeout: 20_000 })
      .toBe('(waits for a client that has the graph: the graph)\n');
    const next = editor.agent.prompt({ sessionId, prompt: prompt('what graph?') });
    await expect.poll(async () => (await api.get(`/api/sessions/${sessionId}`)).body.pending).toBe(1);
    const { requests } = (await api.get(`/api/sessions/${sessionId}/requests`)).body;
    const graph = { nodes: [], edges: [] };
    await api.post(`/api/sessions/${sessionId}/requests/${requests[0].requestId}`, { response: { graph } });
    expect(await Promise.all([reading, next])).toEqual([{ stopReason: 'end_turn' }, { stopReason: 'end_turn' }]);
    expect(textOf(editor.updates, 'agent_message_chunk')).toMatch(/"nodes":\[\].*what graph\?/s);
  });

  test('cancel stops the turn; a failing one is an error; what cannot be taken is refused', async () => {
    const editor = openEditor(() => undefined);
    await editor.agent.initialize({ protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await editor.agent.newSession({ cwd: puppets.folder, mcpServers: [] });
    const hanging = steps({ say: { type: 'partial', text: 'on and on' } }, { hang: true });
    const running = editor.agent.prompt({ sessionId, prompt: prompt(hanging) });
    await expect.poll(() => textOf(editor.updates, 'agent_message_chunk'), { timeout: 20_000 }).toBe('on and on');
    await editor.agent.cancel({ sessionId });
    expect(await running).toEqual({ stopReason: 'cancelled' });
    // A prompt that nobody has heard yet is taken back.
    const again = editor.agent.prompt({ sessionId, prompt: prompt(hanging) });
    await expect.poll(() => textOf(editor.updates, 'agent_message_chunk')).toBe('on and onon and on');
    const queued = editor.agent.prompt({ sessionId, prompt: prompt('never heard') });
    await expect.poll(async () => (await api.get(`/api/sessions/${sessionId}`)).body.pending).toBe(1);
    await editor.agent.cancel({ sessionId });
    expect(await Promise.all([again, queued])).toEqual([{ stopReason: 'cancelled' }, { stopReason: 'cancelled' }]);
    expect(textOf(editor.updates, 'agent_message_chunk')).not.toContain('never heard');
    const failing = steps({ say: { type: 'error', message: 'it broke' } });
    await expect(editor.agent.prompt({ sessionId, prompt: prompt(failing) })).rejects.toMatchObject({
      message: expect.stringContaining('it broke'),
    });
    await expect(
      editor.agent.prompt({ sessionId, prompt: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] }),
    ).rejects.toMatchObject({ message: expect.stringContaining('takes') });
    await expect(editor.agent.prompt({ sessionId, prompt: prompt(' ') })).rejects.toMatchObject({ code: -32602 });
    await expect(editor.agent.prompt({ sessionId: 'nobody', prompt: prompt('x') })).rejects.toMatchObject({
      code: -32602,
    });
  });

  test('tool servers of the editor are handed on', async () => {
    const editor = openEditor(() => undefined, ['--agent', 'tuned']);
    await editor.agent.initialize({ protocolVersion: 1, clientCapabilities: {} });
    const server = { name: 'files', command: 'serve-files', args: ['/srv'], env: [{ name: 'LEVEL', value: '2' }] };
    const { sessionId } = await editor.agent.newSession({ cwd: puppets.folder, mcpServers: [server] });
    expect(await editor.agent.prompt({ sessionId, prompt: prompt('hello') })).toEqual({ stopReason: 'end_turn' });
    const { events } = (await api.get(`/api/sessions/${sessionId}/events?format=json`)).body;
    const heard = events.find(({ title }: { title?: string }) => title === 'heard');
    expect(JSON.stringify(heard)).toContain('serve-files');

    const refused = { ...server, name: 'shell', command: 'sh' };
    const other = await editor.agent.newSession({ cwd: puppets.folder, mcpServers: [refused] });
    await expect(editor.agent.prompt({ sessionId: other.sessionId, prompt: prompt('hello') })).rejects.toMatchObject({
      message: expect.stringMatching(/tools\.servers\.shell: .*inline_commands/),
    });
  });

  test('modes, models, commands, the folder and pictures: chosen in the editor or on the page', async () => {
    const editor = openEditor(() => undefined, ['--agent', 'modal']);
    const told = (kind: string): readonly object[] =>
      editor.updates.filter(({ sessionUpdate }) => sessionUpdate === kind);
    await editor.agent.initialize({ protocolVersion: 1, clientCapabilities: {} });
    const cwd = join(puppets.folder, 'sub');
    await mkdir(cwd);
    // Nobody knows yet what it has; it says so when it first runs.
    const first = await editor.agent.newSession({ cwd, mcpServers: [] });
    expect(first.modes).toBeUndefined();
    await editor.agent.prompt({ sessionId: first.sessionId, prompt: prompt('commands') });
    expect(told('available_commands_update')).toEqual([
      expect.objectContaining({
        availableCommands: [expect.objectContaining({ name: 'compact' }), expect.objectContaining({ name: 'cost' })],
      }),
    ]);
    expect(told('current_mode_update')).toEqual([expect.objectContaining({ currentModeId: 'ask' })]);
    expect(told('config_option_update')[0]).toMatchObject({
      configOptions: [
        { id: 'mode', category: 'mode', currentValue: 'ask' },
        { id: 'model', category: 'model', currentValue: 'small' },
      ],
    });

    // From then on it is asked for with the start.
    const { sessionId, modes } = await editor.agent.newSession({ cwd, mcpServers: [] });
    expect(modes).toMatchObject({
      currentModeId: 'ask',
      availableModes: [{ id: 'ask', name: 'The mode ask' }, {}, {}],
    });
    await editor.agent.setSessionMode({ sessionId, modeId: 'code' });
    const { configOptions } = await editor.agent.setSessionConfigOption({
      sessionId,
      configId: 'model',
      value: 'large',
    });
    expect(configOptions.map(({ id, currentValue }) => [id, currentValue])).toEqual([
      ['mode', 'code'],
      ['model', 'large'],
    ]);
    await editor.agent.prompt({ sessionId, prompt: prompt('opened') });
    const opened = JSON.parse(textOf(editor.updates, 'agent_message_chunk').replace('Told.', ''));
    expect(opened).toMatchObject({ mode: 'code', model: 'large', cwd });

    // While it runs: by the editor, by the page, and what does not exist or does not work.
    await editor.agent.setSessionMode({ sessionId, modeId: 'ask' });
    expect((await api.get(`/api/sessions/${sessionId}/agent`)).body.mode).toBe('ask');
    await api.post(`/api/sessions/${sessionId}/settings`, { params: { mode: 'code' } });
    await expect.poll(() => told('current_mode_update').at(-1)).toMatchObject({ currentModeId: 'code' });
    await expect(editor.agent.setSessionMode({ sessionId, modeId: 'fly' })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('ask, code, broken'),
    });
    await expect(editor.agent.setSessionMode({ sessionId, modeId: 'broken' })).rejects.toMatchObject({
      message: expect.stringContaining('this mode is broken'),
    });

    editor.updates.length = 0;
    const picture = { type: 'image' as const, mimeType: 'image/png', data: 'AAAA' };
    await editor.agent.prompt({ sessionId, prompt: [...prompt('see'), picture] });
    expect(JSON.parse(textOf(editor.updates, 'agent_message_chunk'))).toMatchObject([{ text: 'see' }, picture]);

    const other = openEditor(() => undefined);
    await other.agent.initialize({ protocolVersion: 1, clientCapabilities: {} });
    const loaded = await other.agent.loadSession({ sessionId, cwd, mcpServers: [] });
    expect(loaded.modes).toMatchObject({ currentModeId: 'code' });
    const { sessions } = await other.agent.listSessions({});
    expect(sessions.find((listed) => listed.sessionId === sessionId)?.cwd).toBe(cwd);
  });

  test('a session is forked: what was said goes on in another one', async () => {
    const editor = openEditor(() => undefined, ['--assistant', 'echo']);
    await editor.agent.initialize({ protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await editor.agent.newSession({ cwd: puppets.folder, mcpServers: [] });
    await editor.agent.prompt({ sessionId, prompt: prompt('first') });
    const fork = await editor.agent.unstable_forkSession({ sessionId, cwd: puppets.folder });
    await editor.agent.prompt({ sessionId: fork.sessionId, prompt: prompt('second') });
    const { forkOf } = (await api.get(`/api/sessions/${fork.sessionId}`)).body;
    expect(forkOf).toMatchObject({ session: sessionId });
    expect(textOf(editor.updates, 'agent_message_chunk')).toContain('second');
    expect((await api.get(`/api/sessions/${sessionId}`)).body.turn).toBe(1);
  });

  test('a program is driven like an agent', async () => {
    const editor = openEditor(
      ({ options }) => options.find(({ name }) => name === 'Allow')?.optionId,
      ['--program', 'ships'],
    );
    await editor.agent.initialize({ protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await editor.agent.newSession({ cwd: puppets.folder, mcpServers: [] });
    expect(await editor.agent.prompt({ sessionId, prompt: prompt('it') })).toEqual({ stopReason: 'end_turn' });
    expect(editor.asked.map(({ toolCall }) => toolCall.title)).toEqual(['Ship it']);
    expect((await api.get(`/api/sessions/${sessionId}`)).body).toMatchObject({ status: 'completed', kind: 'program' });
    expect(textOf(editor.updates, 'agent_message_chunk')).toContain('it: yes');
  });
});
