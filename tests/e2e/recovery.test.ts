import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeProcess } from '@concerto/keeper';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { concertoCommand } from '../support/concerto-command.ts';
import { inTerminal, type TerminalSteps } from '../support/in-terminal.ts';
import { steps, writePuppets } from '../support/puppets.ts';
import { runConcerto } from '../support/run-concerto.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

/** Each test starts the server at least twice, from source. */
const aMachineUnderLoadMs = 120_000;
const store = ['--store', 'sqlite:store.db'];
let folder: string;
let server: StartedServer | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-recovery-'));
  await writePuppets(folder);
});

afterEach(async () => {
  await server?.kill();
  server = undefined;
  // The keeper ends with its folder, and what it holds with it.
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<Api> {
  server = await startServer({ folder, args: store });
  return apiOf(server);
}

function keeperPid(): number {
  return JSON.parse(readFileSync(join(folder, 'keeper/keeper.json'), 'utf8')).pid;
}

const question = { type: 'question', id: 'q-1', question: 'Which colour?' };

type Said = {
  readonly type: string;
  readonly seq: number;
  readonly status?: string;
  readonly content?: { parts: { text: string }[] };
};

async function untilResults(api: Api, id: string, count: number): Promise<Said[]> {
  let results = 0;
  return await api.until(id, (event) => event.type === 'turnComplete' && ++results === count);
}

function texts(events: readonly Said[]): string[] {
  return events.flatMap((event) => (event.type === 'content' ? [event.content?.parts[0]?.text ?? ''] : []));
}

async function expectNothingOdd(api: Api, id: string, events: readonly Said[]): Promise<void> {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events.filter(({ status }) => status === 'interrupted' || status === 'failed')).toEqual([]);
  const { pending, history = [] } = (await api.get(`/api/sessions/${id}/messages`)).body;
  expect(pending).toEqual([]);
  expect(history.filter(({ status }: { status: string }) => status === 'uncertain')).toEqual([]);
}

test('kill -9 leaves idle agents to the next server, which uses them', { timeout: aMachineUnderLoadMs }, async () => {
  const before = await start();
  const { id } = await before.start({ agent: 'able', prompt: 'hello' });
  await before.untilStatus(id, 'idle');
  await server?.kill();
  const after = await start();
  await after.post(`/api/sessions/${id}/messages`, { content: 'again' });
  const events = await untilResults(after, id, 2);
  expect(texts(events)).toEqual(['did: hello', 'did: again']);
  const { entries } = (await after.get(`/api/sessions/${id}/audit`)).body;
  expect(entries.filter(({ what }: { what: string }) => what === 'start-requested')).toHaveLength(1);
  await expectNothingOdd(after, id, events);
});

test('SIGTERM says who stays and how to end them; a second one ends them', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const before = await start();
  const { id } = await before.start({ agent: 'puppet', prompt: steps({ hang: true }) });
  const idle = await before.start({ agent: 'puppet', prompt: 'hello' });
  await before.until(id, (event) => event.type === 'functionCall');
  await before.untilStatus(idle.id, 'idle');
  const stopping = server;
  stopping?.signal('SIGTERM');
  await expect
    .poll(() => stopping?.said(), { timeout: 20_000 })
    .toMatch(/^1 agent stays at work \(pid \d+\); .* To end it: SIGTERM again, or `concerto stop --agents`$/m);
  const pid = Number(/\(pid (\d+)\)/.exec(stopping?.said() ?? '')?.[1]);
  await stopping?.stop();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  const after = await start();
  const interrupted = (await after.untilStatus(id, 'interrupted')).at(-1);
  expect(interrupted.reason).toMatch(/no keeper on this machine holds it/);
  // Neither has a process now, so neither has a place.
  await expect.poll(async () => (await after.get('/api/pool')).body.active, { timeout: 20_000 }).toBe(0);
  expect((await after.get(`/api/sessions/${idle.id}`)).body.status).toBe('idle');
});

