import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type EventLog, openEventLog } from '@concerto/log';
import { Runner, type Sessions } from '@concerto/runtime';
import Database from 'libsql';
import { noProcesses, openHouse } from './house.ts';
import { QuietAgent } from './quiet-agent.ts';
import { compare, type Row } from './row.ts';

export const name = 'sessions: messages, commands, and a thousand at once, on SQLite';

/**
 * Ours and the reference take turns trip by trip: the longer a disk has waited for a commit, the longer it takes for one
 * (here twice as long after 6 ms as in one breath), and in rounds of its own the reference's commits come in one breath.
 */
const messages = 1_000;
/** Before the first round: what is measured is a server that has been at work, not how its code is compiled. */
const messagesBefore = 2_000;
const commandSessions = 64;
const commandsEach = 40;
const sessionsAtOnce = 1_000;
const activeAtOnce = 200;
const eventsASecond = 50;
const activeForMs = 6_000;

export async function run(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-bench-'));
  try {
    return [await messageLatency(folder), await durableCommands(folder), ...(await thousand(folder))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Says at which instant of the machine's monotonic clock, which all processes share, it read a prompt. */
const stamper = `
import { createInterface } from 'node:readline';
createInterface({ input: process.stdin }).on('line', () => {
  process.stdout.write(JSON.stringify({ type: 'result', at: String(process.hrtime.bigint()) }) + '\\n');
});`;

async function messageLatency(folder: string): Promise<Row> {
  const file = join(folder, 'stamper.mjs');
  writeFileSync(file, stamper);
  const server = await startServer(folder, file);
  const bare = startBare(folder, file);
  try {
    const { id } = await server.call('POST', '/api/sessions', { agent: 'stamper', prompt: 'begin' });
    const stamps = server.stamps(id);
    await stamps.next();
    const trip = async (n: number): Promise<number> => {
      const from = process.hrtime.bigint();
      await server.call('POST', `/api/sessions/${id}/messages`, { content: `message ${n}` });
      const { value } = await stamps.next();
      return Number(BigInt(value ?? 0) - from) / 1e6;
    };
    for (let n = 0; n < messagesBefore; n++) {
      await trip(n);
      await bare.trip(n);
    }
    let said = 0;
    return await compare(
      { name: 'HTTP message to agent stdin, durable, p50', unit: 'ms', target: '<= 2.5' },
      { ours: () => trip(++said), reference: () => bare.trip(said) },
      messages,
    );
  } finally {
    bare.stop();
    await server.stop();
  }
}

type Answer = { readonly id: string };

/** The real server and runner in one process, as `concerto serve` starts it. */
async function startServer(folder: string, agent: string) {
  const config = join(folder, 'Concerto.toml');
  writeFileSync(
    config,
    `[agents.stamper]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(agent)}]\n`,
  );
  const cli = fileURLToPath(new URL('../apps/cli/bin/concerto.js', import.meta.url));
  const args = [cli, 'serve', '--config', config, '--port', '0', '--token', 'bench'];
  const store = ['--store', `sqlite:${join(folder, 'server.db')}`];
  const child = spawn(process.execPath, [...args, ...store], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await listeningUrl(child);
  const connection = await openConnection(new URL(url), 'bench');
  return {
    call: async (method: string, path: string, body: object): Promise<Answer> =>
      JSON.parse(await connection.call(method, path, JSON.stringify(body))),
    /** One for each turn, as it ends: pushed, so that nobody asks the server anything in between. */
    stamps: async function* (id: string): AsyncGenerator<string, undefined> {
      const headers = { authorization: 'Bearer bench' };
      const { body } = await fetch(`${url}/api/sessions/${id}/events`, { headers });
      if (body === null) throw new Error('no events');
      let buffered = '';
      for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
        buffered += chunk;
        const frames = buffered.split('\n\n');
        buffered = frames.pop() ?? '';
        for (const frame of frames) {
          const at = frame.includes('"functionResult"') ? /"at":"(\d+)"/.exec(frame)?.[1] : undefined;
          if (at !== undefined) yield at;
        }
      }
      return undefined;
    },
    stop: async () => {
      connection.close();
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** One connection kept open, and no client in between: what is measured is the server. One call at a time. */
async function openConnection({ hostname, port }: URL, token: string) {
  const socket = connect(Number(port), hostname).setNoDelay(true).setEncoding('utf8');
  await once(socket, 'connect');
  let heard = '';
  let answered: (text: string) => void = () => {};
  socket.on('data', (chunk: string) => {
    heard += chunk;
    const head = heard.indexOf('\r\n\r\n');
    const length = Number(/^content-length: (\d+)/im.exec(heard.slice(0, head))?.[1]);
    if (head >= 0 && heard.length >= head + 4 + length) answered(heard);
  });
  return {
    call: async (method: string, path: string, body: string): Promise<string> => {
      const answer = new Promise<string>((resolve) => {
        answered = resolve;
      });
      heard = '';
      socket.write(
        `${method} ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      const text = await answer;
      if (!text.startsWith('HTTP/1.1 2')) throw new Error(`${method} ${path}: ${text}`);
      return text.slice(text.indexOf('\r\n\r\n') + 4);
    },
    close: () => socket.destroy(),
  };
}

async function listeningUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no stdout');
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^listening on (http:\S+)$/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('the server ended');
}

/** One durable commit of the same store, then one write to the same agent. */
function startBare(folder: string, agent: string) {
  const db = new Database(join(folder, 'bare.db'));
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('PRAGMA synchronous = FULL');
  db.exec('CREATE TABLE entries (id INTEGER PRIMARY KEY, data TEXT NOT NULL)');
  const insert = db.prepare('INSERT INTO entries (data) VALUES (?)');
  const child = spawn(process.execPath, [agent], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    trip: async (n: number): Promise<number> => {
      const from = process.hrtime.bigint();
      const data = JSON.stringify({ type: 'prompt', text: `message ${n}`, id: String(n) });
      insert.run(data);
      child.stdin.write(`${data}\n`);
      const { value } = await lines.next();
      return Number(BigInt(JSON.parse(String(value)).at) - from) / 1e6;
    },
    stop: () => {
      child.kill('SIGKILL');
      db.close();
    },
  };
}

type Stage = {
  readonly log: EventLog;
  readonly sessions: Sessions;
  readonly agents: QuietAgent[];
  readonly stop: () => Promise<void>;
};

/** The runtime in this process, with agents that have none. */
async function openStage(path: string, runs: boolean): Promise<Stage> {
  const log = await openEventLog(`sqlite:${path}`, { now: Date.now });
  const report = (message: string, cause?: unknown): void => {
    throw new Error(message, { cause });
  };
  const entries = [{ kind: 'agent', name: 'quiet', spec: { name: 'quiet', command: 'quiet' } }] as const;
  const { house, sessions } = openHouse(log, { entries, max: 2 * sessionsAtOnce, report });
  const agents: QuietAgent[] = [];
  const runner = new Runner({
    ...house,
    name: 'bench',
    startAgent: async (spec) => {
      const agent = new QuietAgent(spec);
      agents.push(agent);
      return agent;
    },
    processes: noProcesses,
  });
  if (runs) runner.start();
  return {
    log,
    sessions,
    agents,
    stop: async () => {
      await runner.stop('the benchmark is over');
      await log.close();
    },
  };
}

async function started({ sessions }: Stage): Promise<string> {
  const session = await sessions.start({ agent: 'quiet', prompt: 'begin' }, { actor: 'bench', key: undefined });
  if (!session.ok) throw new Error(session.error.message);
  return session.value.id;
}

/** Wishes of users, each decided and durable before its answer, against as many bare appends of their size. */
async function durableCommands(folder: string): Promise<Row> {
  const stage = await openStage(join(folder, 'commands.db'), false);
  const caller = { actor: 'bench', key: undefined };
  const ids = await Promise.all(Array.from({ length: commandSessions }, () => started(stage)));
  const first = await Promise.all(ids.map(async (id) => (await stage.sessions.messages(id))?.pending[0]?.id ?? ''));
  let edits = 0;
  const edit = async (session: string, message: string): Promise<void> => {
    for (let n = 0; n < commandsEach; n++) {
      edits += 1;
      const edited = await stage.sessions.revise({ session, message }, { content: `edit ${edits}` }, caller);
      if (!edited.ok) throw new Error(edited.error.message);
    }
  };
  const entries = [{ type: 'message-edited', data: JSON.stringify({ type: 'message-edited', text: 'x'.repeat(120) }) }];
  const streams = [
    { stream: 'domain', entries },
    { stream: 'events', entries },
  ] as const;
  const append = async (session: string): Promise<void> => {
    for (let n = 0; n < commandsEach; n++) await stage.log.append({ session: `bare-${session}`, streams });
  };
  const total = commandSessions * commandsEach;
  try {
    return await compare(
      { name: 'durable commands, 64 sessions, against bare appends', unit: 'commands/s' },
      {
        ours: () => perSecond(total, () => Promise.all(ids.map((id, index) => edit(id, first[index] ?? '')))),
        reference: () => perSecond(total, () => Promise.all(ids.map(append))),
      },
    );
  } finally {
    await stage.stop();
  }
}

async function perSecond(count: number, work: () => Promise<unknown>): Promise<number> {
  const from = process.hrtime.bigint();
  await work();
  return (count * 1e9) / Number(process.hrtime.bigint() - from);
}

/** Memory of the idle, and whether what the active say keeps coming through without a growing backlog. */
async function thousand(folder: string): Promise<Row[]> {
  const before = heap();
  const stage = await openStage(join(folder, 'thousand.db'), true);
  for (let from = 0; from < sessionsAtOnce; from += 100) {
    await Promise.all(Array.from({ length: 100 }, () => started(stage)));
  }
  while (stage.agents.length < sessionsAtOnce) await sleep(20);
  await sleep(2_000);
  const eachKb = (heap() - before) / 1024 / sessionsAtOnce;
  const { delays, said, seconds } = await speak(stage);
  await stage.stop();
  delays.sort((a, b) => a - b);
  const p50 = delays[Math.floor(delays.length * 0.5)] ?? 0;
  const p99 = delays[Math.floor(delays.length * 0.99)] ?? 0;
  const memory = { name: 'memory of one idle session of 1,000', unit: 'kB', target: '<= 1' };
  const through = {
    name: '1,000 sessions, 200 active: events seen of those said',
    unit: 'events/s',
    target: '>= 0.99',
  };
  const tail = { name: '1,000 sessions, 200 active: p99 over p50', unit: 'ms', target: '<= 50' };
  return [
    { ...memory, ours: eachKb, reference: 150, ratio: eachKb / 150, spread: 0 },
    {
      ...through,
      ours: delays.length / seconds,
      reference: said / seconds,
      ratio: delays.length / said,
      spread: 0,
    },
    { ...tail, ours: p99, reference: p50, ratio: p99 / p50, spread: 0 },
  ];
}

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** Each active agent says when it spoke; a reader at the log's end, where every client hangs, sees how old it is. */
async function speak({ log, agents }: Stage): Promise<{ delays: number[]; said: number; seconds: number }> {
  const delays: number[] = [];
  const cursors = new Map<string, number>();
  const reading = new Set<string>();
  const read = async (session: string): Promise<void> => {
    if (reading.has(session)) return;
    reading.add(session);
    const after = cursors.get(session) ?? (await log.head(session, 'events')) - 1;
    const page = await log.read({ session, stream: 'events', after, limit: 500 });
    cursors.set(session, page.entries.at(-1)?.position ?? after);
    const now = performance.now();
    for (const { data } of page.entries) {
      const spokenAt = /"said (\d+\.\d+)"/.exec(data)?.[1];
      if (spokenAt !== undefined) delays.push(now - Number(spokenAt));
    }
    reading.delete(session);
    if (page.head > (cursors.get(session) ?? 0)) await read(session);
  };
  const stop = log.onGrowth((session) => void read(session));
  const active = agents.slice(0, activeAtOnce);
  const until = performance.now() + activeForMs;
  let said = 0;
  const everyMs = 1_000 / eventsASecond;
  for (let next = performance.now(); next < until; next += everyMs) {
    for (const agent of active) agent.say(`said ${performance.now().toFixed(3)}`);
    said += active.length;
    await sleep(Math.max(0, next + everyMs - performance.now()));
  }
  // What is still under way after a second is backlog.
  await sleep(1_000);
  stop();
  return { delays, said, seconds: activeForMs / 1_000 };
}
