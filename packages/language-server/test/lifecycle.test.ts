import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'vitest';
import { Editor, spawnServer } from './editor.ts';

test.concurrent('shutdown and then exit end it with 0', async ({ expect }) => {
  const editor = new Editor();
  const { capabilities, serverInfo } = await editor.initialize();
  expect(serverInfo?.name).toBe('concerto');
  expect(capabilities.positionEncoding).toBe('utf-16');
  expect(await editor.stop()).toBe(0);
  expect(editor.logged).toEqual([]);
});

test.concurrent('exit without shutdown ends it with 1', async ({ expect }) => {
  const editor = await Editor.start();
  const exited = once(editor.process, 'exit');
  await editor.connection.sendNotification('exit');
  expect(await exited).toEqual([1, null]);
});

test.concurrent('it ends when its input is closed', async ({ expect }) => {
  const editor = await Editor.start();
  const exited = once(editor.process, 'exit');
  editor.process.stdin?.end();
  expect(await exited).toEqual([1, null]);
});

test.concurrent('it ends when the editor dies, also when its pipes stay open', async ({ expect }) => {
  const parent = spawn(process.execPath, ['-e', 'process.stdin.resume()']);
  const editor = new Editor();
  await editor.initialize({}, parent.pid ?? null);
  const exited = once(editor.process, 'exit');
  parent.kill('SIGKILL');
  expect(await exited).toEqual([1, null]);
});

test.concurrent('a request it does not know is refused, and the next one answered', async ({ expect }) => {
  const editor = await Editor.start();
  await expect(editor.connection.sendRequest('textDocument/unheardOf', {})).rejects.toThrow(/unheardOf/);
  await editor.open('/nowhere/a.conc', 'fn main() {}');
  expect(await editor.symbols('/nowhere/a.conc')).toHaveLength(1);
  await editor.stop();
});

test.concurrent('before initialize nothing else is answered', async ({ expect }) => {
  const editor = new Editor();
  await expect(editor.connection.sendRequest('textDocument/hover', {})).rejects.toMatchObject({ code: -32002 });
  await editor.initialize();
  expect(await editor.stop()).toBe(0);
});

test.concurrent('after shutdown nothing else is answered', async ({ expect }) => {
  const editor = await Editor.start();
  await editor.open('/nowhere/a.conc', 'fn main() {}');
  await editor.connection.sendRequest('shutdown');
  await expect(editor.symbols('/nowhere/a.conc')).rejects.toMatchObject({ code: -32600 });
  const exited = once(editor.process, 'exit');
  editor.process.stdin?.end();
  expect(await exited).toEqual([0, null]);
});

test.concurrent('without --stdio it says how it is called, and exits with 2', async ({ expect }) => {
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

async function streamText(stream: ReturnType<typeof spawnServer>['stdout']): Promise<string> {
  return stream === null ? '' : await text(stream);
}
