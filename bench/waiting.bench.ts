import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ok } from '@concerto/base';
import { buildProgram, readManifest } from '@concerto/language';
import { openEventLog } from '@concerto/log';
import type { StartSession } from '@concerto/protocol';
import { type CatalogEntry, Runner, type Sessions } from '@concerto/runtime';
import { HostedMachines } from '@concerto/runtime/hosted';
import { noProcesses, openHouse } from './house.ts';
import { QuietAgent } from './quiet-agent.ts';
import type { Row } from './row.ts';

export const name = 'programs that wait for a person, in one process';

const programs = 10_000;
/** Whose agents wait: each agent is a session that is at work and costs its own, so these are fewer. */
const conducting = 2_000;
const startsAtOnce = 20;
const mebibyte = 1024 * 1024;
/** What ten thousand may cost together. */
const mebibytesMax = 200;
const settlesWithinMs = 15 * 60_000;

const caller = { actor: 'bench', key: undefined };

const manifest = '[agents.worker]\ncommand = "worker"\n';
const asks = 'async fn main() -> Result<String, String> { Ok(await emit("ask", "Who?")) }\n';
const conducts = `agent Worker { connector: worker }
fn main() -> Result<String, AgentError> { Worker.execute("ask") }
`;

export async function run(): Promise<readonly Row[]> {
  return [...(await inFolder(waitThemselves)), ...(await inFolder(waitWithTheirAgents))];
}

