import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { startAgent } from '@concerto/agents';
import { buildProgram, readManifest } from '@concerto/language';
import { LineSplitter, parseAgentLine } from '@concerto/protocol';
import { type ProgramWorld, runProgram } from '@concerto/runtime/program';
import { display } from '@concerto/vm';
import { compare, type Row } from './row.ts';

export const name = 'listen: what a program costs that supervises an agent';

const trips = 2_000;
const messages = 100_000;
/** As a pipe is read. */
const chunkBytes = 65_536;

/**
 * `ask N` asks so often, one after another, and tells how long an answer took; `progress N` and `partial N` say so much
 * without waiting.
 */
const agent = `
import { createInterface } from 'node:readline';
const question = '{"type":"question","id":"q","question":"go on?"}\\n';
let left = 0;
let asked = 0;
let took = [];
createInterface({ input: process.stdin }).on('line', (text) => {
  const now = performance.now();
  const message = JSON.parse(text);
  if (message.type === 'response') took.push(now - asked);
  if (message.type === 'prompt') {
    const [what, count] = message.text.split(' ');
    took = [];
    if (what === 'ask') left = Number(count);
    else return flood(what, Number(count));
  }
  if (left-- <= 0) return process.stdout.write(JSON.stringify({ type: 'result', text: 'done', median: median() }) + '\\n');
  asked = performance.now();
  process.stdout.write(question);
});

function median() {
  return 1000 * (took.sort((a, b) => a - b)[took.length >> 1] ?? 0);
}

async function flood(type, count) {
  const lines = [];
  for (let n = 0; n < count; n++) lines.push(line(type, n));
  for (let n = 0; n < count; n += 500) {
    const text = lines.slice(n, n + 500).join('');
    if (!process.stdout.write(text)) await new Promise((go) => process.stdout.once('drain', go));
  }
  process.stdout.write('{"type":"result","text":"done"}\\n');
}

function line(type, n) {
  const fields = type === 'partial'
    ? { text: 'The change ' + n + ' touches the login and two of its callers, ' + 'x'.repeat(200) }
    : { message: 'step ' + n + ': reading packages/session/src/decide.ts', percent: n % 100 };
  return JSON.stringify({ type, ...fields }) + '\\n';
}`;

const programs = {
  question: supervise('ask', trips, '"question" => |q| { answered += 1; "yes" },'),
  beside: supervise('ask', trips, '"question" (parallel: true) => |q| { answered += 1; "yes" },'),
  progress: supervise('progress', messages, '"progress" => |p| { answered += p.percent; },'),
  partial: supervise('partial', messages, '"partial" => |p| { answered += 1; },'),
};

function supervise(what: string, count: number, handler: string): string {
  return `
agent Worker { connector: worker, timeout: 600 }

fn main() {
    Worker.execute("ask 0");
    let mut answered = 0;
    emit("begin", nil);
    let result = listen Worker.execute("${what} ${count}") { ${handler} };
    match result {
        Ok(done) => emit("end", done.median ?? answered),
        Err(e) => panic(e.message),
    }
}
`;
}

