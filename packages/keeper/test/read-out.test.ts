import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { GroupProcess } from '../src/group-process.ts';
import { readOut } from '../src/read-out.ts';

const silentMs = 20;

function holdUp(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('what a process wrote is read when somebody listens, though it has exited, and however long we were held up', async () => {
  const script = 'process.stdout.write("last words"); process.stderr.write("why")';
  const launch = { command: process.execPath, args: ['-e', script], cwd: process.cwd(), env: {}, marker: 'read-out' };
  const ended = await GroupProcess.start(launch);
  await ended.exited;
  const heard = { stdout: '', stderr: '' };
  ended.stdout.on('data', (chunk: Buffer) => {
    heard.stdout += String(chunk);
  });
  ended.stderr.on('data', (chunk: Buffer) => {
    heard.stderr += String(chunk);
  });
  const read = Promise.all([readOut(ended.stdout, silentMs), readOut(ended.stderr, silentMs)]);
  holdUp(5 * silentMs);
  await read;
  expect(heard).toEqual({ stdout: 'last words', stderr: 'why' });
});

test('a pipe that somebody else holds open is given up when it is silent, or talks on and on', async () => {
  const silent = new PassThrough().on('data', () => undefined);
  await readOut(silent, silentMs);
  expect(silent.destroyed).toBe(true);
  const talking = new PassThrough().on('data', () => undefined);
  const timer = setInterval(() => talking.write('x'), silentMs / 4);
  await readOut(talking, silentMs);
  clearInterval(timer);
  expect(talking.destroyed).toBe(true);
});

test('a reader that is slow is waited for', async () => {
  const pipe = new PassThrough();
  let heard = '';
  pipe.on('data', (chunk: Buffer) => {
    heard += String(chunk);
  });
  pipe.pause();
  pipe.end('all of it');
  const read = readOut(pipe, silentMs);
  setTimeout(() => pipe.resume(), 5 * silentMs);
  await read;
  expect(heard).toBe('all of it');
});
