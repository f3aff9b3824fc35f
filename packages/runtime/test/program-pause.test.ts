import { setTimeout as sleep } from 'node:timers/promises';
import { readManifest } from '@concerto/language';
import { memoryEventLog } from '@concerto/log';
import { afterEach, expect, test } from 'vitest';
import { programEntry } from './program-entry.ts';
import { openStage, type Stage } from './session-stage.ts';
import { VirtualClock } from './virtual-clock.ts';

const user = { actor: 'user', key: undefined };
let stage: Stage;
afterEach(async () => {
  await stage.close();
});

/** It cannot pause, and works until it is steered. */
const script = `
const say = (message) => console.log(JSON.stringify(message));
say({ type: 'init_ack', capabilities: ['steer'] });
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const message = line.startsWith('{') ? JSON.parse(line) : { type: 'prompt' };
  if (message.type === 'prompt') say({ type: 'progress', message: 'at work' });
  if (message.type === 'steer') say({ type: 'result', text: message.text });
});
`;
const { manifest } = readManifest(
  `[agents.works]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["-e", ${JSON.stringify(script)}]\n`,
);
const source = `agent Worker { connector: works }
fn main() -> Result<String, AgentError> { Ok(Worker.execute("go")?) }
`;

type Opened = { readonly clock: VirtualClock; readonly id: string; readonly child: string };

async function opened(): Promise<Opened> {
  const clock = new VirtualClock();
  const log = memoryEventLog({ now: () => clock.now() });
  stage = openStage({ agents: [], entries: [programEntry('p', source, { manifest })], log, clock });
  const started = await stage.start({ program: 'p' });
  if (!started.ok) throw new Error(started.error.message);
  const { id } = started.value;
  const child = async (): Promise<string | undefined> =>
    (await stage.sessions.list({ parent: id, limit: 1 })).sessions[0]?.id;
  await passing(clock, async () => (await child()) !== undefined);
  await stage.until(String(await child()), (event) => event.title === 'progress');
  return { clock, id, child: String(await child()) };
}

/** Time passes until it is so. */
async function passing(clock: VirtualClock, isSo: () => Promise<boolean>): Promise<void> {
  for (let step = 0; step < 400 && !(await isSo()); step++) {
    clock.pass(200);
    await sleep(5);
  }
  expect(await isSo()).toBe(true);
}

const is = async (session: string, status: string): Promise<boolean> =>
  (await stage.sessions.get(session))?.status === status;

async function finish({ clock, id, child }: Opened): Promise<void> {
  const said = { content: 'enough', priority: 'immediate' } as const;
  expect((await stage.sessions.send(child, said, user)).ok).toBe(true);
  await passing(clock, async () => await is(id, 'completed'));
  expect((await stage.sessions.get(id))?.result).toMatchObject({ text: 'enough' });
}

test('an agent that was still about to hold when its program went on goes on too', { timeout: 60_000 }, async () => {
  const here = await opened();
  const { clock, id, child } = here;
  expect((await stage.sessions.control(id, 'pause', user)).ok).toBe(true);
  await passing(clock, async () => await is(id, 'paused'));
  // One that cannot is held by force, later than its program.
  expect(await is(child, 'pausing')).toBe(true);
  expect((await stage.sessions.control(id, 'resume', user)).ok).toBe(true);
  await passing(clock, async () => await is(child, 'running'));
  await stage.until(child, (event) => event.type === 'status' && event.status === 'paused');
  expect(await is(id, 'running')).toBe(true);
  await finish(here);
});

test('an agent that somebody paused alone stays so when its program was paused and goes on', {
  timeout: 60_000,
}, async () => {
  const here = await opened();
  const { clock, id, child } = here;
  expect((await stage.sessions.control(child, 'pause', user)).ok).toBe(true);
  await passing(clock, async () => await is(child, 'paused'));
  expect((await stage.sessions.control(id, 'pause', user)).ok).toBe(true);
  await passing(clock, async () => await is(id, 'paused'));
  expect((await stage.sessions.control(id, 'resume', user)).ok).toBe(true);
  await passing(clock, async () => await is(id, 'running'));
  clock.pass(1_000);
  await sleep(50);
  expect(await is(child, 'paused')).toBe(true);
  expect((await stage.sessions.control(child, 'resume', user)).ok).toBe(true);
  await passing(clock, async () => await is(child, 'running'));
  await finish(here);
});
