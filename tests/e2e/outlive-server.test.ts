import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { otherVersion } from '../support/concerto-command.ts';
import { steps, writePuppets } from '../support/puppets.ts';
import { type StartedServer, type StartOptions, startServer } from '../support/start-server.ts';

/** Each test starts the server at least twice, from source. */
const aMachineUnderLoadMs = 120_000;
const puppet = join(import.meta.dirname, '../support/puppet.mjs');

let folder: string;
let server: StartedServer | undefined;

const trace = (): string => join(folder, 'trace');
const gate = (): string => join(folder, 'gate');

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-outlive-'));
  await writeManifest();
});

async function writeManifest(more = ''): Promise<void> {
  const table = (name: string, ...flags: string[]): string =>
    `[agents.${name}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([puppet, `--trace=${trace()}`, ...flags])}\n`;
  const dozing = table('dozing', `--dozes=${gate()}`);
  await writePuppets(folder, [table('traced'), dozing, more].join('\n'));
}

afterEach(async () => {
  await server?.kill();
  server = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function start(options: StartOptions = {}): Promise<Api> {
  server = await startServer({ folder, args: ['--store', 'sqlite:store.db'], ...options });
  return apiOf(server);
}

/** What the agent read and wrote, by its own word. */
function lines(way: '<' | '>'): readonly Record<string, unknown>[] {
  return readFileSync(trace(), 'utf8')
    .split('\n')
    .flatMap((line) => (line.startsWith(`${way} `) ? [JSON.parse(line.slice(2))] : []));
}

type Said = { readonly type: string; readonly seq: number; readonly content?: { parts: { text: string }[] } };

/** Line by line: what it says it said is what the log has, and what it was told is what the log told it. */
async function expectAgreement(api: Api, id: string, events: readonly Said[]): Promise<void> {
  const said = lines('>').flatMap(({ type, text }) => (type === 'partial' || type === 'result' ? [text] : []));
  const heard = events.flatMap(({ type, content }) => (type === 'content' ? [content?.parts[0]?.text] : []));
  expect(heard).toEqual(said);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const { pending, history } = (await api.get(`/api/sessions/${id}/messages?all=true`)).body;
  expect(pending).toEqual([]);
  const told = lines('<').flatMap(({ type, id: message }) => (type === 'prompt' ? [message] : []));
  expect(history.map((message: { id: string; status: string }) => [message.id, message.status])).toEqual(
    told.map((message) => [message, 'delivered']),
  );
}

const isTurnEnd = ({ type }: { type: string }): boolean => type === 'turnComplete';
const done = { say: { type: 'result', text: 'done' } };

test('in the middle of a tool, and the next server is of another version: one call, one result', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const before = await start();
  const call = { type: 'tool_call', id: 't1', name: 'Bash', input: { command: 'make' } };
  const result = { type: 'tool_result', id: 't1', output: 'made' };
  const prompt = steps({ many: 3 }, { say: call }, { until: gate() }, { say: result }, { many: 3 }, done);
  const { id } = await before.start({ agent: 'traced', prompt });
  await before.until(id, ({ type, callId }) => type === 'functionCall' && callId === 't1');
  await server?.kill();
  const after = await start({ command: otherVersion });
  await writeFile(gate(), '');
  const events = await after.until(id, isTurnEnd);
  for (const type of ['functionCall', 'functionResult']) {
    expect(events.filter((event) => event.type === type && event.callId === 't1')).toHaveLength(1);
  }
  await expectAgreement(after, id, events);
});

test('while a message is being written: the agent gets all of it, once', { timeout: aMachineUnderLoadMs }, async () => {
  const before = await start();
  // More than a pipe holds, to an agent that does not read yet.
  const prompt = steps({ padding: '\u20ac'.repeat(95_000) }, done);
  const { id } = await before.start({ agent: 'dozing', prompt });
  const isBeingWritten = async (): Promise<unknown> =>
    (await before.get(`/api/sessions/${id}/messages`)).body.pending[0]?.inFlight;
  await expect.poll(isBeingWritten, { timeout: 20_000 }).toBe(true);
  await before.post(`/api/sessions/${id}/messages`, { content: 'and this' });
  await server?.kill();
  const after = await start();
  await writeFile(gate(), '');
  let ended = 0;
  const events = await after.until(id, (event) => isTurnEnd(event) && ++ended === 2);
  expect(lines('<')).toMatchObject([
    { type: 'prompt', text: prompt },
    { type: 'prompt', text: 'and this' },
  ]);
  await expectAgreement(after, id, events);
});

test('away for longer than agents are kept: it is ended, what it said is there, and the reason says so', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  await writeManifest('[server]\nkeep_agents = "3s"\n');
  const before = await start();
  const { id } = await before.start({ agent: 'traced', prompt: steps({ many: 50 }, { hang: true }) });
  await before.until(id, ({ type }) => type === 'content');
  await expect.poll(() => lines('>').length, { timeout: 20_000 }).toBe(50);
  const keeper: { pid: number } = JSON.parse(readFileSync(join(folder, 'keeper/keeper.json'), 'utf8'));
  await server?.kill();
  const children = (): string => readFileSync(`/proc/${keeper.pid}/task/${keeper.pid}/children`, 'utf8').trim();
  await expect.poll(children, { timeout: 30_000 }).toBe('');
  const after = await start();
  const events = await after.untilStatus(id, 'interrupted');
  expect(events.at(-1).reason).toMatch(/signal SIGTERM|ended|exited|no keeper/);
  expect(events.filter(({ type }) => type === 'content')).toHaveLength(50);
});
