import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { builtConcerto, root } from '../support/built-concerto.ts';
import { concertoCommand } from '../support/concerto-command.ts';
import { steps, writePuppets } from '../support/puppets.ts';
import { runConcerto } from '../support/run-concerto.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

/** Ends the process in the moment in which it says that it is ready: no reader can be faster. */
const stopAtReadyLine = `
  const { write } = process.stdout;
  process.stdout.write = function (text, ...rest) {
    if (String(text).startsWith('listening on')) process.kill(process.pid, 'SIGTERM');
    return write.call(this, text, ...rest);
  };
`;

/** Its sockets never close, and with them its patience is at an end at once. */
const neverCloses = `
  import { Server } from 'node:net';
  const { setTimeout: original } = globalThis;
  let losePatience = () => {};
  globalThis.setTimeout = (call, ms, ...rest) => {
    if (ms === 25_000) losePatience = call;
    return original(call, ms, ...rest);
  };
  Server.prototype.close = function () {
    original(losePatience, 10);
    return this;
  };
`;

const preloaded = (code: string): string[] => ['--import', `data:text/javascript,${encodeURIComponent(code)}`];

test('SIGTERM at the moment of the ready line is a stop like any other', { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'concerto-stop-'));
  try {
    const child = spawn(
      process.execPath,
      [...preloaded(stopAtReadyLine), ...concertoCommand, 'serve', '--port', '0', '--store', 'memory:', '--no-auth'],
      { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], timeout: 50_000, killSignal: 'SIGKILL' },
    );
    const [code, signal] = await once(child, 'exit');
    expect({ code, signal }).toEqual({ code: 0, signal: null });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a stop that hangs is left after its time, told what it waited for, and the next start goes on', {
  timeout: 120_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'concerto-hangs-'));
  await writePuppets(folder);
  const args = ['--store', 'sqlite:store.db'];
  const servers: StartedServer[] = [];
  try {
    const hanging = await startServer({ folder, args, command: [...preloaded(neverCloses), ...concertoCommand] });
    servers.push(hanging);
    const api = apiOf(hanging);
    const question = { type: 'question', id: 'q', question: 'Which?' };
    const { id } = await api.start({ agent: 'puppet', prompt: steps({ ask: question }, { tell: 'answer' }) });
    const asked = (await api.until(id, ({ type }) => type === 'waitForInput')).at(-1);
    expect(await hanging.exited('SIGTERM')).toBe(1);
    expect(hanging.said()).toMatch(
      /left after 25 s, and the next start settles what is open: an open connection took too long/,
    );
    const next = await startServer({ folder, args });
    servers.push(next);
    const after = apiOf(next);
    expect((await after.post(`/api/sessions/${id}/requests/${asked.requestId}`, { response: 'red' })).status).toBe(200);
    await after.until(id, ({ type }) => type === 'turnComplete');
  } finally {
    for (const one of servers) await one.kill();
    await rm(folder, { recursive: true, force: true });
  }
});

