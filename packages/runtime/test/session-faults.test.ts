import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventLog, LogError, memoryEventLog } from '@concerto/log';
import { afterEach, expect, test } from 'vitest';
import { type Clock, leaseOf, systemClock } from '../src/index.ts';
import { programEntry } from './program-entry.ts';
import { openStage, type Stage } from './session-stage.ts';

const counter = {
  name: 'counts',
  command: process.execPath,
  args: [join(import.meta.dirname, 'agents/counts.mjs')],
};
let stage: Stage;

afterEach(() => stage.close());

/** A store whose disk is full while `full` says so. */
function fillable(full: () => boolean): EventLog {
  const log = memoryEventLog({ now: Date.now });
  const checked =
    <Args extends readonly unknown[], T>(call: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      if (full()) throw new LogError('full', 'no room left');
      return await call(...args);
    };
  return {
    ...log,
    append: checked((request: Parameters<EventLog['append']>[0]) => log.append(request)),
    putDocument: checked((request: Parameters<EventLog['putDocument']>[0]) => log.putDocument(request)),
    acquireLease: checked((request: Parameters<EventLog['acquireLease']>[0]) => log.acquireLease(request)),
    renewLease: checked((request: Parameters<EventLog['renewLease']>[0]) => log.renewLease(request)),
    releaseLease: checked((request: Parameters<EventLog['releaseLease']>[0]) => log.releaseLease(request)),
  };
}

test('what an agent says while the disk is full is kept, in order and once, and the user is told', async () => {
  let full = false;
  stage = openStage({ agents: [counter], log: fillable(() => full) });
  const started = await stage.start({ agent: 'counts', prompt: '40' });
  const id = started.ok ? started.value.id : '';
  await stage.until(id, (event) => event.type === 'functionCallUpdate' && event.status === '5');
  full = true;
  const refused = stage.sessions.send(id, { content: 'more' }, { actor: 'user', key: undefined });
  await expect(refused).rejects.toMatchObject({ code: 'full' });
  setTimeout(() => {
    full = false;
  }, 600);
  await stage.until(id, (event) => event.type === 'turnComplete');
  const { entries } = await stage.log.read({ session: id, stream: 'events', after: 0, limit: 1_000 });
  const counted = entries.flatMap(({ data }) => {
    const event: { type: string; status?: string } = JSON.parse(data);
    return event.type === 'functionCallUpdate' ? [Number(event.status)] : [];
  });
  expect(counted).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
});

test('a disk that stays full costs one session its turn and no other session anything', {
  timeout: 60_000,
}, async () => {
  let full = false;
  stage = openStage({ agents: [counter], log: fillable(() => full) });
  const first = await stage.start({ agent: 'counts', prompt: '2000' });
  const id = first.ok ? first.value.id : '';
  await stage.until(id, (event) => event.type === 'functionCallUpdate');
  full = true;
  await expect.poll(() => stage.complaints, { timeout: 40_000 }).toContain(`session ${id}: its owner failed`);
  full = false;
  const lost = await stage.until(id, (event) => event.type === 'status' && event.status === 'interrupted');
  expect(lost).toMatchObject({ previous: 'running' });
  const second = await stage.start({ agent: 'counts', prompt: '3' });
  await stage.until(second.ok ? second.value.id : '', (event) => event.type === 'turnComplete');
  await stage.sessions.send(id, { content: '2' }, { actor: 'user', key: undefined });
  await stage.until(id, (event) => event.type === 'turnComplete');
});

test('an agent that complains about the end of its stdin when the server stops has not failed', async () => {
  const script = `read -r line; echo '{"type":"question","id":"q","question":"Which?"}'
read -r reply || echo '{"type":"error","message":"stdin has ended"}'`;
  stage = openStage({ agents: [{ name: 'asks', command: 'sh', args: ['-c', script] }] });
  const started = await stage.start({ agent: 'asks', prompt: 'go' });
  const id = started.ok ? started.value.id : '';
  await stage.until(id, (event) => event.type === 'waitForInput');
  await stage.stop();
  const session = await stage.sessions.get(id);
  expect(session).toMatchObject({ status: 'interrupted' });
  expect(session).not.toHaveProperty('error');
});

