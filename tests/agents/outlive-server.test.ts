import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisServer, startRedisServer } from '@concerto/log/testing';
import { afterEach, describe, expect, test } from 'vitest';
import type { Script } from '../../packages/models/src/testing/scripted-model-server.ts';
import { type Api, apiOf } from '../support/api.ts';
import { otherVersion } from '../support/concerto-command.ts';
import { type StartedServer, type StartOptions, startServer } from '../support/start-server.ts';
import { claude, openPlace, type Place } from './real-claude.ts';
import { codex, openCodexPlace } from './real-codex.ts';

const timeout = 240_000;
/** How long the server is away while the agent works; 600000 by hand. */
const awayMs = Number(process.env.CONCERTO_AWAY_MS ?? 2_000);

/** Written to the end of the file: what runs twice shows. */
const command = 'sleep 4; echo hello >> out.txt';

const options = [
  { label: 'SQLite', description: 'one file' },
  { label: 'Redis', description: 'for many' },
];
const question = { header: 'Store', question: 'Which store?', options };

const programs = [
  {
    protocol: 'claude',
    program: claude,
    open: openPlace,
    params: 'model = "claude-sonnet-4-5"',
    writes: { tool: 'Bash', arguments: { command, description: 'Write out.txt' } },
    asks: { tool: 'AskUserQuestion', arguments: { questions: [{ ...question, multiSelect: false }] } },
  },
  {
    protocol: 'codex',
    program: codex,
    open: openCodexPlace,
    params: '',
    writes: { tool: 'exec_command', arguments: { cmd: command, yield_time_ms: 30_000 } },
    asks: { tool: 'request_user_input', arguments: { questions: [{ ...question, id: 'store' }] } },
  },
] as const;

let place: Place;
let server: StartedServer | undefined;
/** Others that want the same store. */
let rivals: StartedServer[] = [];
let redis: RedisServer | undefined;

afterEach(async () => {
  for (const one of [server, ...rivals]) await one?.kill();
  server = undefined;
  rivals = [];
  await redis?.dispose();
  redis = undefined;
  // The keeper ends with its folder, and the agent with it.
  await place.close();
});

type Event = {
  readonly type: string;
  readonly seq: number;
  readonly status?: string;
  readonly requestId?: string;
  readonly content?: { readonly parts: readonly { readonly text?: string }[] };
  readonly whole?: boolean;
};

const isTurnEnd = ({ type }: { type: string }): boolean => type === 'turnComplete';

/** As a power cut would, or in good order. */
const ends = [
  { how: 'kill -9', end: async () => await server?.kill() },
  { how: 'SIGTERM', end: async () => await server?.stop() },
];

/** So many pieces its model says one by one, the last of them when a server is back. */
const pieces = 40;
const lastPieces = 5;

/** A message that no pipe takes at once. */
const long = '\u20ac'.repeat(95_000);

