import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { runConcerto } from '../support/run-concerto.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

let folder: string;
let server: StartedServer;
let api: Api;

const options = () => ({ folder, args: ['--store', 'sqlite:sessions.db'], env: { TOOLS_TOKEN: 'very-secret-token' } });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-drivers-'));
  const project = '[project]\nname = "driven"\nversion = "0.1.0"\nentry = "claude.conc"\n';
  const agent = (name: string): string =>
    `[agents.${name}]\nprotocol = "${name}"\ncommand = ${JSON.stringify(process.execPath)}\n` +
    `args = [${JSON.stringify(join(root, `packages/agents/test/agents/${name}.mjs`))}]\n`;
  await writeFile(
    join(folder, 'Concerto.toml'),
    [project, '[server]\ninline_tools = "any"', agent('claude'), agent('codex')].join('\n'),
  );
  server = await startServer(options());
  api = apiOf(server);
});

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const isFinish = (event: { type: string }): boolean => event.type === 'finish';
const isTurnEnd = (event: { type: string }): boolean => event.type === 'turnComplete';
const isQuestion = (event: { requestId?: string; type: string }): boolean =>
  typeof event.requestId === 'string' && event.type !== 'requestSettled';
const textsOf = (events: readonly any[]): string[] =>
  events.filter(({ type }) => type === 'content').map(({ content }) => content.parts[0].text);

async function answer(id: string, requestId: string, response: unknown): Promise<void> {
  expect((await api.post(`/api/sessions/${id}/requests/${requestId}`, { response })).status).toBe(200);
}

/** The turn that a message begins, to its end. */
async function turn(id: string, content: string, after: number): Promise<any[]> {
  await api.post(`/api/sessions/${id}/messages`, { content });
  return await api.until(id, (event) => isTurnEnd(event) && event.seq > after);
}