export async function run(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-bench-'));
  const file = join(folder, 'worker.mjs');
  writeFileSync(file, agent);
  try {
    return [
      await question(file, 'question', 'question, handler, response, against a bare pipe'),
      await question(file, 'beside', 'question, parallel handler, response, against a bare pipe'),
      ...(await progress(file)),
      ...(await ingest(file)),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The median of all trips: what else the machine does delays a few of them by a thousand times as much. */
async function question(file: string, program: 'question' | 'beside', row: string): Promise<Row> {
  return compare(
    { name: row, unit: 'µs', target: '<= 3' },
    {
      ours: async () => (await measure(programs[program], file)).said,
      reference: async () => (await bare(file, `ask ${trips}`, true)).said,
    },
  );
}

/** By the processor time of this process: the agent's own, and what else the machine does, should not count. */
async function progress(file: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const type of ['progress', 'partial'] as const) {
    const row = { name: `100k ${type} through a handler, against lines parsed by hand`, unit: 'messages/s' };
    const measures = {
      ours: async () => perSecond((await measure(programs[type], file)).cpuMs),
      reference: async () => perSecond((await bare(file, `${type} ${messages}`, false)).cpuMs),
    };
    rows.push(await compare(row, measures));
  }
  return rows;
}

/** Against JSON.parse alone the bytes are in memory: reading a pipe already costs half of what parsing does. */
async function ingest(file: string): Promise<Row[]> {
  const lines = Array.from({ length: messages }, (_, n) =>
    JSON.stringify({
      type: 'partial',
      text: `The change ${n} touches the login and two of its callers, ${'x'.repeat(200)}`,
    }),
  );
  const bytes = Buffer.from(`${lines.join('\n')}\n`);
  const unit = 'messages/s';
  return [
    await compare(
      { name: '100k partial split, parsed and checked, against JSON.parse alone', unit, target: '>= 0.70' },
      {
        ours: () => {
          const start = spent();
          if (readMessages(bytes) !== messages) throw new Error('a message was lost');
          return perSecond(since(start).cpuMs);
        },
        reference: () => {
          const start = spent();
          for (const line of lines) JSON.parse(line);
          return perSecond(since(start).cpuMs);
        },
      },
    ),
    await compare(
      { name: '100k partial from an agent, against lines parsed by hand', unit },
      {
        ours: async () => perSecond(await readAll(file)),
        reference: async () => perSecond((await bare(file, `partial ${messages}`, false)).cpuMs),
      },
    ),
  ];
}

function readMessages(bytes: Buffer): number {
  const splitter = new LineSplitter();
  let count = 0;
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    for (const line of splitter.push(bytes.subarray(at, at + chunkBytes))) {
      if (typeof line === 'string' && parseAgentLine(line).kind === 'message') count++;
    }
  }
  return count;
}

async function readAll(file: string): Promise<number> {
  const worker = await startAgent({ name: 'worker', command: process.execPath, args: [file] }, {});
  await worker.prompt({ text: 'ask 0' });
  let start: Spent | undefined;
  let count = 0;
  for await (const batch of worker.output) {
    for (const output of batch) {
      if (output.kind !== 'message') continue;
      if (output.message.type === 'partial') count++;
      if (output.message.type !== 'result') continue;
      if (start !== undefined) {
        const { cpuMs } = since(start);
        await worker.end();
        if (count !== messages) throw new Error(`${count} of ${messages} messages`);
        return cpuMs;
      }
      start = spent();
      await worker.prompt({ text: `partial ${messages}` });
    }
  }
  throw new Error('the agent ended early');
}

function perSecond(cpuMs: number): number {
  return (messages * 1000) / cpuMs;
}

type Spent = { readonly cpuMs: number };
/** With the number in its last message. */
type Measured = Spent & { readonly said: number };

function spent(): Spent {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000 };
}

function since(start: Spent): Spent {
  return { cpuMs: spent().cpuMs - start.cpuMs };
}

/** What the program spends between its emits `begin` and `end`. */
async function measure(source: string, file: string): Promise<Measured> {
  const { manifest } = readManifest(`
[project]
name = "bench"
version = "1"
entry = "main.conc"
[agents.worker]
transport = "stdio"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(file)}]
input_format = "json"
`);
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => source, manifest });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  let begun: Spent | undefined;
  let ended: Measured | undefined;
  const world: ProgramWorld = {
    emit: (channel, payload) => {
      if (channel === 'begin') begun = spent();
      if (channel === 'end' && begun !== undefined) ended = { ...since(begun), said: Number(display(payload)) };
    },
    print: () => {},
    log: () => {},
    ask: async () => null,
    environment: process.env,
    directory: tmpdir(),
    projectDirectory: tmpdir(),
    mockModels: true,
  };
  const outcome = await runProgram(module, world, { entry: 'main' });
  if (outcome.status === 'failed') throw new Error(outcome.failure.message);
  if (ended === undefined) throw new Error('the program did not end');
  return ended;
}

/** The same agent at the end of a bare pipe, without anything of ours. */
async function bare(file: string, prompt: string, answers: boolean): Promise<Measured> {
  const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const send = (text: string): void => void child.stdin.write(`${JSON.stringify({ type: 'prompt', text })}\n`);
  send('ask 0');
  await untilResult(child, false);
  const start = spent();
  send(prompt);
  const said = await untilResult(child, answers);
  const taken = since(start);
  child.kill();
  return { ...taken, said };
}

async function untilResult(
  child: { readonly stdin: Writable; readonly stdout: Readable },
  answers: boolean,
): Promise<number> {
  const reply = '{"type":"response","in_reply_to":"question","in_reply_to_id":"q","value":"yes"}\n';
  let rest = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const message: { type: string; median?: number } = JSON.parse(line);
      if (message.type === 'result') return message.median ?? 0;
      if (answers) child.stdin.write(reply);
    }
  }
  throw new Error('the agent ended early');
}