describe('what a stop says', () => {
  const begun = async (work: (server: StartedServer, api: Api) => Promise<void>) => {
    const folder = await mkdtemp(join(tmpdir(), 'concerto-stop-'));
    await writePuppets(folder);
    const server = await startServer({ folder, args: ['--store', 'sqlite:store.db'] });
    try {
      await work(server, apiOf(server));
    } finally {
      await server.kill();
      await runConcerto(['stop', '--agents', '--store', 'sqlite:store.db'], {}, folder).ended;
      await rm(folder, { recursive: true, force: true });
    }
  };
  const atWork = async (api: Api, agent: string): Promise<void> => {
    const { id } = await api.start({ agent, prompt: steps({ hang: true }) });
    await api.until(id, ({ type }) => type === 'functionCall');
  };
  const idle = async (api: Api, agent: string): Promise<void> => {
    const { id } = await api.start({ agent, prompt: 'hello' });
    await api.until(id, ({ type }) => type === 'turnComplete');
  };
  const wordsOf = (server: StartedServer): readonly string[] =>
    server
      .said()
      .split('\n')
      .filter((line) => /stopping|stays/.test(line));

  test('who stays is the last word where nothing else takes long', { timeout: 60_000 }, async () => {
    await begun(async (server, api) => {
      await atWork(api, 'puppet');
      await idle(api, 'puppet');
      expect(await server.exited('SIGTERM')).toBe(0);
      expect(wordsOf(server).at(-1)).toMatch(/^1 agent stays at work .* To end it: SIGTERM again/);
    });
  });

  test('they were said to stay, and end after all', { timeout: 60_000 }, async () => {
    await begun(async (server, api) => {
      await atWork(api, 'puppet');
      const gone = server.exited('SIGTERM');
      await expect.poll(() => server.said(), { timeout: 30_000 }).toContain('stays at work');
      server.signal('SIGTERM');
      expect(await gone).toBe(0);
      expect(wordsOf(server).at(-1)).toBe('concerto: stopping: agents end, those at work too');
    });
  });

  test('idle agents that take their time come before it, and those that end after it', {
    timeout: 60_000,
  }, async () => {
    await begun(async (server, api) => {
      await atWork(api, 'deaf-cancel');
      await idle(api, 'deaf-cancel');
      const gone = server.exited('SIGTERM');
      await expect.poll(() => server.said(), { timeout: 30_000 }).toContain('stays at work');
      server.signal('SIGTERM');
      expect(await gone).toBe(0);
      expect(wordsOf(server)).toEqual([
        'concerto: stopping: idle agents end and sessions are handed over',
        expect.stringMatching(/^1 agent stays at work/),
        'concerto: stopping: agents end, those at work too',
      ]);
    });
  });
});

test('the agents of a server are found from its folder, wherever its store is', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'concerto-kept-'));
  const store = ['--store', 'sqlite:elsewhere/store.db'];
  const concerto = async (...args: string[]) => await runConcerto(args, {}, folder).ended;
  await writePuppets(folder);
  const server = await startServer({ folder, args: store });
  try {
    const api = apiOf(server);
    const { id } = await api.start({ agent: 'puppet', prompt: steps({ hang: true }) });
    await api.until(id, ({ type }) => type === 'functionCall');
    const listed = await concerto('agents', 'ls', '--json');
    expect(JSON.parse(listed.out)).toMatchObject([{ session: id }]);
    expect(await concerto('stop', '--agents')).toMatchObject({
      code: 0,
      out: expect.stringContaining('1 agent ended'),
    });
    expect((await concerto('agents', 'ls', ...store)).out).toContain('no agents are kept here');
  } finally {
    await server.kill();
    await concerto('stop', '--agents', ...store);
    await rm(folder, { recursive: true, force: true });
  }
});

test.runIf(process.env.CONCERTO_TEST_BUILT === '1')(
  'one Ctrl-C ends `npm start`, which all of its processes hear, and lets an agent at work stay',
  { timeout: 60_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'concerto-ctrl-c-'));
    const token = 'a-token-of-our-own';
    await writePuppets(folder);
    const store = ['--store', 'sqlite:store.db'];
    const child = spawn(process.execPath, [join(root, 'tools/start.mjs'), '--port', '0', '--token', token, ...store], {
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    const gone = once(child, 'exit');
    try {
      await expect.poll(() => said, { timeout: 30_000 }).toContain('open http');
      const api = apiOf({ url: /http:\S+:\d+/.exec(said)?.[0] ?? '', token });
      const { id } = await api.start({ agent: 'puppet', prompt: steps({ hang: true }) });
      await api.until(id, ({ type }) => type === 'functionCall');
      process.kill(-(child.pid ?? 0), 'SIGINT');
      await gone;
      expect(said).toContain('1 agent stays at work');
      expect((await builtConcerto(['stop', '--agents', ...store], folder)).stdout).toContain('1 agent ended');
    } finally {
      child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    }
  },
);