describe.each(['claude', 'codex'])('a session with an agent of protocol "%s"', (agent) => {
  test('one turn from its start to its finish: thoughts, words, usage, result', async () => {
    const { id } = await api.start({ agent, prompt: 'think', once: true });
    const events = await api.until(id, isFinish);
    const types = events.map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['start', 'thought', 'content', 'usage', 'turnComplete', 'complete']));
    expect(events.at(-2)).toMatchObject({ result: { success: true, outcomes: { parts: [{ text: 'Thought.' }] } } });
    const { usage, status } = (await api.get(`/api/sessions/${id}`)).body;
    expect(status).toBe('completed');
    expect(usage).toMatchObject({ outputTokens: 5 });
    const { agents } = (await api.get('/api/agents')).body;
    expect(agents.find(({ name }: { name: string }) => name === agent)).toMatchObject({
      protocol: agent,
      capabilities: expect.arrayContaining(['steer', 'interrupt', 'cancel']),
    });
  });

  test('a permission is a consent, its tool a call that has a result; a refusal tells why', async () => {
    const { id } = await api.start({ agent, prompt: 'use rm -r build' });
    const asked = (await api.until(id, isQuestion)).at(-1);
    expect(asked).toMatchObject({
      type: 'queryConsent',
      consentType: 'approval',
      scope: { risk_level: 'high', input: { command: 'rm -r build' } },
    });
    expect((await api.get(`/api/sessions/${id}`)).body).toMatchObject({ status: 'waitingForApproval' });
    await answer(id, asked.requestId, true);
    const events = await api.until(id, isTurnEnd);
    const call = events.filter(({ type }) => type === 'functionCall').at(-1);
    expect(call).toMatchObject({ args: { command: 'rm -r build' } });
    expect(events).toContainEqual(expect.objectContaining({ type: 'functionResult', callId: call.callId }));
    expect(textsOf(events).at(-1)).toBe('Done.');

    await api.post(`/api/sessions/${id}/messages`, { content: 'use ls dist' });
    const again = (await api.until(id, (event) => isQuestion(event) && event.seq > events.length)).at(-1);
    expect(again.scope.risk_level).toBe('low');
    await answer(id, again.requestId, 'no, use git clean');
    const refused = await api.until(id, (event) => isTurnEnd(event) && event.seq > again.seq);
    expect(textsOf(refused).at(-1)).toBe('The supervisor refused this: use git clean');
    await api.post(`/api/sessions/${id}/cancel`);
    await api.until(id, isFinish);
  });

  test('a question with options is a choice', async () => {
    const { id } = await api.start({ agent, prompt: 'choose', once: true });
    const first = (await api.until(id, isQuestion)).at(-1);
    expect(first).toMatchObject({ type: 'waitForChoice', prompt: { parts: [{ text: 'Which store?' }, {}] } });
    await answer(id, first.requestId, { selected: ['option-2'] });
    const second = (await api.until(id, (event) => isQuestion(event) && event.seq > first.seq)).at(-1);
    await answer(id, second.requestId, { input: { parts: [{ text: 'main' }] } });
    expect(textsOf(await api.until(id, isFinish)).at(-1)).toMatch(/Redis.*main/);
  });

  test('an immediate message steers the turn', async () => {
    const { id } = await api.start({ agent, prompt: 'work', once: true });
    await api.until(id, ({ type }) => type === 'content');
    await api.post(`/api/sessions/${id}/messages`, { content: 'in English', priority: 'immediate' });
    const events = await api.until(id, isFinish);
    expect(textsOf(events).at(-1)).toBe('heard: in English');
    expect(events.filter(isTurnEnd)).toHaveLength(1);
  });

  test('an interrupt in an open permission: withdrawn, stopped, and the next message goes on', async () => {
    const { id } = await api.start({ agent, prompt: 'use rm -r build' });
    const asked = (await api.until(id, isQuestion)).at(-1);
    expect((await api.post(`/api/sessions/${id}/interrupt`)).status).toBe(202);
    const events = await api.untilStatus(id, 'interrupted');
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'requestSettled', requestId: asked.requestId, outcome: 'withdrawn' }),
    );
    expect(events.at(-1)).not.toMatchObject({ reason: 'forced' });
    expect(textsOf(await turn(id, 'say more', events.length)).at(-1)).toBe('more');
    await api.post(`/api/sessions/${id}/cancel`);
    const end = await api.until(id, isFinish);
    expect(end.at(-2)).toMatchObject({ type: 'error', message: 'cancelled' });
  });

  test('a question that the agent takes back is withdrawn', async () => {
    const { id } = await api.start({ agent, prompt: 'withdraw', once: true });
    const events = await api.until(id, isFinish);
    const asked = events.find(isQuestion);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'requestSettled', requestId: asked.requestId, outcome: 'withdrawn' }),
    );
  });

  test('a program in the language supervises it', async () => {
    await writeFile(join(folder, `${agent}.conc`), supervisor(agent));
    const { code, out, err } = await runConcerto(['run', join(folder, `${agent}.conc`)]).ended;
    expect(err).toBe('');
    expect(out).toContain('rm -r build (high)\n');
    expect(out).toContain('[emit:thought] ');
    expect(out).toContain('[emit:result] Done.\n');
    expect(code).toBe(0);
  });

  test('an error of the model ends the turn as failed', async () => {
    const { id } = await api.start({ agent, prompt: agent === 'claude' ? 'limit' : 'fail' });
    const events = await api.until(id, ({ type }) => type === 'subagentError');
    expect(events.at(-1)).toMatchObject({ error: { $error: expect.stringMatching(/529|429/) } });
    await api.post(`/api/sessions/${id}/cancel`);
    await api.until(id, isFinish);
  });

  test('a process that is lost is followed by one that goes on with the same conversation', async () => {
    const { id } = await api.start({ agent, prompt: 'say one' });
    const first = await api.until(id, isTurnEnd);
    await api.post(`/api/sessions/${id}/messages`, { content: 'die' });
    const before = await api.untilStatus(id, 'interrupted');
    expect(before.length).toBeGreaterThan(first.length);
    const shown = JSON.parse(textsOf(await turn(id, 'show', before.length)).at(-1) ?? '');
    expect(shown.options?.resume ?? shown.started.threadId).toBe(agent === 'claude' ? 'c-1' : 't-1');
    await api.post(`/api/sessions/${id}/cancel`);
    await api.until(id, isFinish);
  });

  test('one that was lost in mid-turn goes on when it is resumed: with its conversation, told to continue', async () => {
    const { id } = await api.start({ agent, prompt: 'say one' });
    await api.until(id, isTurnEnd);
    await api.post(`/api/sessions/${id}/messages`, { content: 'die' });
    const before = await api.untilStatus(id, 'interrupted');
    expect((await api.post(`/api/sessions/${id}/resume`)).status).toBe(202);
    const told = await api.until(id, (event) => isTurnEnd(event) && event.seq > before.length);
    expect(textsOf(told).at(-1)).toBe('heard: continue');
    const shown = JSON.parse(textsOf(await turn(id, 'show', told.length)).at(-1) ?? '');
    expect(shown.options?.resume ?? shown.started.threadId).toBe(agent === 'claude' ? 'c-1' : 't-1');
    const { history } = (await api.get(`/api/sessions/${id}/messages?all=true`)).body;
    expect(history.filter(({ content }: { content: string }) => content === 'continue')).toMatchObject([
      { source: 'system', status: 'delivered' },
    ]);
    await api.post(`/api/sessions/${id}/cancel`);
    await api.until(id, isFinish);
  });

  test('tools reach it in its own form, and a secret is in no event', async () => {
    const servers = {
      files: { transport: 'stdio', command: 'mcp-files', env: { FILES_TOKEN: { env: 'TOOLS_TOKEN' } } },
    };
    const { id } = await api.start({ agent, prompt: 'say ready', tools: { servers, deny: ['Bash', 'shell'] } });
    const ready = await api.until(id, isTurnEnd);
    expect(JSON.stringify(ready)).not.toContain('very-secret-token');
    expect(JSON.stringify(await turn(id, 'show', ready.length))).toContain('very-secret-token');
    await api.post(`/api/sessions/${id}/cancel`);
    await api.until(id, isFinish);
  });

  test('what it says of a secret when it dies is struck out', async () => {
    const servers = {
      files: { transport: 'stdio', command: 'mcp-files', env: { FILES_TOKEN: { env: 'TOOLS_TOKEN' } } },
    };
    const { id } = await api.start({ agent, prompt: 'leak', once: true, tools: { servers } });
    const events = JSON.stringify(await api.until(id, isFinish));
    expect(events).toContain('cannot log in with');
    expect(events).not.toContain('very-secret-token');
  });

  test('one that dies in its only turn says why', async () => {
    const { id } = await api.start({ agent, prompt: 'die', once: true });
    const events = await api.until(id, isFinish);
    expect(events.find(({ type }) => type === 'error').message).toContain('out of memory');
  });
});

function supervisor(agent: string): string {
  return `
agent Coder { connector: ${agent}, timeout: 30 }

fn main() -> Result<Nil, Error> {
    listen Coder.execute("think") {
        "thought" => |thought| { emit("thought", thought.text); },
        _ => |_| {},
    }?;
    let result = listen Coder.execute("use rm -r build") {
        "approval" => |request| {
            emit("approved", "\${request.description} (\${request.risk_level})");
            "yes"
        },
        _ => |_| {},
    }?;
    emit("result", result.text);
    Ok(nil)
}
`;
}