async function inFolder(measure: (stage: Stage) => Promise<readonly Row[]>): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'concerto-waiting-'));
  const stage = await openStage(join(folder, 'waiting.db'));
  try {
    return await measure(stage);
  } finally {
    await stage.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function waitThemselves({ sessions, ownedBy }: Stage): Promise<readonly Row[]> {
  const before = held();
  const [first = ''] = await startMany(sessions, programs, { program: 'asks' });
  await untilOwned(ownedBy, 0);
  const after = held();
  if ((await sessions.get(first))?.status !== 'waitingForInput') throw new Error('a program does not wait');
  return [
    memoryRow(`${programs} waiting programs`, after.bytes - before.bytes, programs),
    timerRow(`timers of ${programs} waiting programs`, after.timers - before.timers, programs),
    backRow('from the answer to the end of one of them', await answered(sessions, first, first)),
  ];
}

/**
 * Beyond what as many agents cost that wait for a person and were called by nobody: what stays on the heap, since the
 * process keeps the pages that thousands of starts needed for a moment.
 */
async function waitWithTheirAgents({ sessions, ownedBy }: Stage): Promise<readonly Row[]> {
  const before = held();
  await startMany(sessions, conducting, { agent: 'worker', prompt: 'ask' });
  await untilOwned(ownedBy, conducting);
  const between = held();
  const [first = ''] = await startMany(sessions, conducting, { program: 'conducts' });
  // Their agents are owned as those before, and they themselves by nobody.
  await untilOwned(ownedBy, 2 * conducting);
  const after = held();
  const [child] = (await sessions.list({ parent: first, limit: 1 })).sessions;
  if (child?.status !== 'waitingForInput') throw new Error('an agent does not wait');
  const bytes = after.heapBytes - between.heapBytes - (between.heapBytes - before.heapBytes);
  const timers = after.timers - between.timers - (between.timers - before.timers);
  return [
    memoryRow(`${conducting} programs whose agents wait, beyond the agents`, bytes, conducting),
    timerRow(`timers of ${conducting} programs whose agents wait`, timers, conducting),
    backRow('from the answer to its agent to the end of one of them', await answered(sessions, child.id, first)),
  ];
}

type Stage = {
  readonly sessions: Sessions;
  /** How many sessions somebody here owns. */
  readonly ownedBy: () => number;
  readonly close: () => Promise<void>;
};

async function openStage(path: string): Promise<Stage> {
  const log = await openEventLog(`sqlite:${path}`, { now: Date.now });
  const agent = { kind: 'agent', name: 'worker', spec: { name: 'worker', command: 'worker' } } as const;
  const entries = [agent, programOf('asks', asks), programOf('conducts', conducts)];
  let isOver = false;
  // That the log is closed under those who still wait is no news.
  const report = (message: string, cause?: unknown): void => void (isOver || console.error(message, cause));
  const { house, sessions } = openHouse(log, { entries, max: 3 * conducting, report });
  const machines = new HostedMachines();
  const startAgent = async (spec: ConstructorParameters<typeof QuietAgent>[0]) => new AskingAgent(spec);
  const runner = new Runner({ ...house, name: 'bench', startAgent, processes: noProcesses, machines });
  runner.start();
  return {
    sessions,
    ownedBy: () => runner.owned.length,
    close: async () => {
      isOver = true;
      await runner.stop('the benchmark is over');
      machines.close();
      await log.close();
    },
  };
}

/** Asks a person in each turn, and ends it with the answer. */
class AskingAgent extends QuietAgent {
  override async prompt(): Promise<void> {
    this.says({ type: 'question', id: 'q', question: 'Who?' });
  }

  override async reply(): Promise<void> {
    this.says({ type: 'result', text: 'answered' });
  }
}

function programOf(called: string, source: string): CatalogEntry {
  const { module } = buildProgram({
    entry: 'main.conc',
    readFile: () => source,
    manifest: readManifest(manifest).manifest,
  });
  if (module === undefined) throw new Error('the program has errors');
  return { kind: 'program', name: called, load: () => ok({ module, projectDirectory: process.cwd() }) };
}

async function startMany(sessions: Sessions, count: number, request: StartSession): Promise<readonly string[]> {
  const ids: string[] = [];
  const some = async (): Promise<void> => {
    for (let n = 0; n < count / startsAtOnce; n++) {
      const started = await sessions.start(request, caller);
      if (!started.ok) throw new Error(started.error.message);
      ids.push(started.value.id);
    }
  };
  await Promise.all(Array.from({ length: startsAtOnce }, some));
  return ids;
}

/** So many, for a while: nothing is on its way any more. */
async function untilOwned(owned: () => number, count: number): Promise<void> {
  const until = performance.now() + settlesWithinMs;
  for (let quietSince = performance.now(); performance.now() - quietSince < 5_000; ) {
    if (performance.now() > until) throw new Error(`${owned()} sessions are owned, not ${count}`);
    if (owned() !== count) quietSince = performance.now();
    await delay(200);
  }
}

/** Milliseconds until the session is over, from the answer to what another or itself asks. */
async function answered(sessions: Sessions, asking: string, session: string): Promise<number> {
  const began = performance.now();
  const request = (await sessions.requests(asking))?.requests[0]?.requestId ?? '';
  await sessions.answer({ session: asking, request }, { response: 'Ada' }, caller);
  while ((await sessions.get(session))?.status !== 'completed') await delay(5);
  return performance.now() - began;
}

function memoryRow(name: string, bytes: number, count: number): Row {
  const reference = (mebibytesMax * count) / 10_000;
  return row(name, { ours: bytes / mebibyte, reference, unit: 'MiB', target: '<= 1' });
}

function timerRow(name: string, timers: number, count: number): Row {
  return row(name, { ours: Math.max(0, timers), reference: count, unit: 'timers', target: '<= 0.01' });
}

function backRow(name: string, ms: number): Row {
  return row(name, { ours: ms, reference: 1_000, unit: 'ms' });
}

function row(name: string, figures: Pick<Row, 'ours' | 'reference' | 'unit'> & { readonly target?: string }): Row {
  return { name, ...figures, ratio: figures.ours / figures.reference, spread: 0 };
}

/** What this process holds, after what can be given back was. */
function held(): { readonly bytes: number; readonly heapBytes: number; readonly timers: number } {
  for (let n = 0; n < 3; n++) globalThis.gc?.();
  const timers = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const { rss, heapUsed, external } = process.memoryUsage();
  return { bytes: rss, heapBytes: heapUsed + external, timers };
}
