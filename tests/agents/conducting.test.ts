import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Json } from '@concerto/base';
import { afterAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { ScriptedRequest, ScriptTurn } from '../../packages/models/src/testing/scripted-model-server.ts';
import { apiOf } from '../support/api.ts';
import { root } from '../support/built-concerto.ts';
import { startRoomyPuppetServer, steps } from '../support/puppets.ts';
import { runProgram } from '../support/run-program.ts';
import { startServer } from '../support/start-server.ts';
import { claude, openPlace, type Place } from './real-claude.ts';

const timeout = 120_000;
const puppets = await startRoomyPuppetServer();
const { api } = puppets;
const places: Place[] = [];
afterAll(async () => {
  for (const place of places) await place.close();
  await puppets.close();
});

const asking = steps(
  { say: { type: 'partial', text: 'I will.' } },
  { ask: { type: 'approval', id: 'a', description: 'rm -r build' } },
  { tell: 'answer' },
);

const servers = {
  stdio: {
    command: process.execPath,
    args: [join(root, 'apps/cli/bin/concerto.js'), 'mcp', '--url', api.url, '--token', api.token],
  },
  http: { type: 'http', url: `${api.url}/mcp`, headers: { Authorization: `Bearer ${api.token}` } },
};

const Told = z.object({
  id: z.string(),
  status: z.string(),
  text: z.string().optional(),
  requests: z.array(z.object({ request: z.string(), question: z.string() })).optional(),
});
const Results = z.array(
  z.object({ type: z.literal('tool_result'), content: z.tuple([z.object({ text: z.string() })], z.unknown()) }),
);

/** What our tool gave the model last. */
function lastTold({ body }: ScriptedRequest): string {
  const messages: Json = Array.isArray(body.messages) ? body.messages : [];
  const { content } = z.object({ content: Results }).parse(messages.at(-1));
  return content[0]?.content[0].text ?? '';
}

/** A model that conducts: it knows of the other session only what the tools tell it. */
function conductor(heard: z.infer<typeof Told>[]): (request: ScriptedRequest, index: number) => ScriptTurn {
  const call = (name: string, args: Json): ScriptTurn => [{ tool: `mcp__concerto__${name}`, arguments: args }];
  return (request, index) => {
    if (index === 0) return call('start_session', { agent: 'able', prompt: asking });
    const text = lastTold(request);
    if (index === 3) return call('wait_for_session', { session: heard[0]?.id ?? '', seconds: 30 });
    heard.push(Told.parse(JSON.parse(text)));
    const { id: session = '', requests = [] } = heard.at(-1) ?? {};
    if (index === 1) return call('wait_for_session', { session, seconds: 30 });
    if (index === 2) return call('answer_request', { session, request: requests[0]?.request ?? '', response: true });
    return `It is ${heard.at(-1)?.status ?? ''}.`;
  };
}

describe.each(['stdio', 'http'] as const)('Claude Code itself, with our MCP server over %s', (over) => {
  test('starts a session, waits for it, answers what it asks, and tells what came of it', { timeout }, async () => {
    const heard: z.infer<typeof Told>[] = [];
    const place = await openPlace(conductor(heard));
    places.push(place);
    const config = join(place.workDir, 'mcp.json');
    await writeFile(config, JSON.stringify({ mcpServers: { concerto: servers[over] } }));
    const args = ['-p', 'Conduct', '--model', 'claude-sonnet-4-5', '--mcp-config', config, '--strict-mcp-config'];
    const ran = await runProgram([claude, ...args, '--allowedTools', 'mcp__concerto'], place.workDir, place.env);
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('It is idle.') });
    expect(heard[1]?.requests).toMatchObject([{ question: 'rm -r build' }]);
    expect(heard[1]?.text).toContain('I will.');
    expect(heard[2]?.text).toContain('"value":"yes"');
    const { events } = (await api.get(`/api/sessions/${heard[0]?.id}/events?format=json`)).body;
    const settled = events.filter(({ type }: { type: string }) => type === 'requestSettled');
    expect(settled).toMatchObject([{ response: true, outcome: 'answered' }]);
  });
});

test('acpx drives Claude Code through our log: its mode, its permission, its words', { timeout }, async () => {
  const writes = { tool: 'Bash', arguments: { command: 'echo hello > out.txt', description: 'Write out.txt' } };
  const place = await openPlace(['Ready.', [{ text: 'Writing.' }, writes], 'Written.']);
  places.push(place);
  const env = Object.entries(place.env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  await writeFile(
    join(place.workDir, 'Concerto.toml'),
    `[agents.real]\nprotocol = "claude"\ncommand = ${JSON.stringify(claude)}\nper_session = ["mode", "model"]\n` +
      `[agents.real.env]\n${env.join('\n')}\n[agents.real.params]\nmodel = "claude-sonnet-4-5"\n`,
  );
  const server = await startServer({ folder: place.workDir });
  try {
    const concerto = [process.execPath, join(root, 'apps/cli/bin/concerto.js'), 'acp', '--agent', 'real'];
    const agent = [...concerto, '--url', server.url, '--token', server.token].join(' ');
    const acpx = async (...args: readonly string[]) =>
      await runProgram(
        [process.env.CONCERTO_TEST_ACPX ?? '', '--agent', agent, '--approve-all', '--ttl', '60', ...args],
        place.workDir,
        {
          PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
          HOME: dirname(place.env.CLAUDE_CONFIG_DIR ?? ''),
        },
      );
    expect(await acpx('sessions', 'new')).toMatchObject({ code: 0 });
    expect(await acpx('Hello')).toMatchObject({ code: 0, stdout: expect.stringContaining('Ready.') });
    expect(await acpx('set-mode', 'default')).toMatchObject({ code: 0 });
    const { stdout } = await acpx('Write out.txt');
    expect(stdout).toMatch(/Writing\.[\s\S]*Written\.[\s\S]*end_turn/);
    expect(await readFile(join(place.workDir, 'out.txt'), 'utf8')).toBe('hello\n');
    const [session] = (await apiOf(server).get('/api/sessions')).body.sessions;
    const { events } = (await apiOf(server).get(`/api/sessions/${session.id}/events?format=json`)).body;
    const types = events.map(({ type }: { type: string }) => type);
    expect(types).toEqual(expect.arrayContaining(['queryConsent', 'requestSettled', 'settings', 'functionResult']));
    expect(session.turn).toBe(2);
  } finally {
    await server.stop();
  }
});
