import { spawn } from 'node:child_process';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { concertoClient } from '@concerto/client';
import { afterAll, expect, test } from 'vitest';
import { serveAcp } from '../../apps/cli/src/acp/acp-agent.ts';
import { Dice } from '../fuzz/mutate.ts';
import { concertoCommand } from '../support/concerto-command.ts';
import { startRoomyPuppetServer, steps } from '../support/puppets.ts';

const puppets = await startRoomyPuppetServer();
const { api } = puppets;
afterAll(() => puppets.close());

const kills = 50;
/** Nothing more comes for so long: then it is cut there. */
const quietMs = 100;
const patienceMs = 30_000;
/** What the agent says last. */
const last = `0 ${'x'.repeat(41)}`;

/** A turn that says a lot, with tools in it, and is not over before the gate opens. */
async function startTalking() {
  const gate = puppets.gate();
  const call = (id: string) => [
    { say: { type: 'tool_call', id, name: 'Read', args: { path: `${id}.txt` }, kind: 'read' } },
    { say: { type: 'tool_result', id, content: 'ünïcödé 😀' } },
  ];
  const prompt = steps(
    { say: { type: 'thought', text: 'Let me see.' } },
    { many: 100, bytes: 20, every: 1 },
    ...call('t1'),
    { many: 200, bytes: 20, every: 1 },
    ...call('t2'),
    { many: 1, bytes: 41 },
    { until: gate.path },
    { say: { type: 'result' } },
  );
  const { id } = await api.start({ agent: 'able', prompt });
  return { id, finish: async () => await gate.open() };
}

/** Of what comes so many bytes, or less where nothing more comes for now: the connection is cut in the middle of whatever. */
const bytesOf = (bytes: number) => (read: Buffer) => read.length >= bytes;

async function readCut(
  stream: ReadableStream<Uint8Array>,
  isEnough: (read: Buffer) => boolean,
  waitMs: number,
): Promise<Buffer> {
  const reader = stream.getReader();
  let read = Buffer.alloc(0);
  while (!isEnough(read)) {
    const stop = new AbortController();
    const quiet = sleep(read.length === 0 ? patienceMs : waitMs, undefined, { signal: stop.signal });
    const next = await Promise.race([reader.read(), quiet.catch(() => undefined)]);
    stop.abort();
    if (next?.value === undefined) break;
    read = Buffer.concat([read, next.value]);
  }
  await reader.cancel();
  return read;
}

/** Only whole frames count; a client that was cut off has nothing of the last one. */
function framesIn(text: string): readonly string[] {
  const frames = text.split('\n\n').slice(0, -1);
  return frames.filter((frame) => !frame.startsWith(': ') && !frame.includes('"transient":true'));
}

/** What a reader has of a wire: asked for on from there, and after what came. */
type Wire = {
  readonly ask: (id: string, history: readonly string[]) => Promise<Response>;
  readonly after: (history: readonly string[], text: string) => readonly string[];
};

const get = async (path: string): Promise<Response> =>
  await fetch(api.url + path, { headers: { authorization: `Bearer ${api.token}` } });

/** Told from the beginning each time: it has to be the same again. */
function again(history: readonly string[], told: readonly string[]): readonly string[] {
  const both = Math.min(history.length, told.length);
  expect(told.slice(0, both)).toEqual(history.slice(0, both));
  return told.length > history.length ? told : history;
}

const offsetIn = (frame: string | undefined): string => /"streamNextOffset":"(\d+)"/.exec(frame ?? '')?.[1] ?? '-1';