test('`concerto agents` shows who is kept, `concerto stop` stops the server and with --agents those too', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const env = { XDG_STATE_HOME: join(folder, 'state'), HOME: folder };
  server = await startServer({ folder, args: store, env });
  const api = apiOf(server);
  const { id } = await api.start({ agent: 'puppet', prompt: steps({ hang: true }) });
  await api.until(id, (event) => event.type === 'functionCall');
  const concerto = async (...args: string[]) => await runConcerto(args, env, folder).ended;
  const listed = await concerto('agents', 'ls', '--json', ...store);
  const [agent] = JSON.parse(listed.out);
  expect(agent).toMatchObject({ session: id, state: 'owned', memory: expect.any(Number) });
  expect(agent.memory).toBeGreaterThan(1024 * 1024);
  const stopped = await concerto('stop', ...store);
  expect(stopped).toMatchObject({ code: 0, out: expect.stringMatching(/has stopped\n1 agent stays at work/) });
  expect((await concerto('agents', 'ls', ...store)).out).toContain('waits for a server');
  expect(await concerto('stop', ...store)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/1 agent stays at work/),
  });
  expect((await concerto('agents', 'end', 'nobody', ...store)).code).toBe(1);
  expect((await concerto('doctor', 'puppet', '--no-prompt', '--port', '1', ...store)).out).toMatch(
    /holds 1 agent, and no server/,
  );
  expect((await concerto('stop', '--agents', ...store)).out).toBe('1 agent ended\n');
  expect(() => process.kill(agent.pid, 0)).toThrow('ESRCH');
  server = await startServer({ folder, args: store, env });
  const again = apiOf(server);
  const other = await again.start({ agent: 'puppet', prompt: steps({ hang: true }) });
  await again.until(other.id, (event) => event.type === 'functionCall');
  const keeper = keeperPid();
  expect((await concerto('stop', '--agents', ...store)).out).toMatch(/has stopped\n1 agent ended\n$/);
  // Nothing of it runs any more, and its folder is gone.
  expect(await describeProcess(keeper)).toBeUndefined();
  expect(existsSync(join(folder, 'keeper'))).toBe(false);
  // What is left is what the guide names to whoever uninstalls.
  const left = readdirSync(folder).filter((name) => !name.startsWith('store.db'));
  expect(left.toSorted()).toEqual(['Concerto.toml', 'state']);
  expect(readdirSync(join(folder, 'state'))).toEqual(['concerto']);
  expect((await concerto('agents', 'ls', ...store)).out).toBe('no agents are kept here\n');
  expect(await concerto('stop', ...store)).toMatchObject({ code: 1, err: expect.stringContaining('no server runs') });
});

test('where no keeper can run the server says so, starts agents itself and ends them; `doctor` says so too', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  await writeFile(join(folder, 'keeper'), 'in the way');
  const env = { XDG_STATE_HOME: join(folder, 'state'), HOME: folder };
  const before = await start();
  const { id } = await before.start({ agent: 'puppet', prompt: steps({ hang: true }) });
  await before.until(id, (event) => event.type === 'functionCall');
  const checked = await runConcerto(['doctor', 'puppet', '--no-prompt', '--port', '1', ...store], env, folder).ended;
  expect(checked.out).toMatch(/warn\s+keeper\s+agents end with the server: .*keeper is no folder/);
  const { pid } = server ?? { pid: 0 };
  const agents = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  expect(agents.length).toBeGreaterThan(0);
  const stopping = server;
  await stopping?.stop();
  expect(stopping?.said()).not.toContain('stays at work');
  for (const agent of agents) expect(() => process.kill(agent, 0)).toThrow('ESRCH');
  const after = await start();
  expect((await after.untilStatus(id, 'interrupted')).at(-1).reason).toMatch(/turn 1 was cut/);
});

test('a server that is named by --url tells of its agents, ends one, and stops with the others', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const api = await start();
  const { url = '', token = '' } = server ?? {};
  const env = { XDG_STATE_HOME: join(folder, 'elsewhere'), HOME: folder };
  const concerto = async (...args: string[]) =>
    await runConcerto([...args, '--url', url, '--token', token], env, tmpdir()).ended;
  const ids: string[] = [];
  for (const _ of [1, 2]) {
    const { id } = await api.start({ agent: 'puppet', prompt: steps({ hang: true }) });
    await api.until(id, (event) => event.type === 'functionCall');
    ids.push(id);
  }
  const [first = '', second = ''] = ids;
  const listed: { session: string; pid: number }[] = JSON.parse((await concerto('agents', 'ls', '--json')).out);
  expect(listed.map(({ session }) => session).sort()).toEqual([...ids].sort());
  expect((await concerto('agents', 'end', first)).out).toBe('1 agent ended\n');
  await api.untilStatus(first, 'interrupted');
  const stopped = await concerto('stop', '--agents');
  expect(stopped).toMatchObject({ code: 0, out: expect.stringMatching(/has stopped, and its agents have ended/) });
  const pid = listed.find(({ session }) => session === second)?.pid ?? 0;
  await expect
    .poll(
      () => {
        try {
          return process.kill(pid, 0);
        } catch {
          return false;
        }
      },
      { timeout: 20_000 },
    )
    .toBe(false);
  expect((await concerto('agents', 'ls')).code).toBe(1);
});

