import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAgent } from '@concerto/agents';
import { ok } from '@concerto/base';
import { openEventLog } from '@concerto/log';
import { LineSplitter, parseAgentLine } from '@concerto/protocol';
import { ProcessRegister, type ProgramTerminal, Runner } from '@concerto/runtime';
import type { ProgramOutcome } from '@concerto/runtime/program';
import { askingAgent, bare, type Measured, moduleOf, type Spent, since, spent, supervise } from './asking-agent.ts';
import { openHouse } from './house.ts';
import { compare, type Row } from './row.ts';

export const name = 'listen: what a program costs that supervises an agent';

const trips = 2_000;
/** Rounds before those that count: what is measured is a program that has been at work, not how its code is compiled. */
const roundsBefore = 6;
const messages = 100_000;
/** As a pipe is read. */
const chunkBytes = 65_536;
/** As `concerto run` has it. */
const recentChars = 1024 * 1024;

const programs = {
  question: supervise('ask', trips, '"question" => |q| { answered += 1; "yes" },'),
  beside: supervise('ask', trips, '"question" (parallel: true) => |q| { answered += 1; "yes" },'),
  progress: supervise('progress', messages, '"progress" => |p| { answered += p.percent; },'),
  partial: supervise('partial', messages, '"partial" => |p| { answered += 1; },'),
};

export async function run(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-bench-'));
  const file = join(folder, 'worker.mjs');
  writeFileSync(file, askingAgent);
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
  for (let round = 0; round < roundsBefore; round++) await measure(programs[program], file);
  return await compare(
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

/** What the program spends between its emits `begin` and `end`, run as `concerto run` does: a session of a store in memory. */
async function measure(source: string, file: string): Promise<Measured> {
  let begun: Spent | undefined;
  let ended: Measured | undefined;
  let over: (outcome: ProgramOutcome) => void = () => {};
  const outcome = new Promise<ProgramOutcome>((resolve) => {
    over = resolve;
  });
  const terminal: ProgramTerminal = {
    emit: (channel, payload) => {
      if (channel === 'begin') begun = spent();
      if (channel === 'end' && begun !== undefined) ended = { ...since(begun), said: Number(payload.shown) };
    },
    print: () => {},
    log: () => {},
    ask: async () => null,
    ready: async () => {},
    flush: () => {},
    instead: { journal: undefined },
    ended: over,
  };
  const module = moduleOf(source, file);
  const program = { module, projectDirectory: tmpdir() };
  const entries = [{ kind: 'program', name: 'bench', load: () => ok(program), terminal }] as const;
  const log = await openEventLog('memory:', { now: Date.now, recentChars });
  const { house, sessions } = openHouse(log, { entries });
  const runner = new Runner({ ...house, name: 'bench', startAgent, processes: new ProcessRegister(log) });
  runner.start();
  try {
    const started = await sessions.start({ program: 'bench' }, { actor: 'bench', key: undefined });
    if (!started.ok) throw new Error(started.error.message);
    const came = await outcome;
    if (came.status === 'failed') throw new Error(came.failure.message);
    if (ended === undefined) throw new Error('the program did not end');
    return ended;
  } finally {
    await runner.stop('the benchmark is over');
    await log.close();
  }
}
