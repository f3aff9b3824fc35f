import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { runConcerto } from '../support/run-concerto.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const own = `
import { createInterface } from 'node:readline';
let params = null;
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  const { GIVEN: given } = process.env;
  if (message.type === 'init') ({ params } = message);
  const answer =
    message.type === 'init' ? { type: 'init_ack' } : { type: 'result', value: { params, cwd: process.cwd(), given } };
  process.stdout.write(JSON.stringify(answer) + '\\n');
});
`;

let folder: string;
let server: StartedServer;
let api: Api;

const options = () => ({ folder, args: ['--store', 'sqlite:sessions.db'], env: { MY_TOKEN: 'very-secret-token' } });

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'concerto-settings-')));
  await mkdir(join(folder, 'sub'));
  await symlink('/usr', join(folder, 'out'));
  await writeFile(join(folder, 'own.mjs'), own);
  const agent = (name: string, file: string, more = ''): string =>
    `[agents.${name}]\nprotocol = "${name === 'own' ? 'ndjson' : name}"\ncommand = ${JSON.stringify(process.execPath)}\n` +
    `args = [${JSON.stringify(file)}]\n${more}`;
  const fake = (name: string): string => join(root, `packages/agents/test/agents/${name}.mjs`);
  const may = 'per_session = ["model", "mode", "effort", "working_dir", "extra_dirs"]\n';
  await writeFile(
    join(folder, 'Concerto.toml'),
    [
      agent('claude', fake('claude'), may),
      agent('codex', fake('codex'), may),
      agent('acp', fake('acp'), may),
      agent(
        'own',
        join(folder, 'own.mjs'),
        'per_session = ["branch", "env", "working_dir", "worktree"]\nparams = { depth = 3 }\n',
      ),
      '[connections.offline]\nprovider = "mock"\n\n[assistants.echo]\nconnection = "offline"\n',
      'per_session = ["model", "effort", "output_schema"]\n',
    ].join('\n'),
  );
  server = await startServer(options());
  api = apiOf(server);
});

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const isTurnEnd = (event: { type: string }): boolean => event.type === 'turnComplete';

/** What came of the last turn, as the agent handed it over. */
async function resultOf(id: string, after = 0): Promise<any> {
  await api.until(id, (event) => isTurnEnd(event) && event.seq > after);
  return (await api.get(`/api/sessions/${id}`)).body.result;
}

async function shown(id: string, word: string): Promise<any> {
  const { position } = (await api.get(`/api/sessions/${id}`)).body;
  await api.post(`/api/sessions/${id}/messages`, { content: word });
  return JSON.parse((await resultOf(id, position)).text);
}

describe('what a session may set is checked before it starts', () => {
  test.each([
    ['own', { params: { model: 'x' } }, '403 not_per_session', 'branch, env, working_dir, worktree'],
    ['claude', { params: { env: { A: { env: 'MY_TOKEN' } } } }, '403 not_per_session', 'working_dir'],
    ['claude', { params: { mode: 'bypassPermissions' } }, '422 invalid_params', 'permission_mode'],
    ['codex', { params: { mode: 'anything' } }, '422 invalid_params', 'approval_policy'],
    ['acp', { params: { model: 3 } }, '422 invalid_params', 'params.model'],
    ['own', { params: { env: { A: 'value' } } }, '422 invalid_params', 'references'],
    ['own', { params: { env: { LD_PRELOAD: { env: 'MY_TOKEN' } } } }, '422 invalid_params', 'cannot set'],
    ['own', { params: { env: { A: { env: 'NOT_THERE' } } } }, '422 invalid_params', 'NOT_THERE is not set'],
    ['own', { workingDir: '..' }, '403 folder_not_allowed', '[server] folders'],
    ['own', { workingDir: 'out/lib' }, '403 folder_not_allowed', 'outside'],
    ['own', { workingDir: '/etc' }, '403 folder_not_allowed', 'outside'],
    ['own', { workingDir: 'nowhere' }, '422 invalid_folder', 'no folder'],
    ['claude', { params: { extra_dirs: ['/etc'] } }, '403 folder_not_allowed', 'extra_dirs'],
  ])('%s with %j: %s', async (agent, asked, refused, words) => {
    const { status, body } = await api.post('/api/sessions', { agent, prompt: 'show', ...asked });
    expect([`${status} ${body.code}`, body.detail]).toEqual([refused, expect.stringContaining(words)]);
  });
});

test('an assistant: what a session sets of it is checked, shown and used; a schema makes its answer', async () => {
  const ask = (params: object) => api.post('/api/sessions', { assistant: 'echo', prompt: 'Well?', params });
  const denied = await ask({ system: 'Lie.' });
  expect(denied).toMatchObject({ status: 403, body: { code: 'not_per_session' } });
  expect(denied.body.detail).toContain('[assistants.echo]');
  expect(await ask({ effort: 'some' })).toMatchObject({ status: 422, body: { code: 'invalid_params' } });
  const schema = { type: 'object', properties: { good: { type: 'boolean' } }, required: ['good'] };
  const { id, settings } = (await ask({ model: 'small', output_schema: schema })).body;
  expect(settings.params).toEqual({ model: 'small', output_schema: schema });
  expect((await resultOf(id)).output).toEqual({ good: false });
  expect((await api.get(`/api/sessions/${id}/agent`)).body).toMatchObject({
    model: 'small',
    live: ['model', 'effort'],
  });
});

test('params, folder and references reach an agent of our own wire, and its secret is nowhere else', async () => {
  const params = { branch: 'next', env: { GIVEN: { env: 'MY_TOKEN' } } };
  const { id, settings } = await api.start({ agent: 'own', prompt: 'show', workingDir: 'sub', params });
  expect(settings).toEqual({ workingDir: join(folder, 'sub'), params });
  const { value } = await resultOf(id);
  expect(value).toEqual({ params: { depth: 3, branch: 'next' }, cwd: join(folder, 'sub'), given: 'very-secret-token' });
  const { detail, code } = (await api.post(`/api/sessions/${id}/settings`, { params: { branch: 'x' } })).body;
  expect(code).toBe('not_live');
  expect(detail).toContain('settled with the start');
});

test('a checkout of its own: made before the start, shown as a branch, merged and removed on request', async () => {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { encoding: 'utf8' });
  git('init', '--quiet', '--initial-branch=main');
  git('add', 'own.mjs');
  git('commit', '--quiet', '-m', 'first');
  const { id, settings } = await api.start({ agent: 'own', prompt: 'show', params: { worktree: 'fix' } });
  expect(settings.worktree).toMatchObject({ branch: 'concerto/fix', state: 'made' });
  const { value } = await resultOf(id);
  expect(value.cwd).toBe(join(folder, '.concerto/worktrees/fix'));
  const again = await api.post('/api/sessions', { agent: 'own', prompt: 'show', params: { worktree: 'fix' } });
  expect(again).toMatchObject({ status: 409, body: { code: 'worktree_in_use' } });

  await writeFile(join(value.cwd, 'new.txt'), 'new\n');
  const act = (...words: readonly string[]) =>
    runConcerto(['sessions', 'worktree', id, ...words, '--url', server.url, '--token', server.token]).ended;
  expect((await act('merge')).err).toContain('not committed: new.txt');
  expect((await act('merge', '--commit', 'what it made')).out).toContain('concerto/fix merged into main');
  expect(git('show', 'HEAD:new.txt')).toBe('new\n');
  expect((await act('remove')).err).toContain('cancel the session first');
  await api.post(`/api/sessions/${id}/cancel`);
  await api.until(id, ({ type }) => type === 'finish');
  expect((await act('remove')).out).toBe('concerto/fix removed\n');
  expect((await api.get(`/api/sessions/${id}`)).body.settings.worktree.state).toBe('removed');
});

describe.each([
  ['claude', (it: any) => it.options.model, (it: any) => it.cwd, 'show'],
  ['codex', (it: any) => it.started.model, (it: any) => it.cwd, 'show'],
  ['acp', (it: any) => it.model, (it: any) => it.cwd, 'opened'],
])('an agent of protocol "%s"', (agent, modelOf, folderOf, word) => {
  test('starts with what the session has, is switched while it runs, and keeps it after a restart', async () => {
    const { id } = await api.start({
      agent,
      prompt: word,
      workingDir: join(folder, 'sub'),
      params: { model: 'small' },
    });
    const begun = JSON.parse((await resultOf(id)).text);
    expect([modelOf(begun), folderOf(begun)]).toEqual(['small', join(folder, 'sub')]);

    const asked = await api.post(`/api/sessions/${id}/settings`, { params: { model: 'large' } });
    expect(asked).toMatchObject({ status: 202, body: { outcome: 'asked' } });
    const isTold = (event: any): boolean => event.type === 'settings' && event.requestId === asked.body.requestId;
    expect((await api.until(id, isTold)).at(-1)).toMatchObject({ outcome: 'changed', params: { model: 'large' } });
    expect(modelOf(await shown(id, word))).toBe('large');
    expect((await api.get(`/api/sessions/${id}/agent`)).body).toMatchObject({
      model: 'large',
      live: ['model', 'mode', 'effort'],
    });

    // Whoever starts the next sees what there is to choose.
    const offered = async () => {
      const { agents } = (await api.get('/api/agents')).body;
      return agents.find(({ name }: any) => name === agent).offers?.model;
    };
    await expect.poll(offered, { timeout: 10_000 }).toBe('large');

    const no = await runConcerto(['sessions', 'set', id, 'model=none', '--url', server.url, '--token', server.token])
      .ended;
    expect([no.code, no.err]).toEqual([1, expect.stringMatching(/no (such )?model/)]);
    expect((await api.get(`/api/sessions/${id}`)).body.settings.params).toEqual({ model: 'large' });

    await server.stop();
    server = await startServer(options());
    api = apiOf(server);
    const again = await shown(id, word);
    expect([modelOf(again), folderOf(again)]).toEqual(['large', join(folder, 'sub')]);
    await api.post(`/api/sessions/${id}/cancel`);
  });
});
