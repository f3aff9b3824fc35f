import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Script } from '../../packages/models/src/testing/scripted-model-server.ts';
import { type Api, apiOf } from '../support/api.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';
import { claude, openPlace, type Place } from './real-claude.ts';
import { codex, openCodexPlace } from './real-codex.ts';

const timeout = 240_000;

/** Written to the end of the file: what runs twice shows. */
const command = 'sleep 4; echo hello >> out.txt';

const programs = [
  {
    protocol: 'claude',
    program: claude,
    open: openPlace,
    params: 'model = "claude-sonnet-4-5"',
    writes: { tool: 'Bash', arguments: { command, description: 'Write out.txt' } },
  },
  {
    protocol: 'codex',
    program: codex,
    open: openCodexPlace,
    params: '',
    writes: { tool: 'exec_command', arguments: { cmd: command, yield_time_ms: 30_000 } },
  },
] as const;

let place: Place;
let server: StartedServer | undefined;

afterEach(async () => {
  await server?.kill();
  server = undefined;
  // The keeper ends with its folder, and the agent with it.
  await place.close();
});

type Event = {
  readonly type: string;
  readonly seq: number;
  readonly status?: string;
  readonly requestId?: string;
  readonly content?: { readonly parts: readonly { readonly text?: string }[] };
};

const isTurnEnd = ({ type }: { type: string }): boolean => type === 'turnComplete';

describe.each(programs)('the real $protocol program', ({ protocol, program, open, params, writes }) => {
  async function begin(script: Script): Promise<void> {
    place = await open(script);
    const env = Object.entries(place.env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
    const head = `[agents.real]\nprotocol = "${protocol}"\ncommand = ${JSON.stringify(program)}\n`;
    const tables = `[agents.real.env]\n${env.join('\n')}\n[agents.real.params]\n${params}\n`;
    await writeFile(join(place.workDir, 'Concerto.toml'), head + tables);
  }

  async function start(): Promise<Api> {
    server = await startServer({ folder: place.workDir, args: ['--store', 'sqlite:sessions.db'] });
    return apiOf(server);
  }

  async function turnsOf(api: Api, id: string, count: number): Promise<readonly Event[]> {
    let ended = 0;
    return await api.until(id, (event) => isTurnEnd(event) && ++ended === count);
  }

  const said = (events: readonly Event[]): string =>
    events.flatMap(({ type, content }) => (type === 'content' ? [content?.parts[0]?.text ?? ''] : [])).join('|');

  /** The same story, with the server ended in these places. */
  async function story(end: (() => Promise<void>) | undefined) {
    await begin([[{ text: 'Writing.' }, writes], 'Written.', 'Second.', 'Third.']);
    let api = await start();
    const restart = async (): Promise<void> => {
      if (end === undefined) return;
      await end();
      api = await start();
    };
    const { id } = await api.start({ agent: 'real', prompt: 'Write out.txt' });
    const asked = (await api.until(id, ({ type }) => type === 'queryConsent')).at(-1);
    for (const content of ['the second', 'the third']) await api.post(`/api/sessions/${id}/messages`, { content });
    await restart();
    const path = `/api/sessions/${id}/requests/${asked.requestId}`;
    expect((await api.post(path, { response: true })).status).toBe(200);
    // In the middle of its tool, which takes a while.
    await api.until(id, ({ type, requestId }) => type === 'requestSettled' && requestId === asked.requestId);
    await restart();
    const events = await turnsOf(api, id, 3);
    const { usage, turn } = (await api.get(`/api/sessions/${id}`)).body;
    const { history, pending } = (await api.get(`/api/sessions/${id}/messages?all=true`)).body;
    return { events, usage, turn, history, pending, requests: place.model.requests.length };
  }

  test('goes on when its server is killed or stopped, with an open approval and in a tool: as if nothing had been', {
    timeout: timeout * 2,
  }, async () => {
    const calm = await story(undefined);
    expect(await readFile(join(place.workDir, 'out.txt'), 'utf8')).toBe('hello\n');
    for (const end of [async () => await server?.kill(), async () => await server?.stop()]) {
      await server?.kill();
      await place.close();
      const { events, usage, turn, history, pending, requests } = await story(end);
      expect(await readFile(join(place.workDir, 'out.txt'), 'utf8')).toBe('hello\n');
      expect(said(events)).toBe(said(calm.events));
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      expect(events.filter(({ type }) => type === 'queryConsent')).toHaveLength(1);
      expect(events.filter(({ status }) => status === 'interrupted' || status === 'failed')).toEqual([]);
      expect({ usage, turn, requests }).toEqual({ usage: calm.usage, turn: calm.turn, requests: calm.requests });
      expect(pending).toEqual([]);
      expect(history.map(({ content, status }: Record<string, unknown>) => [content, status])).toEqual([
        ['Write out.txt', 'delivered'],
        ['the second', 'delivered'],
        ['the third', 'delivered'],
      ]);
    }
  });

  test('is lost with its keeper, says so, and goes on with its conversation when it is resumed', {
    timeout,
  }, async () => {
    await begin([[{ text: 'Writing.' }, writes], [{ text: 'Again.' }, writes], 'Written.']);
    const before = await start();
    const { id } = await before.start({ agent: 'real', prompt: 'Write out.txt' });
    await before.until(id, ({ type }) => type === 'queryConsent');
    const keeper: unknown = JSON.parse(readFileSync(join(place.workDir, 'keeper/keeper.json'), 'utf8')).pid;
    await server?.kill();
    process.kill(Number(keeper), 'SIGKILL');
    const after = await start();
    const lost = await after.untilStatus(id, 'interrupted');
    expect(lost.at(-1).reason).toMatch(/no keeper .* turn 1 was cut, its open request was withdrawn/);
    await after.post(`/api/sessions/${id}/resume`);
    const isAskedAnew = ({ type, seq }: Event): boolean => type === 'queryConsent' && seq > lost.length;
    const again = (await after.until(id, isAskedAnew)).at(-1);
    expect((await after.post(`/api/sessions/${id}/requests/${again.requestId}`, { response: true })).status).toBe(200);
    const events = await turnsOf(after, id, 2);
    expect(said(events)).toContain('Written.');
    expect(await readFile(join(place.workDir, 'out.txt'), 'utf8')).toBe('hello\n');
    const told = JSON.stringify(place.model.requests.at(1)?.body);
    expect(told).toContain('Write out.txt');
    expect(told).toContain('continue');
  });
});
