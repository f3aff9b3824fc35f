import { ok } from '@concerto/base';
import { buildProgram, readManifest } from '@concerto/language';
import { afterEach, expect, test } from 'vitest';
import type { CatalogEntry } from '../src/index.ts';
import { programEntry } from './program-entry.ts';
import { openStage, type Stage } from './session-stage.ts';

/** More sessions than anybody would look through for a message. */
const manySessions = 2_000;

/** Asks something in each turn, and ends it with the answer. */
const script = `
const say = (message) => console.log(JSON.stringify(message));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.type === 'prompt') say({ type: 'question', id: message.text, question: message.text });
  if (message.type === 'response') say({ type: 'result', text: String(message.value) });
});
`;

const source = `agent First { connector: asks }
agent Second { connector: asks }
fn main() -> Result<String, AgentError> {
    let one = First.execute("one")?;
    let two = Second.execute("two")?;
    Ok("\${one} \${two}")
}`;

let stage: Stage;
afterEach(async () => {
  await stage.close();
});

function open(): void {
  const args = ['-e', script];
  const { manifest } = readManifest(
    `[agents.asks]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(args)}\ninput_format = "json"\n`,
  );
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => source, manifest });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  const load = () => ok({ module, projectDirectory: process.cwd() });
  stage = openStage({ agents: [], entries: [{ kind: 'program', name: 'p', load }, passes()] });
}

/** A supervisor that leaves all to the next. */
function passes(): CatalogEntry {
  const guard = `@supervisor
fn guard(session: Session) {
    listen session { "approval" => |a: Approval| { nil } };
}`;
  return programEntry('guard', guard);
}

async function answered(session: string, question: string): Promise<void> {
  const asked = await stage.until(session, (event) => event.type === 'waitForInput' && hasText(event, question));
  const target = { session, request: String(asked.requestId) };
  const given = await stage.sessions.answer(
    target,
    { response: `${question} done` },
    { actor: 'user', key: undefined },
  );
  if (!given.ok) throw new Error(given.error.message);
}

function hasText(event: Record<string, unknown>, text: string): boolean {
  return JSON.stringify(event).includes(`"${text}"`);
}

async function calledAs(program: string, name: string): Promise<string> {
  const call = await stage.until(program, (event) => event.childSession !== undefined && event.name === name);
  return String(call.childSession);
}

/** Their places in the tree are on record; they themselves were never begun. */
async function opensMany(program: string): Promise<void> {
  const entries = Array.from({ length: manySessions }, (_, n) => {
    const record = { type: 'child-opened', at: Date.now(), actor: 'test', child: `s_more_${n}` };
    return { type: record.type, data: JSON.stringify(record) };
  });
  await stage.log.append({ session: program, streams: [{ stream: 'domain', entries }] });
  await expect.poll(async () => (await stage.sessions.get(program))?.children).toBe(manySessions + 2);
}

test('a message to a program that is repeated under its key is answered from where it went, whoever works since', async () => {
  open();
  const started = await stage.start({ program: 'p' });
  if (!started.ok) throw new Error(started.error.message);
  const { id } = started.value;
  const send = () => stage.sessions.send(id, { content: 'more' }, { actor: 'user', key: 'k'.repeat(40) });
  const first = await calledAs(id, 'First');
  await stage.until(first, (event) => event.type === 'waitForInput');
  const sent = await send();
  expect(sent).toMatchObject({ ok: true, value: { session: first } });
  await answered(first, 'one');
  const second = await calledAs(id, 'Second');
  await answered(first, 'more');
  await stage.until(second, (event) => event.type === 'waitForInput');
  await expect.poll(async () => (await stage.sessions.get(first))?.status, { timeout: 30_000 }).toBe('idle');
  await opensMany(id);
  expect(await send()).toMatchObject({ ok: true, value: { session: first, content: 'more' } });
  const heard = await stage.sessions.messages(second, { history: { after: 0, limit: 10 } });
  expect([...(heard?.pending ?? []), ...(heard?.history ?? [])].map(({ content }) => content)).toEqual(['two']);
  await answered(second, 'two');
  await stage.until(id, (event) => event.type === 'finish');
  // Also when nothing of it is at work any more.
  expect(await send()).toMatchObject({ ok: true, value: { session: first } });
});

test('a message to a program goes to its one agent at work, whoever answers for the program', async () => {
  open();
  const started = await stage.start({ program: 'p', supervisor: 'guard' });
  if (!started.ok) throw new Error(started.error.message);
  const { id } = started.value;
  const first = await calledAs(id, 'First');
  await stage.until(first, (event) => event.type === 'waitForInput');
  await expect.poll(async () => (await stage.sessions.get(id))?.children, { timeout: 30_000 }).toBe(2);
  const send = async (content: string) => await stage.sessions.send(id, { content }, { actor: 'user', key: undefined });
  expect(await send('more')).toMatchObject({ ok: true, value: { session: first } });
});

test('one that was paused with its program and had nothing to do is not at work', async () => {
  open();
  const started = await stage.start({ program: 'p' });
  if (!started.ok) throw new Error(started.error.message);
  const { id } = started.value;
  const user = { actor: 'user', key: undefined };
  const first = await calledAs(id, 'First');
  await answered(first, 'one');
  const second = await calledAs(id, 'Second');
  await stage.until(second, (event) => event.type === 'waitForInput');
  expect((await stage.sessions.control(id, 'pause', user)).ok).toBe(true);
  for (const held of [first, second]) {
    await expect.poll(async () => (await stage.sessions.get(held))?.status, { timeout: 30_000 }).toBe('paused');
  }
  expect(await stage.sessions.send(id, { content: 'more' }, user)).toMatchObject({
    ok: true,
    value: { session: second },
  });
});
