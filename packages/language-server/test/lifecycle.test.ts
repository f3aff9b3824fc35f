import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { Editor, spawnServer } from './editor.ts';

test('shutdown and then exit end it with 0', async () => {
  const editor = new Editor();
  const { capabilities, serverInfo } = await editor.initialize();
  expect(serverInfo?.name).toBe('concerto');
  expect(capabilities.positionEncoding).toBe('utf-16');
  expect(await editor.stop()).toBe(0);
  expect(editor.logged).toEqual([]);
});

test('exit without shutdown ends it with 1', async () => {
  const editor = await Editor.start();
  const exited = once(editor.process, 'exit');
  await editor.connection.sendNotification('exit');
  expect(await exited).toEqual([1, null]);
});

test('it ends when its input is closed', async () => {
  const editor = await Editor.start();
  const exited = once(editor.process, 'exit');
  editor.process.stdin?.end();
  expect(await exited).toEqual([1, null]);
});

test('it ends when the editor dies, also when its pipes stay open', async () => {
  const parent = spawn(process.execPath, ['-e', 'process.stdin.resume()']);
  const editor = new Editor();
  await editor.initialize({}, parent.pid ?? null);
  const exited = once(editor.process, 'exit');
  parent.kill('SIGKILL');
  expect(await exited).toEqual([1, null]);
});

test('a request it does not know is refused, and the next one answered', async () => {
  const editor = await Editor.start();
  await expect(editor.connection.sendRequest('textDocument/unheardOf', {})).rejects.toThrow(/unheardOf/);
  await editor.open('/nowhere/a.conc', 'fn main() {}');
  expect(await editor.symbols('/nowhere/a.conc')).toHaveLength(1);
  await editor.stop();
});

test('before initialize nothing else is answered', async () => {
  const editor = new Editor();
  await expect(editor.connection.sendRequest('textDocument/hover', {})).rejects.toThrow();
  await editor.initialize();
  expect(await editor.stop()).toBe(0);
});

test('without --stdio it says how it is called, and exits with 2', async () => {
  const child = spawnServer(['lsp']);
  const [exited, out, err] = await Promise.all([
    once(child, 'exit'),
    streamText(child.stdout),
    streamText(child.stderr),
  ]);
  expect(exited).toEqual([2, null]);
  expect(out).toBe('');
  expect(err).toContain('--stdio');
});

async function streamText(stream: NodeJS.ReadableStream | null): Promise<string> {
  return stream === null ? '' : await text(stream);
}
