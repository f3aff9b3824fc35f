import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

/** Asks, and takes its time to end. */
const agent = `
console.log(JSON.stringify({ type: 'question', id: 'q', question: 'Which?' }));
process.on('SIGTERM', () => setTimeout(() => process.exit(0), 3_000));
process.on('SIGINT', () => {});
setInterval(() => {}, 1_000);
`;

const program = `
agent Worker { connector: worker }
fn main() -> Result<String, String> {
    match Worker.execute("go") { Ok(said) => Ok(said), Err(error) => Err(error.message) }
}
`;

let folder: string;
let server: StartedServer | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-cancel-below-'));
  await writeFile(
    join(folder, 'Concerto.toml'),
    `[agents.worker]
command = "${process.execPath}"
args = ["agent.mjs"]
[programs.works]
entry = "main.conc"
`,
  );
  await writeFile(join(folder, 'main.conc'), program);
  await writeFile(join(folder, 'agent.mjs'), agent);
});

afterEach(async () => {
  await server?.stop();
  server = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<Api> {
  server = await startServer({ folder, args: ['--store', 'sqlite:store.db'] });
  return apiOf(server);
}

async function children(api: Api, id: string): Promise<readonly any[]> {
  return (await api.get(`/api/sessions?parent=${id}`)).body.sessions;
}

/** Its agent asks, and it is paused. */
async function paused(api: Api): Promise<string> {
  const { id } = await api.start({ program: 'works' });
  await expect
    .poll(async () => (await children(api, id)).map(({ status }) => status), { timeout: 30_000 })
    .toEqual(['waitingForInput']);
  await api.post(`/api/sessions/${id}/pause`);
  await api.untilStatus(id, 'paused');
  return id;
}

async function endsLast(api: Api, id: string): Promise<void> {
  await api.untilStatus(id, 'cancelled');
  const ended = async (session: string): Promise<number> => {
    const events = await api.until(session, ({ type }) => type === 'finish');
    return Date.parse(String((events.at(-1) as { at?: unknown } | undefined)?.at));
  };
  const below = await children(api, id);
  expect(below.map(({ status }) => status)).toEqual(['cancelled']);
  for (const child of below) expect(await ended(child.id)).toBeLessThanOrEqual(await ended(id));
}

test('a program that was paused before a kill is cancelled after its agent', { timeout: 120_000 }, async () => {
  const id = await paused(await start());
  await server?.kill();
  const api = await start();
  expect((await api.post(`/api/sessions/${id}/cancel`)).body).toMatchObject({ status: 'cancelling' });
  await endsLast(api, id);
});

test('a kill in the middle of it changes nothing of that', { timeout: 120_000 }, async () => {
  const before = await start();
  const id = await paused(before);
  expect((await before.post(`/api/sessions/${id}/cancel`)).body).toMatchObject({ status: 'cancelling' });
  await server?.kill();
  await endsLast(await start(), id);
});
