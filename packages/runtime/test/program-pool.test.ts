import { readManifest } from '@concerto/language';
import { afterEach, expect, test } from 'vitest';
import type { CatalogEntry } from '../src/index.ts';
import { programEntry } from './program-entry.ts';
import { openStage, type Stage } from './session-stage.ts';

const user = { actor: 'user', key: undefined };
const withinMs = 60_000;

/** Does what it is told, and tells how often it was told something. */
const quick = `
let times = 0;
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { type, text } = JSON.parse(line);
  const done = () => console.log(JSON.stringify({ type: 'result', text: text + ' ' + ++times }));
  if (type === 'prompt') setTimeout(done, text.startsWith('slowly') ? 300 : 0);
});
`;

let stage: Stage;
afterEach(async () => {
  await stage.close();
});

const { manifest } = readManifest(
  `[agents.quick]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(['-e', quick])}\ninput_format = "json"\ninstances = 100\n`,
);

const program = (name: string, source: string): CatalogEntry => programEntry(name, source, { manifest });

async function started(name: string): Promise<string> {
  const session = await stage.start({ program: name });
  if (!session.ok) throw new Error(session.error.message);
  return session.value.id;
}

const side = program(
  'side',
  `agent W { connector: quick }
fn main() -> Result<String, String> {
    let all = parallel for i in 0..4 { W.execute("go \${i}").unwrap() };
    Ok(all.join(", "))
}`,
);

test('more agents at once than there are places take turns: one that is done gives its place to the next', {
  timeout: withinMs,
}, async () => {
  stage = openStage({ agents: [], entries: [side] });
  await stage.sessions.configurePool(1, 'user');
  const id = await started('side');
  await stage.until(id, (event) => event.type === 'finish');
  expect((await stage.sessions.get(id))?.result).toMatchObject({ text: 'go 0 1, go 1 1, go 2 1, go 3 1' });
  expect(await stage.sessions.pool()).toMatchObject({ active: 0, waiting: 0 });
});

test('an agent whose place was needed in between is the same session when it is called again', {
  timeout: withinMs,
}, async () => {
  const again = program(
    'again',
    `agent W { connector: quick }
async fn main() -> Result<String, String> {
    let first = W.execute("first").unwrap();
    await emit("ask", "Go on?");
    let second = W.execute("second").unwrap();
    Ok("\${first}, \${second}")
}`,
  );
  stage = openStage({ agents: [], entries: [again, side] });
  await stage.sessions.configurePool(1, 'user');
  const id = await started('again');
  const { requestId } = await stage.until(id, (event) => event.type === 'waitForInput');
  const between = await started('side');
  await stage.until(between, (event) => event.type === 'finish');
  await stage.sessions.answer({ session: id, request: String(requestId) }, { response: 'yes' }, user);
  await stage.until(id, (event) => event.type === 'finish');
  const session = await stage.sessions.get(id);
  // Another process, which was told nothing before, in the session that it was.
  expect(session).toMatchObject({ result: { text: 'first 1, second 1' }, children: 1 });
});

test('a program that opens many lets others have the next place', { timeout: withinMs }, async () => {
  const many = program(
    'many',
    `agent W { connector: quick }
fn main() -> Result<Int, String> {
    let all = parallel for i in 0..16 { W.execute("slowly \${i}").unwrap() };
    Ok(all.len())
}`,
  );
  const once = program(
    'once',
    `agent W { connector: quick }\nfn main() -> Result<String, AgentError> { W.execute("one") }`,
  );
  stage = openStage({ agents: [], entries: [many, once] });
  await stage.sessions.configurePool(1, 'user');
  const wide = await started('many');
  await expect.poll(async () => (await stage.sessions.pool()).waiting, { timeout: withinMs }).toBeGreaterThan(10);
  const other = await started('once');
  await stage.until(other, (event) => event.type === 'finish');
  expect(await stage.sessions.get(wide)).toMatchObject({ status: 'running' });
  expect((await stage.sessions.pool()).waiting).toBeGreaterThan(5);
  await stage.until(wide, (event) => event.type === 'finish');
  expect(await stage.sessions.get(wide)).toMatchObject({ status: 'completed' });
});