const wires: Readonly<Record<string, Wire>> = {
  'the AI SDK': {
    ask: async (id) => await get(`/api/chat/${id}/stream`),
    after: (history, text) => again(history, framesIn(text)),
  },
  v1beta1: {
    ask: async (id, history) => await get(`/v1beta1/sessions/${id}?alt=sse&after=${history.length - 1}`),
    after: (history, text) => [...history, ...framesIn(text).filter((frame) => frame.startsWith('id: '))],
  },
  'Durable Streams': {
    ask: async (id, history) => await get(`/api/streams/sessions/${id}?live=sse&offset=${offsetIn(history.at(-1))}`),
    // Events count when the place after them was told.
    after: (history, text) => {
      const frames = framesIn(text);
      return [...history, ...frames.slice(0, frames.findLastIndex((frame) => frame.startsWith('event: control')) + 1)];
    },
  },
  'AG-UI': {
    ask: async (id) =>
      await fetch(`${api.url}/api/agui/${id}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ threadId: id, runId: 'r', messages: [], tools: [], context: [] }),
      }),
    after: (history, text) => [wordsOfRun(history[0] ?? '', framesIn(text))],
  },
};

/** What the agent said, from the list of a run's beginning and what came after: each list goes on where others ended. */
function wordsOfRun(before: string, frames: readonly string[]): string {
  let words: string | undefined;
  for (const frame of frames) {
    const event = JSON.parse(frame.slice('data: '.length));
    if (event.type === 'MESSAGES_SNAPSHOT') {
      words = event.messages
        .flatMap(({ role, content }: any) => (role === 'assistant' ? [content ?? ''] : []))
        .join('');
    }
    if (event.type === 'TEXT_MESSAGE_CONTENT') words += event.delta;
  }
  if (words === undefined) return before;
  expect(words.startsWith(before)).toBe(true);
  return words;
}

/** As one text, the same however it was cut, up to the last words. */
function wholeOf(history: readonly string[]): string {
  const isStream = history.some((frame) => frame.startsWith('event: data'));
  const items = history.flatMap((frame) =>
    frame.startsWith('event: data') ? [frame.slice(dataStart.length, -1)] : [],
  );
  return (isStream ? items.join(',') : history.join('\n')).split(last, 1).join('');
}
const dataStart = 'event: data\ndata:[';

test.each(Object.entries(wires))(
  `${kills} cuts anywhere leave a reader of %s with the same bytes`,
  { timeout: 120_000 },
  async (name, { ask, after }) => {
    const { id, finish } = await startTalking();
    const dice = new Dice(name.length);
    let longest = 2_000;
    const read = async (history: readonly string[], bytes: number): Promise<readonly string[]> => {
      const { body } = await ask(id, history);
      const text = body === null ? Buffer.alloc(0) : await readCut(body, bytesOf(bytes), quietMs);
      longest = Math.max(longest, text.length);
      return after(history, text.subarray(0, bytes).toString());
    };
    const readAll = async (history: readonly string[]): Promise<readonly string[]> => {
      const has = (frames: readonly string[]): boolean => frames.some((frame) => frame.includes(last));
      if (has(history)) return history;
      const { body } = await ask(id, history);
      const isAll = (text: Buffer): boolean => has(after(history, text.toString()));
      return body === null ? history : after(history, (await readCut(body, isAll, patienceMs)).toString());
    };
    await api.until(id, ({ type }) => type === 'thought');
    let history: readonly string[] = [];
    for (let kill = 0; kill < kills; kill++) history = await read(history, 1 + dice.below(longest * 1.1));
    await api.until(id, isLast);
    const cut = wholeOf(await readAll(history));
    expect(cut).toBe(wholeOf(await readAll([])));
    expect(cut).toContain('199 xxxx');
    await finish();
  },
);

const isLast = (event: any): boolean => event.type === 'content' && event.content.parts[0].text === last;

type Pipe = { readonly input: Writable; readonly output: Readable; kill(): void };

/** In this process: a cut is what the agent sees of a killed editor. */
function acpHere(): Pipe {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const client = concertoClient({ url: api.url, token: api.token });
  void serveAcp({ client, target: { agent: 'able' }, version: '0', input, output });
  return { input, output, kill: () => void input.end() };
}

function acpProcess(): Pipe {
  const args = [...concertoCommand, 'acp', '--agent', 'able', '--url', api.url, '--token', api.token];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => undefined);
  return { input: child.stdin, output: child.stdout, kill: () => void child.kill('SIGKILL') };
}

test(`${kills} kills of an ACP agent, some of them of its process, leave the editor with the same bytes`, {
  timeout: 180_000,
}, async () => {
  const { id, finish } = await startTalking();
  const dice = new Dice(7);
  const load = async (
    pipe: Pipe,
    isEnough: (read: Buffer) => boolean,
    waitMs = patienceMs,
  ): Promise<readonly string[]> => {
    const call = (number: number, method: string, params: object): void => {
      pipe.input.write(`${JSON.stringify({ jsonrpc: '2.0', id: number, method, params })}\n`);
    };
    call(1, 'initialize', { protocolVersion: 1, clientCapabilities: {} });
    call(2, 'session/load', { sessionId: id, cwd: puppets.folder, mcpServers: [] });
    const stream = Readable.toWeb(pipe.output) as ReadableStream<Uint8Array>;
    const text = await readCut(stream, isEnough, waitMs);
    pipe.kill();
    return updatesIn(text);
  };
  await api.until(id, ({ type }) => type === 'thought');
  let history: readonly string[] = [];
  for (let kill = 0; kill < kills; kill++) {
    const bytes = 1 + dice.below(2_000 + history.join('').length * 1.1);
    const told = await load(kill % 20 === 0 ? acpProcess() : acpHere(), bytesOf(bytes), quietMs);
    history = again(history, told);
  }
  await api.until(id, isLast);
  const isAll = (text: Buffer): boolean => updatesIn(text).some((line) => line.includes(last));
  history = again(history, await load(acpHere(), isAll));
  expect(wholeOf(history)).toBe(wholeOf(await load(acpProcess(), isAll)));
  expect(wholeOf(history)).toContain('199 xxxx');
  await finish();
});

/** Only whole lines count. */
function updatesIn(text: Buffer): readonly string[] {
  const lines = text.toString().split('\n').slice(0, -1);
  return lines.filter((line) => line.includes('"session/update"'));
}