test('a clock that is set back by an hour delays no deadline: an agent that ignores the interrupt is ended all the same', {
  timeout: 30_000,
}, async () => {
  let back = 0;
  const clock: Clock = {
    now: () => systemClock.now() - back,
    elapsed: () => systemClock.elapsed(),
    at: (instant, call) => systemClock.at(instant + back, call),
  };
  const script = `trap '' INT; read -r line; echo '{"type":"partial","text":"on it"}'; while :; do sleep 0.1; done`;
  stage = openStage({ agents: [{ name: 'deaf', command: 'sh', args: ['-c', script] }], clock });
  const started = await stage.start({ agent: 'deaf', prompt: 'go' });
  const id = started.ok ? started.value.id : '';
  await stage.until(id, (event) => event.type === 'content');
  back = 3_600_000;
  await stage.sessions.control(id, 'interrupt', { actor: 'user', key: undefined });
  back = 7_200_000;
  const ended = await stage.until(id, (event) => event.type === 'status' && event.status === 'interrupted');
  expect(ended).toMatchObject({ previous: 'interrupting' });
});

test('an agent may take as long to introduce itself as its init timeout says; a start that fails keeps the prompt', {
  timeout: 40_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'concerto-slow-'));
  const script = `read -r init; test -e ${join(folder, 'ok')} || exit 3; sleep 16; echo '{"type":"init_ack"}'; read -r prompt; echo '{"type":"result","text":"done"}'`;
  const spec = { name: 'slow', command: 'sh', args: ['-c', script], params: { a: 1 } };
  stage = openStage({ agents: [spec], initTimeoutMs: 30_000 });
  const started = await stage.start({ agent: 'slow', prompt: 'go' });
  const id = started.ok ? started.value.id : '';
  await stage.until(id, (event) => event.type === 'status' && event.status === 'interrupted');
  expect(await stage.sessions.messages(id, { history: { after: 0, limit: 10 } })).toMatchObject({
    pending: [{ content: 'go' }],
    history: [],
  });
  expect(await stage.sessions.pool()).toMatchObject({ active: 0 });
  await writeFile(join(folder, 'ok'), '');
  await stage.sessions.control(id, 'resume', { actor: 'user', key: undefined });
  await stage.until(id, (event) => event.type === 'turnComplete');
  await rm(folder, { recursive: true });
});

test('a program whose session another runner has taken does nothing more, however slow the store is', {
  timeout: 30_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'concerto-taken-'));
  const written = async (): Promise<number> => (await readFile(join(folder, 'did.txt'), 'utf8').catch(() => '')).length;
  const source = `fn main() {
    loop {
        std::time::sleep(20);
        std::fs::append_file("${join(folder, 'did.txt')}", "x").unwrap();
    }
}`;
  const real = memoryEventLog({ now: Date.now });
  let isSlow = false;
  const log: EventLog = {
    ...real,
    read: async (request) => {
      if (isSlow) await new Promise((resolve) => setTimeout(resolve, 1_000));
      return await real.read(request);
    },
  };
  stage = openStage({ agents: [], entries: [programEntry('works', source)], log });
  const started = await stage.start({ program: 'works' });
  const id = started.ok ? started.value.id : '';
  await expect.poll(written, { timeout: 10_000 }).toBeGreaterThan(2);
  const name = leaseOf(id);
  await real.releaseLease({ name, epoch: 1 });
  expect(await real.acquireLease({ name, owner: 'another', ttlMs: 60_000 })).toMatchObject({ kind: 'acquired' });
  isSlow = true;
  const before = await written();
  await new Promise((resolve) => setTimeout(resolve, 500));
  // What it was about to do was on record before.
  expect(await written()).toBeLessThanOrEqual(before + 1);
  isSlow = false;
  await rm(folder, { recursive: true });
});

test('a store that is away for longer than anybody waits costs a program nothing: its run goes on', {
  timeout: 60_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'concerto-away-'));
  const written = async (): Promise<number> => (await readFile(join(folder, 'did.txt'), 'utf8').catch(() => '')).length;
  const source = `fn main() {
    loop {
        std::time::sleep(100);
        std::fs::append_file("${join(folder, 'did.txt')}", "x");
    }
}`;
  let full = false;
  stage = openStage({ agents: [], entries: [programEntry('works', source)], log: fillable(() => full) });
  const started = await stage.start({ program: 'works' });
  const id = started.ok ? started.value.id : '';
  await expect.poll(written, { timeout: 10_000 }).toBeGreaterThan(2);
  full = true;
  await new Promise((resolve) => setTimeout(resolve, 6_500));
  full = false;
  const before = await written();
  await expect.poll(written, { timeout: 30_000 }).toBeGreaterThan(before + 2);
  expect(await stage.sessions.get(id)).toMatchObject({ status: 'running' });
  await rm(folder, { recursive: true });
});
