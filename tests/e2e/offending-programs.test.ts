import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

const timeout = 300_000;
const errorWithinMs = 120_000;
/** How much longer another session may take beside an offender than alone; a server that is held takes hundreds of times as long. */
const patience = 30;

type Offender = { readonly source: string; readonly says: RegExp; readonly limits?: string };

const steps = Array.from({ length: 60 }, (_, index) => index);

/** What each does would hold whoever runs or checks it in its own thread, or fill its memory. */
const offenders: Readonly<Record<string, Offender>> = {
  emits: {
    source: 'fn main() {\n    while true { emit("again", "and again and again"); }\n}\n',
    limits: 'stream = "1MiB"',
    says: /said and heard more than 1 MiB/,
  },
  arrays: {
    source: 'fn main() {\n    let mut all: Array<Any> = [1];\n    while true { all = all.concat(all); }\n}\n',
    says: /values take more than|more than \d+ elements|more memory than its process/,
  },
  pattern: {
    source: `schema Name { @validate(pattern: "(a+)+b") text: String }
fn main() -> Result<Name, SchemaError> {
    let fields: Map<String, Any> = {"text": "a".repeat(50000)};
    Ok(parse_schema<Name>(fields)?)
}
`,
    says: /text: must match/,
  },
  types: {
    source: `fn pair<A, B>(a: A, b: B) -> (A, B) { (a, b) }
fn main() { let x0 = 1; ${steps.map((n) => `let x${n + 1} = pair(x${n}, x${n});`).join(' ')} emit("x", x60); }
`,
    says: /concerto check/,
  },
  loops: {
    source: 'fn main() {\n    let mut n = 0;\n    while true { n = n + 1; }\n}\n',
    says: /computed for more than 5 s|steps without an effect/,
  },
};

let folder: string;
let server: StartedServer;
let api: Api;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-offending-'));
  await mkdir(join(folder, 'src'));
  const tables = Object.entries(offenders).map(
    ([name, { limits }]) =>
      `[programs.${name}]\nentry = "src/${name}.conc"\n${limits === undefined ? '' : `[programs.${name}.limits]\n${limits}\n`}`,
  );
  const own = '[project]\nname = "o"\nversion = "1"\nentry = "src/loops.conc"\n';
  await writeFile(
    join(folder, 'Concerto.toml'),
    `${own}[agents.echo]\ncommand = "cat"\ninput_format = "text"\n${tables.join('')}`,
  );
  for (const [name, { source }] of Object.entries(offenders))
    await writeFile(join(folder, 'src', `${name}.conc`), source);
  server = await startServer({ folder });
  api = apiOf(server);
}, timeout);

afterEach(async () => {
  await server?.kill();
  await rm(folder, { recursive: true, force: true });
});

/** A whole session of an agent, from its start to its answer; how long it took. */
async function beside(): Promise<number> {
  const began = performance.now();
  const { id } = await api.start({ agent: 'echo', prompt: 'hello' });
  await api.untilStatus(id, 'idle');
  const took = performance.now() - began;
  await api.post(`/api/sessions/${id}/cancel`);
  return took;
}

async function longestOf(count: number): Promise<number> {
  let longest = 0;
  for (let n = 0; n < count; n++) longest = Math.max(longest, await beside());
  return longest;
}

describe.each(Object.entries(offenders))('a program of the kind `%s`', (name, { says }) => {
  test('ends with an error of its own, and others are answered meanwhile', { timeout }, async () => {
    const alone = await longestOf(3);
    const { id } = await api.start({ program: name });
    let isOver = false;
    const ended = api
      .until(id, (event) => event.type === 'finish', errorWithinMs)
      .finally(() => {
        isOver = true;
      });
    let longest = 0;
    do longest = Math.max(longest, await beside());
    while (!isOver);
    const error = (await ended).find((event) => event.type === 'error');
    expect(error?.message).toMatch(says);
    expect(longest).toBeLessThan(alone * patience);
    expect((await api.get(`/api/sessions/${id}`)).body.status).toBe('failed');
    await beside();
  });

  test('does not keep the server from stopping when it is told to', { timeout }, async () => {
    const { id } = await api.start({ program: name });
    await api.until(id, () => true);
    expect(await server.exited('SIGTERM')).toBe(0);
  });
});
