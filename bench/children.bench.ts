import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAgent } from '@concerto/agents';
import { ok } from '@concerto/base';
import { type EventLog, openEventLog } from '@concerto/log';
import { ProcessRegister, Runner } from '@concerto/runtime';
import { HostedMachines } from '@concerto/runtime/hosted';
import Database from 'libsql';
import { askingAgent, bare, moduleOf, since, spent, supervise } from './asking-agent.ts';
import { openHouse } from './house.ts';
import { compare, type Row } from './row.ts';

export const name = 'children: what it costs that a program’s agent is a session, on SQLite';

const trips = 500;
/** Rounds before those that count: what is measured is a server that has been at work, not how its code is compiled. */
const roundsBefore = 4;
const messages = 100_000;
const messagesASecond = 20_000;

const programs = {
  question: supervise('ask', trips, '"question" => |q| { answered += 1; "yes" },'),
  progress: supervise('progress', messages, '"progress" => |p| { answered += p.percent; },'),
};

export async function run(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-bench-'));
  const file = join(folder, 'worker.mjs');
  writeFileSync(file, askingAgent);
  const stage = await openStage(folder, file);
  const commits = startCommits(folder);
  try {
    for (let round = 0; round < roundsBefore; round++) await stage.measure('question');
    return [
      await compare(
        {
          name: 'a child’s question, handler, answer, against a durable commit and a pipe',
          unit: 'µs',
          target: '<= 4',
        },
        {
          ours: async () => (await stage.measure('question')).said,
          reference: async () => (await bare(file, `ask ${trips}`, true, commits.commit)).said,
        },
      ),
      await compare(
        {
          name: `100k progress through a child, by processor time, against ${messagesASecond} a second`,
          unit: 'messages/s',
          target: '>= 1',
        },
        {
          ours: async () => (messages * 1000) / (await stage.measure('progress')).cpuMs,
          reference: () => messagesASecond,
        },
        3,
      ),
    ];
  } finally {
    commits.close();
    await stage.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * One row, on the disk when it returns. In a breath with the trip that it belongs to: the longer a disk has waited for a
 * commit, the longer it takes for one.
 */
function startCommits(folder: string) {
  const db = new Database(join(folder, 'bare.db'));
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('PRAGMA synchronous = FULL');
  db.exec('CREATE TABLE entries (id INTEGER PRIMARY KEY, data TEXT NOT NULL)');
  const insert = db.prepare('INSERT INTO entries (data) VALUES (?)');
  const data = JSON.stringify({ type: 'question', id: 'q', question: 'x'.repeat(300) });
  return {
    commit: () => void insert.run(data),
    close: () => void db.close(),
  };
}

type Measured = { readonly cpuMs: number; readonly said: number };

/** The runtime in this process, as a server has it. */
async function openStage(folder: string, agent: string) {
  const log = await openEventLog(`sqlite:${join(folder, 'children.db')}`, { now: Date.now });
  const entries = Object.entries(programs).map(([program, source]) => {
    const module = moduleOf(source, agent);
    return { kind: 'program', name: program, load: () => ok({ module, projectDirectory: folder }) } as const;
  });
  const { house, sessions } = openHouse(log, { entries });
  const machines = new HostedMachines();
  const processes = new ProcessRegister(log);
  const runner = new Runner({ ...house, name: 'bench', startAgent, processes, machines });
  runner.start();
  return {
    measure: async (program: keyof typeof programs): Promise<Measured> => {
      const started = await sessions.start({ program }, { actor: 'bench', key: undefined });
      if (!started.ok) throw new Error(started.error.message);
      return await betweenEmits(log, started.value.id);
    },
    close: async () => {
      await runner.stop('the benchmark is over');
      machines.close();
      await log.close();
    },
  };
}

/** What this process spends between the program's emits `begin` and `end`, and what the second of them says. */
async function betweenEmits(log: EventLog, session: string): Promise<Measured> {
  let begun = spent();
  for (let after = 0; ; ) {
    const { entries } = await log.read({ session, stream: 'events', after, limit: 1_000 });
    for (const { data } of entries) {
      const event: { type: string; title?: string; data?: unknown; message?: string } = JSON.parse(data);
      if (event.type === 'error') throw new Error(`the program failed: ${data}`);
      if (event.title === 'begin') begun = spent();
      if (event.title === 'end')
        return { ...since(begun), said: Number(/[\d.]+/.exec(JSON.stringify(event.data))?.[0]) };
    }
    after = entries.at(-1)?.position ?? after;
    if (entries.length === 0) await grown(log, session);
  }
}

async function grown(log: EventLog, session: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = log.onGrowth(() => {
      stop();
      resolve();
    }, session);
  });
}
