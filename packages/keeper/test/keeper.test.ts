import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HeldAgent } from '../src/held-agent.ts';
import { describeProcess, KeeperClient, processesMarked, whyNoKeeper } from '../src/index.ts';
import { makeFolder, readNote, writeNote } from '../src/keeper-folder.ts';
import { Heard, keeperProgram, newClient, newFolder, Owner } from './held.ts';

/** On a machine that has other things to do. */
const aWhile = { timeout: 15_000 };

const echo = `
  const lines = require('node:readline').createInterface({ input: process.stdin });
  lines.on('line', (line) => process.stdout.write('heard ' + line + '\\n'));
  lines.on('close', () => process.exit(7));
  process.stdout.write('ready\\n');
`;

async function gone(pid: number): Promise<void> {
  const deadline = Date.now() + 15_000;
  while ((await describeProcess(pid)) !== undefined) {
    if (Date.now() > deadline) throw new Error(`${pid} still runs`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('an agent outlives its owner; the next is told all that it said and its driver did, and goes on', async () => {
  const client = newClient();
  const first = await Owner.open(client);
  first.start('a', echo);
  const { identity } = await first.head('started');
  first.write(1, 0, 'one');
  first.line?.send({ type: 'note', step: 2 }, Buffer.from('a prompt'));
  first.write(2, 0, 'two');
  await first.until(({ out }) => out.includes('heard two'));
  first.line?.close();
  const second = await Owner.open(client);
  second.line?.send({ type: 'attach', agent: 'a', epoch: 2 });
  const attached = await second.head('attached');
  expect(attached).toMatchObject({ identity, written: { step: 2, index: 0 }, notes: 1 });
  expect(second.about).toBe('about a');
  await second.until(({ out }) => out === 'ready\nheard one\nheard two\n');
  expect(second.notes).toEqual(['2 a prompt']);
  second.write(3, 0, 'three');
  await second.until(({ out }) => out.endsWith('heard three\n'));
  second.line?.send({ type: 'end-own', atWork: false });
  expect(await second.head('exit')).toMatchObject({ code: 7, signal: null });
  second.line?.send({ type: 'forget' });
  await second.until(({ isClosed }) => isClosed);
  expect(await client.list()).toEqual([]);
  expect(readdirSync(client.folder).filter((name) => name.endsWith('.said'))).toEqual([]);
});

test('a line that was written is not written again, whoever repeats it', async () => {
  const client = newClient();
  const first = await Owner.open(client);
  first.start('a', echo);
  await first.head('started');
  first.write(1, 0, 'one');
  first.write(1, 1, 'two');
  await first.until(({ out }) => out.includes('two'));
  const second = await Owner.open(client);
  second.line?.send({ type: 'attach', agent: 'a', epoch: 2 });
  for (const [step, index, text] of [
    [1, 0, 'one'],
    [1, 1, 'two'],
    [1, 2, 'three'],
  ] as const) {
    second.write(step, index, text);
  }
  await second.until(({ out }) => out.includes('three'));
  expect(second.out.match(/one|two|three/g)).toEqual(['one', 'two', 'three']);
  expect(second.heads.filter(({ type }) => type === 'taken')).toHaveLength(3);
});

test('an older owner is refused, and what it still says does not reach the agent', async () => {
  const client = newClient();
  const first = await Owner.open(client);
  first.start('a', echo, { epoch: 5 });
  await first.until(({ out }) => out.includes('ready'));
  const newer = await Owner.open(client);
  newer.line?.send({ type: 'attach', agent: 'a', epoch: 6 });
  await newer.head('attached');
  first.write(9, 0, 'from the grave');
  expect(await first.head('refused')).toMatchObject({ code: 'older-epoch' });
  await first.until(({ isClosed }) => isClosed);
  const older = await Owner.open(client);
  older.line?.send({ type: 'attach', agent: 'a', epoch: 5 });
  expect(await older.head('refused')).toMatchObject({ code: 'older-epoch' });
  await expect(client.end('a', { epoch: 5 })).rejects.toMatchObject({ code: 'older-epoch' });
  newer.write(10, 0, 'alive');
  await newer.until(({ out }) => out.includes('heard alive'));
  expect(newer.out).not.toContain('grave');
});

test('an exit that nobody saw is told to whoever comes, after all that was said', async () => {
  const client = newClient();
  const first = await Owner.open(client);
  first.start('a', `setTimeout(() => { console.error('why'); console.log('last words'); process.exit(3); }, 300)`);
  await first.head('started');
  first.line?.close();
  await first.until(({ isClosed }) => isClosed);
  await new Promise((resolve) => setTimeout(resolve, 600));
  const next = await Owner.open(client);
  next.line?.send({ type: 'attach', agent: 'a', epoch: 2 });
  expect(await next.head('exit')).toMatchObject({ code: 3 });
  expect(next.out).toBe('last words\n');
  expect(next.stderr).toBe('why\n');
});

test('one that nobody owns for its time is ended with all that it started', async () => {
  const client = newClient();
  const owner = await Owner.open(client);
  const script = `
    process.on('SIGTERM', () => {});
    const child = require('node:child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
    console.log(child.pid); setInterval(() => {}, 1000);`;
  owner.start('a', script, { keepMs: 300 });
  const { identity } = await owner.head('started');
  const child = Number(await owner.until(({ out }) => /^\d+\n/.test(out) && out.trim()));
  owner.line?.close();
  await gone(identity.pid);
  await gone(child);
  await expect.poll(() => client.list(), aWhile).toMatchObject([{ running: false, owned: false }]);
});

/** More in one go than is kept of what nobody confirms; then it waits. */
const talksTooMuch = `
  const line = 'x'.repeat(1023) + '\\n';
  const more = () => { while (process.stdout.write(line)) {} process.stdout.once('drain', more); };
  more();`;

test('one that waits to be heard, and that nobody ever hears, is ended and forgotten', async () => {
  const folder = newFolder();
  const client = newClient(folder);
  const owner = await Owner.open(client);
  owner.start('a', talksTooMuch);
  const { identity } = await owner.head('started');
  await owner.until(({ out }) => out.length >= 64 * 1024 * 1024);
  owner.line?.close();
  await expect.poll(() => client.list(), aWhile).toMatchObject([{ owned: false }]);
  expect(await client.end('a')).toBe(true);
  await gone(identity.pid);
  expect(await client.list()).toEqual([]);
  expect(readdirSync(folder).filter((name) => name.endsWith('.said'))).toEqual([]);
});

test('a keeper that is dismissed leaves nothing of one that waits to be heard', async () => {
  const folder = newFolder();
  const client = newClient(folder);
  const owner = await Owner.open(client);
  owner.start('a', talksTooMuch);
  await owner.until(({ out }) => out.length >= 64 * 1024 * 1024);
  owner.line?.close();
  await client.dismiss();
  expect(existsSync(folder)).toBe(false);
});

test.runIf(process.platform === 'linux')('a full disk stops the agent, which goes on when there is room', async () => {
  const client = newClient();
  const owner = await Owner.open(client);
  const script = `
    require('node:readline').createInterface({ input: process.stdin }).on('line', async () => {
      for (let n = 0; n < 2048; n++) {
        if (!process.stdout.write(String(n).padStart(8, '0') + 'x'.repeat(1015) + '\\n'))
          await new Promise((resolve) => process.stdout.once('drain', resolve));
      }
      process.stdout.write('', () => process.exit(0));
    });
    console.log('ready');`;
  owner.start('a', script);
  await owner.until(({ out }) => out === 'ready\n');
  const room = (bytes: string): unknown => execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
  const pid = await client.pid();
  room('100000');
  owner.write(1, 1, 'talk');
  const stalled = await owner.until(({ out }) => (out.length >= 100_000 ? out.length : undefined));
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(owner.out.length - stalled).toBeLessThan(512 * 1024);
  expect(await client.list()).toMatchObject([{ running: true }]);
  // Whoever comes now is told all that the one before was.
  const next = await Owner.open(client);
  next.line?.send({ type: 'attach', agent: 'a', epoch: 2 });
  await next.until(({ out }) => out.length === owner.out.length);
  expect(next.out).toBe(owner.out);
  room('unlimited');
  expect(await next.head('exit')).toMatchObject({ code: 0 });
  const lines = Array.from({ length: 2048 }, (_, n) => String(n).padStart(8, '0') + 'x'.repeat(1015));
  expect(next.out).toBe(`ready\n${lines.join('\n')}\n`);
});

test('why it ended one is told to its owner', async () => {
  const client = newClient();
  const ends = await Owner.open(client);
  ends.start('a', 'setInterval(() => {}, 1000)');
  await ends.head('started');
  expect(await client.end('a')).toBe(true);
  expect(await ends.head('exit')).toMatchObject({ signal: 'SIGTERM', reason: 'asked' });
  const mute = await Owner.open(client);
  mute.start('b', `require('node:fs').closeSync(1); setInterval(() => {}, 1000)`);
  expect(await mute.head('exit')).toMatchObject({ reason: 'mute' });
  const own = await Owner.open(client);
  own.start('c', 'setInterval(() => {}, 1000)');
  await own.head('started');
  own.line?.send({ type: 'end-own', atWork: true });
  expect(await own.head('exit')).toEqual({ type: 'exit', code: null, signal: 'SIGTERM' });
});

test('what nobody confirms stops the agent, and goes on where it stood when somebody does', async () => {
  const client = newClient();
  const owner = await Owner.open(client);
  // 96 MiB in lines that are numbered.
  const script = `
    const line = (n) => String(n).padStart(8, '0') + 'x'.repeat(1015) + '\\n';
    let n = 0; const total = 96 * 1024;
    const more = () => { while (n < total) { if (!process.stdout.write(line(n++))) return process.stdout.once('drain', more); } };
    more();`;
  owner.start('a', script);
  await owner.head('started');
  const stalled = await owner.until(({ out }) => (out.length >= 64 * 1024 * 1024 ? out.length : undefined));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(owner.out.length - stalled).toBeLessThan(2 * 1024 * 1024);
  owner.line?.send({ type: 'ack', bytes: owner.out.length });
  await owner.until(({ out }) => out.length === 96 * 1024 * 1024);
  expect(owner.out.slice(-1024).startsWith(String(96 * 1024 - 1).padStart(8, '0'))).toBe(true);
});

test('a signal reaches the whole group; what the system refuses is told', async () => {
  const client = newClient();
  const owner = await Owner.open(client);
  owner.start('a', `setInterval(() => {}, 1000); console.log('up')`);
  await owner.until(({ out }) => out.includes('up'));
  owner.line?.send({ type: 'signal', signal: 'SIGKILL' });
  expect(await owner.head('exit')).toMatchObject({ signal: 'SIGKILL' });
  const other = await Owner.open(client);
  const launch = { command: '/no/such/program', args: [], cwd: '/', env: {}, marker: 'm' };
  other.line?.send({ type: 'start', agent: 'b', epoch: 1, launch, stepMs: 1, keepMs: 1 });
  expect(await other.head('refused')).toMatchObject({ code: 'spawn', message: expect.stringContaining('ENOENT') });
  expect((await client.list()).map(({ agent }) => agent)).toEqual(['a']);
});

test('one name has one living agent', async () => {
  const client = newClient();
  const owner = await Owner.open(client);
  owner.start('a', echo);
  await owner.head('started');
  const other = await Owner.open(client);
  other.start('a', echo, { epoch: 2 });
  expect(await other.head('refused')).toMatchObject({ code: 'taken' });
});

test('whoever was told that there is none is not given one by an owner of before, whose start was under way', async () => {
  const client = newClient();
  const [older, newer] = [await Owner.open(client), await Owner.open(client)];
  newer.line?.send({ type: 'attach', agent: 'late', epoch: 6 });
  expect(await newer.head('refused')).toMatchObject({ code: 'unknown' });
  older.start('late', echo, { epoch: 5 });
  expect(await older.head('refused')).toMatchObject({ code: 'older-epoch' });
  newer.start('late', echo, { epoch: 6 });
  await newer.head('started');
  for (let n = 0; n < 10; n++) {
    const [before, after] = [await Owner.open(client), await Owner.open(client)];
    before.start(`at once ${n}`, echo, { epoch: 5 });
    after.line?.send({ type: 'attach', agent: `at once ${n}`, epoch: 6 });
    const [told] = await after.until(({ heads }) => heads.length > 0 && heads);
    // Either it has it, or nobody does.
    if (told?.type === 'attached') continue;
    expect(await before.head('refused')).toMatchObject({ code: 'older-epoch' });
    await expect.poll(async () => (await client.list()).map(({ agent }) => agent)).not.toContain(`at once ${n}`);
  }
});

test('an agent that could not be held after all is not left running', async () => {
  const marker = `marker-${Math.random()}`;
  const launch = { command: 'sleep', args: ['600'], cwd: tmpdir(), env: { PATH: process.env.PATH ?? '' }, marker };
  const journal = join(newFolder(), 'no-such-folder', 'its.said');
  const about = Buffer.alloc(0);
  const start = HeldAgent.start({
    agent: 'a',
    epoch: 1,
    launch,
    stepMs: 200,
    keepMs: 1_000,
    about,
    journal,
    gone: () => {},
  });
  await expect(start).rejects.toMatchObject({ code: 'ENOENT' });
  expect(await processesMarked(marker)).toEqual([]);
});

test('of several that start a keeper at once one stays', async () => {
  const folder = newFolder();
  const clients = Array.from({ length: 4 }, () => new KeeperClient({ folder, program: keeperProgram }));
  const owners = await Promise.all(clients.map((client) => Owner.open(client)));
  expect(owners).toHaveLength(4);
  expect(new Set(await Promise.all(clients.map((client) => client.pid()))).size).toBe(1);
  owners[0]?.start('a', echo);
  await owners[0]?.head('started');
  for (const client of clients) expect(await client.list()).toMatchObject([{ agent: 'a', running: true, owned: true }]);
});

test('only its user can reach it, and only with its secret', async () => {
  const client = newClient();
  await Owner.open(client);
  const note = readNote(client.folder);
  if (note === undefined) throw new Error('no note');
  expect(statSync(client.folder).mode & 0o777).toBe(0o700);
  expect(statSync(note.socket).mode & 0o777).toBe(0o600);
  expect(statSync(join(client.folder, 'keeper.json')).mode & 0o777).toBe(0o600);
  const stranger = new Heard(connect(note.socket));
  stranger.send({ type: 'hello', version: 1, secret: 'x'.repeat(note.secret.length) });
  await expect.poll(() => stranger.isClosed, aWhile).toBe(true);
  expect(stranger.said).toContain('"code":"secret"');
  const babbler = connect(note.socket);
  babbler.write('GET / HTTP/1.1\r\n\r\n');
  await new Promise<void>((resolve) => babbler.once('close', () => resolve()));
  expect(await client.list()).toEqual([]);
});

test('an owner of before reads and writes heads in JSON only, and so does whoever meets a keeper of before', async () => {
  const client = newClient();
  await Owner.open(client);
  const note = readNote(client.folder);
  if (note === undefined) throw new Error('no note');
  const older = new Heard(connect(note.socket));
  older.send({ type: 'hello', version: 1, secret: note.secret });
  const launch = { command: process.execPath, args: ['-e', echo], cwd: '/', env: {}, marker: 'older' };
  older.send({ type: 'start', agent: 'a', epoch: 1, launch, stepMs: 200, keepMs: 60_000 });
  await expect.poll(() => older.said, aWhile).toContain('{"type":"out"}ready');
  older.send({ type: 'line', step: 1, index: 0 }, 'one\n');
  await expect.poll(() => older.said, aWhile).toContain('{"type":"out"}heard one');
  await expect.poll(() => older.said, aWhile).toContain('{"type":"taken","step":1,"index":0}');

  const folder = newFolder();
  const lines: Heard[] = [];
  const olderKeeper = createServer((socket) => {
    const line = new Heard(socket);
    lines.push(line);
    line.send({ type: 'welcome', version: 1, pid: process.pid });
  });
  onTestFinished(() => void olderKeeper.close());
  makeFolder(folder);
  const socket = join(folder, 'older.sock');
  await new Promise<void>((resolve) => olderKeeper.listen(socket, resolve));
  const { startTime = '' } = (await describeProcess(process.pid)) ?? {};
  writeNote(folder, { pid: process.pid, startTime, version: 1, socket, secret: 'known' });
  const owner = await Owner.open(newClient(folder));
  owner.write(3, 1, 'two');
  await expect.poll(() => lines[0]?.said, aWhile).toContain('{"type":"line","step":3,"index":1}two\n');
});

test('a keeper whose folder is removed ends its agents and itself', async () => {
  const client = newClient();
  const owner = await Owner.open(client);
  owner.start('a', echo);
  const { identity } = await owner.head('started');
  const pid = await client.pid();
  rmSync(client.folder, { recursive: true, force: true });
  await gone(identity.pid);
  await gone(pid ?? 0);
  expect(existsSync(client.folder)).toBe(false);
});

const remove = 'fs.rmSync(process.argv.at(-1), { recursive: true, force: true });';

/** Node's arguments that remove the folder, which is its last word, as soon as this was called. */
function removedAfter(call: string): readonly string[] {
  return preloaded(`const before = fs.${call}; fs.${call} = (...args) => { before(...args); ${remove} };`);
}

function preloaded(code: string): readonly string[] {
  const head = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';`;
  return ['--import', `data:text/javascript,${encodeURIComponent(`${head} ${code} syncBuiltinESMExports();`)}`];
}

test.each([
  { when: 'before its first step', before: preloaded(remove) },
  { when: 'when it has its lock', before: removedAfter('linkSync') },
  { when: 'when it has its socket', before: removedAfter('chmodSync') },
])('a folder that is removed while its keeper starts, $when, is not made again', async ({ before }) => {
  const folder = newFolder();
  const client = new KeeperClient({ folder, program: [...before, ...keeperProgram] });
  await expect(client.open({ frame: () => {}, closed: () => {} })).rejects.toMatchObject({ code: 'unavailable' });
  expect(existsSync(folder)).toBe(false);
});

test('one that is dismissed ends what it holds and leaves nothing; whoever comes meanwhile gets the next', async () => {
  const client = newClient();
  const owner = await Owner.open(client);
  owner.start('a', echo);
  const { identity } = await owner.head('started');
  const pid = (await client.pid()) ?? 0;
  await client.dismiss();
  for (const one of [identity.pid, pid]) expect(await describeProcess(one)).toBeUndefined();
  expect(existsSync(client.folder)).toBe(false);
  await client.dismiss();
  for (let round = 0; round < 5; round++) {
    await Owner.open(client);
    const [next] = await Promise.all([Owner.open(newClient(client.folder)).catch(() => undefined), client.dismiss()]);
    next?.line?.close();
    const after = await Owner.open(newClient(client.folder));
    after.line?.close();
  }
});

test('no keeper runs on Windows, and none where its folder is none', () => {
  const folder = newFolder();
  expect(whyNoKeeper(folder)).toBeUndefined();
  expect(whyNoKeeper(folder, 'win32')).toContain('Windows');
  writeFileSync(folder, 'in the way');
  expect(whyNoKeeper(folder)).toContain('is no folder');
});

test('a keeper that was killed leaves no trace in the way of the next', async () => {
  const client = newClient();
  const owner = await Owner.open(client);
  owner.start('a', echo);
  const { identity } = await owner.head('started');
  process.kill((await client.pid()) ?? 0, 'SIGKILL');
  await owner.until(({ isClosed }) => isClosed);
  // Its stdin has ended.
  await gone(identity.pid);
  const next = await Owner.open(client);
  next.start('a', echo);
  expect(await next.until(({ out }) => out.includes('ready') && out)).toBe('ready\n');
});

test.skipIf(process.getuid?.() === 0)('a folder that cannot be written to has none, and says so', async () => {
  const folder = newFolder();
  const parent = join(folder, '..');
  chmodSync(parent, 0o500);
  await expect(newClient(folder).open({ frame: () => {}, closed: () => {} })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('cannot be written to'),
  });
});