test('when the keeper is killed too, sessions are interrupted, and the reason says so', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const before = await start();
  const { id } = await before.start({ agent: 'puppet', prompt: steps({ ask: question }, { tell: 'answer' }) });
  const asked = (await before.until(id, (event) => event.type === 'waitForInput')).at(-1);
  const once = await before.start({ agent: 'puppet', prompt: steps({ hang: true }), once: true });
  await before.until(once.id, (event) => event.type === 'functionCall');
  await before.post(`/api/sessions/${id}/messages`, { content: 'for later' });
  const keeper = keeperPid();
  await server?.kill();
  process.kill(keeper, 'SIGKILL');
  const after = await start();
  const settled = await after.untilStatus(id, 'interrupted');
  expect(settled.at(-1).reason).toMatch(/no keeper on this machine holds it/);
  expect(settled).toContainEqual(
    expect.objectContaining({ type: 'requestSettled', requestId: asked.requestId, outcome: 'withdrawn' }),
  );
  expect(await after.post(`/api/sessions/${id}/requests/${asked.requestId}`, { response: 1 })).toMatchObject({
    status: 409,
    body: { code: 'withdrawn' },
  });
  expect((await after.get(`/api/sessions/${id}/messages`)).body.pending).toEqual([
    expect.objectContaining({ content: 'for later', status: 'pending' }),
  ]);
  const { url = '', token = '' } = server ?? {};
  const attached = runConcerto(['sessions', 'attach', id, '--url', url, '--token', token]);
  await expect
    .poll(attached.said, { timeout: 20_000 })
    .toContain(`its turn was cut: concerto sessions resume ${id} goes on`);
  attached.interrupt();
  expect((await attached.ended).out).toMatch(/no keeper .* holds it; turn 1 was cut, its open request was withdrawn/);
  const failed = await after.until(once.id, (event) => event.type === 'finish');
  expect(failed.slice(-3)).toMatchObject([{ type: 'status', status: 'failed' }, { type: 'error' }, { type: 'finish' }]);
});

test('at a terminal: what was lost and why, then it goes on or is said again', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const before = await start();
  const asks = { agent: 'puppet', prompt: steps({ ask: question }, { tell: 'answer' }) };
  const [first, second] = [await before.start(asks), await before.start(asks)];
  for (const { id } of [first, second]) await before.until(id, (event) => event.type === 'waitForInput');
  const keeper = keeperPid();
  await server?.kill();
  process.kill(keeper, 'SIGKILL');
  const after = await start();
  for (const { id } of [first, second]) await after.untilStatus(id, 'interrupted');
  const { url = '', token = '' } = server ?? {};
  const attached = (id: string, typed: TerminalSteps) =>
    inTerminal(
      [process.execPath, ...concertoCommand, 'sessions', 'attach', id, '--url', url, '--token', token],
      typed,
      { cwd: folder, env: { HOME: folder } },
    );
  const again = await attached(first.id, [
    ['its turn was cut', '/again\r'],
    ['said again', ''],
    ['your answer:', 'blue\r'],
    ['type the next message', '/quit\r'],
  ]);
  // Its lines are broken where the terminal ends.
  const said = again.shown.replaceAll(/\s+/g, ' ');
  expect(said).toContain('no keeper on this machine holds it; turn 1 was cut, its open request was withdrawn');
  expect(again.shown).toContain('→ blue by');
  expect(again.code).toBe(0);
  const goesOn = await attached(second.id, [
    ['its turn was cut', '/resume\r'],
    ['asked to resume', '/quit\r'],
  ]);
  expect(goesOn.code).toBe(0);
  await after.untilStatus(second.id, 'idle');
});

test('killed again and again while it talks: the log has every line once', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  let api = await start();
  const prompt = steps({ many: 2_000, every: 3 }, { say: { type: 'result', text: 'done' } });
  const { id } = await api.start({ agent: 'puppet', prompt });
  for (const ms of [30, 400, 10]) {
    await api.until(id, (event) => event.type === 'content');
    await sleep(ms);
    await server?.kill();
    api = await start();
  }
  // And one that is told to stop as soon as it is up, when it is just taking the agent up.
  await server?.kill();
  await start();
  await server?.stop();
  api = await start();
  const events = await untilResults(api, id, 1);
  expect(texts(events).map((text) => text.split(' ')[0])).toEqual([
    ...Array.from({ length: 2_000 }, (_, i) => String(i)),
    'done',
  ]);
  await expectNothingOdd(api, id, events);
});
