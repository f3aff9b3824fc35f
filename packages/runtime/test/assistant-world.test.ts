import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type AssistantStage, openAssistantStage } from './assistant-stage.ts';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const functions = ['read_file', 'list_files', 'write_file', 'fetch_url', 'run_command'] as const;
let directory: string;
let stage: AssistantStage;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'concerto-world-'));
  await writeFile(join(directory, 'note.txt'), 'a note');
  await writeFile(join(directory, 'dot.png'), Buffer.from(png, 'base64'));
  await symlink('/etc', join(directory, 'out'));
});
afterEach(() => stage.close());
afterAll(() => rm(directory, { recursive: true, force: true }));

const call = (tool: string, args: object) => ({ tool, arguments: JSON.parse(JSON.stringify(args)) });
/** In the order of the calls, whichever ended first. */
const results = (events: Awaited<ReturnType<AssistantStage['events']>>) =>
  events
    .filter((event) => event.type === 'functionCall' && event.isTurn !== true)
    .map(({ callId }) => events.find((event) => event.type === 'functionResult' && event.callId === callId));
const answering = (response: object, ...files: readonly object[]) => ({
  content: { parts: [{ functionResponse: { response } }, ...files] },
});

test('files of the folder are read and listed without leave, pictures are seen, and nothing outside is reached', async () => {
  const calls = [
    call('read_file', { path: 'note.txt' }),
    call('read_file', { path: 'dot.png' }),
    call('list_files', {}),
    call('read_file', { path: '../../etc/passwd' }),
    call('read_file', { path: 'out/passwd' }),
  ];
  stage = await openAssistantStage([calls, 'Seen.'], { functions, directory });
  const events = await stage.afterTurns(await stage.begin('Look'), 1);
  const outside = answering({ error: expect.stringContaining('is outside of the folder') });
  expect(results(events)).toMatchObject([
    answering({ result: 'a note' }),
    answering({ result: '' }, { inlineData: { mimeType: 'image/png', data: png, title: 'dot.png' } }),
    answering({ result: ['dot.png', 'note.txt', 'out'] }),
    outside,
    outside,
  ]);
});

test('nothing is written through a link to what is not there yet, outside of the folder', async () => {
  const outside = await mkdtemp(join(tmpdir(), 'concerto-outside-'));
  await symlink(join(outside, 'new.txt'), join(directory, 'new.txt'));
  stage = await openAssistantStage([[call('write_file', { path: 'new.txt', content: 'out' })], 'No.'], {
    functions,
    directory,
  });
  const id = await stage.begin('Write');
  await stage.reached(id, 'waitingForApproval');
  await stage.answer(id, true);
  expect(results(await stage.afterTurns(id, 1))).toMatchObject([
    answering({ error: expect.stringContaining('is outside of the folder') }),
  ]);
  expect(await readdir(outside)).toEqual([]);
  await rm(join(directory, 'new.txt'));
  await rm(outside, { recursive: true });
});

test('writing, running and fetching wait for leave, and say what they would do in the words of rules', async () => {
  const server = createServer((_request, response) => void response.end('from the web'));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const script = ['sh', '-c', 'echo out; echo err >&2; exit 3'];
  const steps = [
    [call('write_file', { path: 'deep/er/new.txt', content: 'made' })],
    [call('run_command', { command: script })],
    [call('fetch_url', { url })],
    [call('run_command', { command: ['touch', 'never'] })],
  ];
  stage = await openAssistantStage([...steps, 'Done.'], { functions, directory });
  const id = await stage.begin('Work');
  const asked: unknown[] = [];
  const waiting = async () => (await stage.sessions.requests(id))?.requests ?? [];
  for (const response of [true, true, true, false]) {
    await expect.poll(async () => (await waiting()).length, { timeout: 10_000 }).toBe(1);
    asked.push((await waiting())[0]?.event);
    await stage.answer(id, response);
  }
  const events = await stage.afterTurns(id, 1);
  server.close();
  expect(asked).toMatchObject([
    { scope: { kind: 'edit', paths: ['deep/er/new.txt'] } },
    { scope: { kind: 'execute', command: script } },
    { consentType: 'GET_ANY_WEBPAGE', scope: { kind: 'fetch', url } },
    { scope: { kind: 'execute', command: ['touch', 'never'] } },
  ]);
  expect(results(events)).toMatchObject([
    answering({ written: 4 }),
    answering({ exit_code: 3, output: expect.stringMatching(/out[^]*err|err[^]*out/) }),
    answering({ status: 200, body: 'from the web' }),
    answering({ error: expect.stringContaining('did not allow') }),
  ]);
  expect(await readFile(join(directory, 'deep/er/new.txt'), 'utf8')).toBe('made');
  await expect(readFile(join(directory, 'never'))).rejects.toThrow('ENOENT');
});

test('nobody is asked about a call that cannot be run as it stands', async () => {
  stage = await openAssistantStage([[call('run_command', { command: 'rm', args: ['-rf', 'x'] })], 'Oh.'], {
    functions,
    directory,
  });
  const id = await stage.begin('Tidy');
  const events = await stage.afterTurns(id, 1);
  expect(events.some(({ type }) => type === 'queryConsent')).toBe(false);
  expect(results(events)).toMatchObject([answering({ error: expect.stringContaining('do not fit: command') })]);
});

test('what a command writes is read in whole characters, wherever its pipe cuts them', async () => {
  const written = `a${'é'.repeat(40_000)}`;
  const script = `process.stdout.write('a' + 'é'.repeat(40_000))`;
  const calls = [call('run_command', { command: [process.execPath, '-e', script] })];
  stage = await openAssistantStage([calls, 'Read.'], { functions, directory });
  const id = await stage.begin('Run');
  await stage.until(id, ({ type }) => type === 'queryConsent');
  await stage.answer(id, true);
  const [result] = results(await stage.afterTurns(id, 1));
  expect(result).toMatchObject(answering({ exit_code: 0, output: written }));
});

test('a link that leads to nothing yet is no way out of the folder', async () => {
  const outside = join(tmpdir(), `concerto-outside-${process.pid}`);
  await symlink(outside, join(directory, 'dangling'));
  const calls = [
    call('write_file', { path: 'dangling', content: 'x' }),
    call('write_file', { path: 'dangling/deep/new.txt', content: 'x' }),
  ];
  stage = await openAssistantStage([calls, 'Done.'], { functions, directory });
  const id = await stage.begin('Write');
  for (const left of [2, 1]) {
    await expect.poll(async () => (await stage.sessions.requests(id))?.requests.length, { timeout: 10_000 }).toBe(left);
    await stage.answer(id, true);
  }
  const refused = answering({ error: expect.stringContaining('is outside of the folder') });
  expect(results(await stage.afterTurns(id, 1))).toMatchObject([refused, refused]);
  await expect(readFile(outside)).rejects.toThrow('ENOENT');
});