describe.each(programs)('the real $protocol program', ({ protocol, program, open, params, writes, asks }) => {
  async function begin(script: Script): Promise<void> {
    place = await open(script);
    const env = Object.entries(place.env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
    const head = `[agents.real]\nprotocol = "${protocol}"\ncommand = ${JSON.stringify(program)}\n`;
    const tables = `[agents.real.env]\n${env.join('\n')}\n[agents.real.params]\n${params}\n`;
    await writeFile(join(place.workDir, 'Concerto.toml'), head + tables);
  }

  async function start(options: StartOptions = {}): Promise<Api> {
    server = await startServer({ folder: place.workDir, args: ['--store', 'sqlite:sessions.db'], ...options });
    return apiOf(server);
  }

  async function turnsOf(api: Api, id: string, count: number): Promise<readonly Event[]> {
    let ended = 0;
    return await api.until(id, (event) => isTurnEnd(event) && ++ended === count, timeout / 2);
  }

  const said = (events: readonly Event[]): string =>
    events.flatMap(({ type, content }) => (type === 'content' ? [content?.parts[0]?.text ?? ''] : [])).join('|');

  async function answer(api: Api, id: string, requestId: string | undefined, response: unknown): Promise<void> {
    expect((await api.post(`/api/sessions/${id}/requests/${requestId}`, { response })).status).toBe(200);
  }

  /** The agent's own process, which the keeper started. */
  function agentPid(): number {
    const keeper: number = JSON.parse(readFileSync(join(place.workDir, 'keeper/keeper.json'), 'utf8')).pid;
    return Number(readFileSync(`/proc/${keeper}/task/${keeper}/children`, 'utf8').trim().split(' ')[0]);
  }

  /**
   * One story, with the server ended in these places: while its model talks (and it is away for a while), with an open
   * approval and three messages queued, in a tool (the next server is of another version), with an open question,
   * while a message is being written.
   */
  async function story(end: (() => Promise<void>) | undefined) {
    const talks = [{ text: 'Let me see. ' }, { gate: 'talk' }, { text: 'I will write it. ' }, writes];
    await begin([talks, 'Written.', [{ text: 'Which? ' }, asks], 'Redis it is.', 'Third.', 'Fourth.', 'Fifth.']);
    let api = await start();
    const restart = async (options?: StartOptions): Promise<void> => {
      if (end === undefined) return;
      await end();
      api = await start(options);
    };
    const { id } = await api.start({ agent: 'real', prompt: 'Write out.txt' });
    await place.model.gate('talk').reached;
    await api.until(id, ({ type }) => type === 'content');
    if (end !== undefined) {
      await end();
      place.model.gate('talk').open();
      await sleep(awayMs);
      api = await start();
    }
    place.model.gate('talk').open();
    const consent = (await api.until(id, ({ type }) => type === 'queryConsent')).at(-1);
    const queued = ['the second', 'the third', 'the fourth'];
    for (const content of queued) await api.post(`/api/sessions/${id}/messages`, { content });
    await restart();
    await answer(api, id, consent.requestId, true);
    // In the middle of its tool, which takes a while.
    await api.until(id, ({ type, requestId }) => type === 'requestSettled' && requestId === consent.requestId);
    await restart({ command: otherVersion });
    const isAsked = ({ type }: Event): boolean => type === 'waitForChoice' || type === 'waitForInput';
    const asked = (await api.until(id, isAsked, timeout / 2)).at(-1);
    await restart();
    await answer(api, id, asked.requestId, 'Redis');
    await turnsOf(api, id, 4);
    await api.until(id, ({ type, status, seq }) => type === 'status' && status === 'idle' && seq > asked.seq);
    await whileWritten(id, () => api, restart);
    const events = await turnsOf(api, id, 5);
    return await outcome(api, id, events);
  }

  /** What a fault must not change. */
  async function outcome(api: Api, id: string, events: readonly Event[]) {
    const { usage, turn } = (await api.get(`/api/sessions/${id}`)).body;
    const { history, pending } = (await api.get(`/api/sessions/${id}/messages?all=true`)).body;
    const messages = history.map(({ content, status }: Record<string, unknown>) => [content, status]);
    return { events, usage, turn, messages, pending, requests: place.model.requests.length };
  }

  /** It does not read while it is stopped, so the message is being written until it goes on. */
  async function whileWritten(id: string, api: () => Api, restart: () => Promise<void>): Promise<void> {
    const pid = agentPid();
    process.kill(-pid, 'SIGSTOP');
    try {
      expect((await api().post(`/api/sessions/${id}/messages`, { content: long })).status).toBe(202);
      const isBeingWritten = async (): Promise<unknown> =>
        (await api().get(`/api/sessions/${id}/messages`)).body.pending[0]?.inFlight;
      await expect.poll(isBeingWritten, { timeout: 20_000 }).toBe(true);
      await restart();
    } finally {
      process.kill(-pid, 'SIGCONT');
    }
  }

  test('goes on when its server is killed or stopped, wherever that is: as if nothing had been', {
    timeout: timeout * 3 + 2 * awayMs,
  }, async () => {
    const calm = await story(undefined);
    expect(await readFile(join(place.workDir, 'out.txt'), 'utf8')).toBe('hello\n');
    for (const { end } of ends) {
      await server?.kill();
      await place.close();
      const { events, usage, turn, messages, pending, requests } = await story(end);
      expect(await readFile(join(place.workDir, 'out.txt'), 'utf8')).toBe('hello\n');
      expect(said(events)).toBe(said(calm.events));
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      const ofType = (...types: string[]) => events.filter(({ type }) => types.includes(type));
      expect(ofType('queryConsent')).toHaveLength(1);
      expect(ofType('waitForChoice', 'waitForInput')).toHaveLength(1);
      expect(events.filter(({ status }) => status === 'interrupted' || status === 'failed')).toEqual([]);
      expect({ usage, turn, requests }).toEqual({ usage: calm.usage, turn: calm.turn, requests: calm.requests });
      expect(pending).toEqual([]);
      expect(messages).toEqual(
        ['Write out.txt', 'the second', 'the third', 'the fourth', long].map((content) => [content, 'delivered']),
      );
    }
  });

  /** With another server on the store, that takes the agent up while this one sleeps, and loses it again the same way. */
  async function fought(sleeps: boolean) {
    redis = await startRedisServer();
    const args = ['--store', redis.url];
    const talks = [{ text: 'Let me see. ' }, { gate: 'talk' }, { text: 'I will write it. ' }, writes];
    await begin([talks, 'Written.']);
    const first = await start({ args });
    const { id } = await first.start({ agent: 'real', prompt: 'Write out.txt' });
    await first.until(id, ({ type }) => type === 'content');
    const rival = await startServer({ folder: place.workDir, args });
    rivals = [rival];
    const second = apiOf(rival);
    const signal = (one: StartedServer | undefined, name: NodeJS.Signals): void => {
      if (sleeps) one?.signal(name);
    };
    signal(server, 'SIGSTOP');
    place.model.gate('talk').open();
    // The first has slept longer than its lease lasts, and does not know.
    const consent = (await second.until(id, ({ type }) => type === 'queryConsent')).at(-1);
    signal(server, 'SIGCONT');
    await answer(first, id, consent.requestId, true);
    signal(rival, 'SIGSTOP');
    const events = await turnsOf(first, id, 1);
    signal(rival, 'SIGCONT');
    expect(await turnsOf(second, id, 1)).toEqual(events);
    expect(await readFile(join(place.workDir, 'out.txt'), 'utf8')).toBe('hello\n');
    return await outcome(first, id, events);
  }

  /** With three servers that want the store whenever nobody has it, which is twice: as it waits, and in its tool. */
  async function raced(kills: boolean) {
    await begin([[{ text: 'I will write it. ' }, writes], 'Written.']);
    let api = await start();
    const { id } = await api.start({ agent: 'real', prompt: 'Write out.txt' });
    const consent = (await api.until(id, ({ type }) => type === 'queryConsent')).at(-1);
    const one = () => startServer({ folder: place.workDir, args: ['--store', 'sqlite:sessions.db'] });
    if (kills) await expectInUse(one);
    const race = async (): Promise<void> => {
      if (!kills) return;
      await server?.kill();
      const tried = await Promise.allSettled([one(), one(), one()]);
      rivals = tried.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      expect(rivals).toHaveLength(1);
      [server] = rivals;
      if (server === undefined) throw new Error('nobody got the store');
      api = apiOf(server);
    };
    await race();
    await answer(api, id, consent.requestId, true);
    expect((await api.post(`/api/sessions/${id}/requests/${consent.requestId}`, { response: false })).status).toBe(409);
    await race();
    const events = await turnsOf(api, id, 1);
    expect(await readFile(join(place.workDir, 'out.txt'), 'utf8')).toBe('hello\n');
    return await outcome(api, id, events);
  }

  /** Nor while the one that has it does not answer. */
  async function expectInUse(another: () => Promise<StartedServer>): Promise<void> {
    await expect(another()).rejects.toThrow(/in use/);
    server?.signal('SIGSTOP');
    await expect(another()).rejects.toThrow(/in use/);
    server?.signal('SIGCONT');
  }

  test.each([
    { store: 'SQLite', fight: raced },
    { store: 'Redis', fight: fought },
  ])('does not notice that servers fight for its store: $store', { timeout: timeout * 2 }, async ({ fight }) => {
    const calm = await fight(false);
    for (const one of [server, ...rivals]) await one?.kill();
    await redis?.dispose();
    await place.close();
    const { events, ...rest } = await fight(true);
    const { events: calmly, ...same } = calm;
    expect(said(events)).toBe(said(calmly));
    expect(rest).toEqual(same);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.filter(({ type }) => type === 'queryConsent')).toHaveLength(1);
    expect(events.filter(({ status }) => status === 'interrupted' || status === 'failed')).toEqual([]);
  });

  /** Its model says one piece after the other, nearly all of them while nobody hears it. */
  async function talked(end: (() => Promise<void>) | undefined) {
    const piece = (index: number) => [{ text: `${index} ` }, { gate: `piece ${index}` }];
    await begin([Array.from({ length: pieces }, (_, index) => piece(index)).flat(), 'Second.']);
    let api = await start();
    const { id } = await api.start({ agent: 'real', prompt: 'Talk' });
    await api.post(`/api/sessions/${id}/messages`, { content: 'And then' });
    await place.model.gate('piece 0').reached;
    await api.until(id, ({ type }) => type === 'functionCall' || type === 'content');
    await end?.();
    for (let index = 0; index < pieces; index++) {
      if (end !== undefined && index < pieces - lastPieces) await sleep(awayMs / (pieces - lastPieces));
      if (end !== undefined && index === pieces - lastPieces) api = await start();
      await place.model.gate(`piece ${index}`).reached;
      place.model.gate(`piece ${index}`).open();
    }
    return await outcome(api, id, await turnsOf(api, id, 2));
  }

  test.each(ends)(
    'talks on while its server is away for long, and all of it is heard, once: $how',
    {
      timeout: timeout * 2 + awayMs,
    },
    async ({ end }) => {
      const { events: calmly, ...same } = await talked(undefined);
      await server?.kill();
      await place.close();
      const { events, ...rest } = await talked(end);
      const all = Array.from({ length: pieces }, (_, index) => `${index} `).join('');
      // What it said is told once more as a whole, where it is over.
      expect(said(events.filter(({ whole }) => whole !== true)).replaceAll('|', '')).toBe(`${all}Second.`);
      expect(said(events)).toBe(said(calmly));
      expect(rest).toEqual(same);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      expect(events.filter(({ status }) => status === 'interrupted' || status === 'failed')).toEqual([]);
    },
  );

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
