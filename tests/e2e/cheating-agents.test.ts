import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

const cheat = join(dirname(fileURLToPath(import.meta.url)), '../support/cheat.py');
const agent = (name: string, more: string): string =>
  `[agents.${name}]\ncommand = "python3"\nargs = [${JSON.stringify(cheat)}]\nenv = { OTHER_AGENTS_KEY = "k" }\n${more}\n`;

let folder: string;
let state: string;
let server: StartedServer;
let api: Api;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-cheats-'));
  state = await mkdtemp(join(tmpdir(), 'concerto-cheats-state-'));
  await writeFile(
    join(folder, 'Concerto.toml'),
    [
      `[agents.cheat]\ncommand = "python3"\nargs = [${JSON.stringify(cheat)}]`,
      agent('other', ''),
      `[agents.open]\ncommand = "python3"\nargs = [${JSON.stringify(cheat)}]\nenv = { A_TOKEN = "t" }\nsandbox = "off"`,
      agent('shown', 'sandbox_paths = [".concerto"]'),
    ].join('\n'),
  );
  server = await startServer({
    folder,
    args: ['--store', 'sqlite:.concerto/concerto.db', '--trust'],
    env: { XDG_STATE_HOME: state, SECRET_OF_THE_SERVER: 'do not read' },
  });
  api = apiOf(server);
});

afterAll(async () => {
  await server?.stop();
  for (const each of [folder, state]) await rm(each, { recursive: true, force: true });
});

let sleeps = 1_000_000;

async function cheats(
  name: string,
  url = server.url,
): Promise<{ found: Record<string, unknown>; id: string; sleep: string }> {
  const sleep = String(sleeps++);
  const fired = `fired-${sleep}`;
  const starts = { fired, agent: url === server.url ? 'other' : 'echo', cookie: await cookie() };
  const facts = { url, state: join(state, 'concerto'), pid: server.pid, folder, sleep, ...starts };
  const { id } = await api.start({ agent: name, prompt: JSON.stringify(facts) });
  const events = await api.untilStatus(id, 'idle');
  const result = events.find((event) => event.type === 'functionResult' && event.content !== undefined);
  const text: string = result.content.parts[0].functionResponse.response.text;
  const found = JSON.parse(text);
  // What was sent without waiting for an answer has led somewhere when there is a session of it.
  const started = await fetch(`${url}/api/sessions/${fired}`, { headers: { authorization: `Bearer ${server.token}` } });
  found[awayAtOnce] = started.ok ? found[awayAtOnce] : 'no: nothing was started';
  return { found, id, sleep };
}

const awayAtOnce = 'that cookie, and away before anybody sees who it was';

/** As a browser has it, and shows it to every port of this host. */
async function cookie(): Promise<string> {
  const signed = await fetch(`${server.url}/?token=${server.token}`, { redirect: 'manual' });
  return signed.headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** What the session and its audit say of its sandbox. */
async function toldOf(id: string): Promise<readonly unknown[]> {
  const session = await api.get(`/api/sessions/${id}`);
  const audit = await api.get(`/api/sessions/${id}/audit`);
  const ready = audit.body.entries.find(({ what }: { what: string }) => what === 'agent-ready');
  return [session.body.sandbox, ready.detail.sandbox];
}

function isAlive(sleep: string): boolean {
  const listed = execFileSync('ps', ['axo', 'stat,args'], { encoding: 'utf8' });
  return listed.split('\n').some((line) => !line.startsWith('Z') && line.endsWith(`sleep ${sleep}`));
}

describe('an agent in its sandbox', () => {
  const fails = ([, led]: [string, unknown]): boolean => String(led).startsWith('no: ');

  test('finds no way to act as a person: fifteen were tried', async () => {
    await cheats('other'); // Is alive meanwhile, with a key of its own.
    const { found } = await cheats('cheat');
    expect(Object.keys(found)).toHaveLength(15);
    expect(Object.entries(found).filter((way) => !fails(way))).toEqual([]);
    expect(await readFile(join(folder, '.concerto/concerto.db'))).not.toHaveLength(0);
  });

  test('each of the ways leads somewhere where nothing is in it', { timeout: 90_000 }, async () => {
    await cheats('other');
    // No sandbox, a variable that was given to it, a token in the project, and a server that asks for none.
    const careless = await startServer({ args: ['--no-auth'], withoutToken: true });
    const planted = join(folder, '.concerto/token');
    await writeFile(planted, 'a-token');
    try {
      const { found, id } = await cheats('open', careless.url);
      expect(Object.entries(found).filter(fails)).toEqual([]);
      await api.post(`/api/sessions/${id}/cancel`);
    } finally {
      await rm(planted);
      await careless.stop();
    }
  });

  test('a person’s browser goes on with the cookie that an agent could not use', async () => {
    const headers = { cookie: await cookie() };
    expect((await fetch(`${server.url}/api/sessions`, { headers })).status).toBe(200);
    const [name = '', value = ''] = headers.cookie.split('=');
    const unbound = { cookie: `${name}=${value.split('.')[0]}` };
    expect((await fetch(`${server.url}/api/sessions`, { headers: unbound })).status).toBe(401);
  });

  test('ends with all it started, also what left its group', async () => {
    const { id, sleep } = await cheats('cheat');
    expect(isAlive(sleep)).toBe(true);
    await api.post(`/api/sessions/${id}/cancel`);
    await api.untilStatus(id, 'cancelled');
    await expect.poll(() => isAlive(sleep), { timeout: 10_000 }).toBe(false);
  });

  test('sees what the manifest shows it, and everything without a sandbox', async () => {
    const shown = await cheats('shown');
    expect(shown.found['the store itself']).not.toEqual(expect.stringMatching(/^no/));
    const open = await cheats('open');
    expect(open.found["the server's environment"]).toContain('SECRET_OF_THE_SERVER');
    const off = { kind: 'none', reason: '`sandbox = "off"` in the manifest' };
    expect(await toldOf(open.id)).toEqual([off, off]);
    expect(await toldOf(shown.id)).toEqual([{ kind: 'bubblewrap' }, { kind: 'bubblewrap' }]);
    await api.post(`/api/sessions/${open.id}/cancel`);
    await api.untilStatus(open.id, 'cancelled');
  });
});
