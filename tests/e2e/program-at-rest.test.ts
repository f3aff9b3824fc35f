import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { steps, writePuppets } from '../support/puppets.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

/** Each test starts the server several times. */
const timeout = 240_000;
const puppet = join(import.meta.dirname, '../support/puppet.mjs');

const programOf = (right: string): string => `
agent Left { connector: left }
agent Right { connector: right }

async fn left(steps: String) -> String { Left.execute(steps).unwrap() }
async fn right(steps: String) -> String { ${right} }

async fn main() -> Result<String, String> {
    let steps = std::env::get("CONCERTO_PROMPT").unwrap();
    emit("progress", "begun");
    let (a, b) = await (left(steps), right(steps));
    Ok("\${a} \${b}")
}
`;

/** Two agents at once, of which people are asked; the second program asks a person itself for what its right one wants. */
const programs = {
  leaves: programOf('Right.execute(steps).unwrap()'),
  handles: programOf('(listen Right.execute(steps) { "approval" => |a| { await emit("approve", a) } }).unwrap().text'),
};

let folder: string;
let server: StartedServer | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-at-rest-'));
  const table = (name: string): string =>
    `[agents.${name}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([puppet, `--trace=${join(folder, name)}`])}\ninput_format = "json"\n`;
  const entries = Object.keys(programs).map((name) => `[programs.${name}]\nentry = "${name}.conc"\n`);
  await writePuppets(folder, [table('left'), table('right'), ...entries].join(''));
  for (const [name, source] of Object.entries(programs)) await writeFile(join(folder, `${name}.conc`), source);
});

afterEach(async () => {
  await server?.kill();
  server = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<Api> {
  server = await startServer({ folder, args: ['--store', 'sqlite:store.db'] });
  return apiOf(server);
}

const heard = (name: string): readonly string[] =>
  readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('< '));

/** Nobody owns it any more, and nothing of it is in memory. */
async function untilPutAway(api: Api, id: string): Promise<void> {
  const last = async (): Promise<unknown> => (await api.get(`/api/sessions/${id}/audit`)).body.entries.at(-1);
  await expect.poll(last, { timeout: 30_000 }).toMatchObject({ what: 'released' });
}

const approval = { type: 'approval', id: 'a-1', description: 'Delete it?' };
const prompt = steps({ ask: approval }, { tell: 'answer' });

const ends = [
  { how: 'kill -9', end: async () => await server?.kill() },
  { how: 'SIGTERM', end: async () => await server?.stop() },
];
const isAsked = ({ type }: { type: string }): boolean => type === 'queryConsent';

describe.each(ends)('$how of the server while agents of a program wait for people', ({ end }) => {
  test.each([
    { program: 'leaves', asks: 'right' },
    { program: 'handles', asks: 'program' },
  ])(
    'the answers after it reach the very agents, and the program, which was put away, goes on: it $program',
    {
      timeout,
    },
    async ({ program, asks }) => {
      let api = await start();
      const { id } = await api.start({ program, prompt });
      const children = async () => (await api.get(`/api/sessions?parent=${id}`)).body.sessions;
      await expect.poll(async () => (await children()).length, { timeout: 30_000 }).toBe(2);
      const idOf = async (name: string): Promise<string> =>
        (await children()).find(({ agent }: { agent: string }) => agent === name).id;
      const left = await idOf('Left');
      const asker = asks === 'right' ? await idOf('Right') : id;
      const permission = (await api.until(left, isAsked)).at(-1);
      const asked = (await api.until(asker, isAsked)).at(-1);
      const putAway = async (): Promise<void> => {
        if (program === 'leaves') await untilPutAway(api, id);
      };
      await putAway();

      const restart = async (): Promise<void> => {
        await end();
        api = await start();
      };
      const answer = async (session: string, { requestId }: { requestId: string }, response: boolean) =>
        (await api.post(`/api/sessions/${session}/requests/${requestId}`, { response })).status;
      await restart();
      expect((await api.get(`/api/sessions/${left}`)).body.status).toBe('waitingForApproval');
      expect(await answer(left, permission, true)).toBe(200);
      expect(await answer(left, permission, false)).toBe(409);
      // Whatever the program had heard of it by now.
      await restart();
      await putAway();
      await restart();
      expect(await answer(asker, asked, false)).toBe(200);
      await restart();
      const events = await api.until(id, ({ type }) => type === 'finish');

      const result: string = events.find(({ type }) => type === 'complete').result.outcomes.parts[0].text;
      expect(result.match(/"in_reply_to_id":"a-1","value":"(yes|no)"/g)).toHaveLength(2);
      expect(result.indexOf('"yes"')).toBeLessThan(result.indexOf('"no"'));
      expect(events.filter(({ title }) => title === 'progress')).toHaveLength(1);
      expect(events.filter(isAsked)).toHaveLength(asks === 'program' ? 1 : 0);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      // One prompt and one answer each: they never noticed.
      for (const name of ['left', 'right']) expect(heard(name)).toHaveLength(2);
      expect((await children()).map(({ status }: { status: string }) => status)).toEqual(['completed', 'completed']);
    },
  );
});
