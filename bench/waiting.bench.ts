import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ok } from '@concerto/base';
import { buildProgram } from '@concerto/language';
import { openEventLog } from '@concerto/log';
import { Runner, type Sessions } from '@concerto/runtime';
import { HostedMachines } from '@concerto/runtime/hosted';
import { noProcesses, openHouse } from './house.ts';
import type { Row } from './row.ts';

export const name = 'programs that wait for a person, in one process';

const programs = 10_000;
const startsAtOnce = 20;
const mebibyte = 1024 * 1024;
/** What they may cost together. */
const mebibytesMax = 200;
const settlesWithinMs = 15 * 60_000;

const source = 'async fn main() -> Result<String, String> { Ok(await emit("ask", "Who?")) }\n';
const caller = { actor: 'bench', key: undefined };

export async function run(): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'concerto-waiting-'));
  try {
    return await measure(join(folder, 'waiting.db'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(path: string): Promise<readonly Row[]> {
  const { module } = buildProgram({ entry: 'main.conc', readFile: () => source });
  if (module === undefined) throw new Error('the program has errors');
  const load = () => ok({ module, projectDirectory: process.cwd() });
  const log = await openEventLog(`sqlite:${path}`, { now: Date.now });
  const { house, sessions } = openHouse(log, { entries: [{ kind: 'program', name: 'asks', load }], max: 10 });
  const startAgent = () => Promise.reject(new Error('there are no agents'));
  const machines = new HostedMachines();
  const runner = new Runner({ ...house, name: 'bench', startAgent, processes: noProcesses, machines });
  runner.start();
  const before = { bytes: residentBytes(), timers: timers() };
  let first = '';
  await Promise.all(
    Array.from({ length: startsAtOnce }, async () => {
      for (let n = 0; n < programs / startsAtOnce; n++) {
        const started = await sessions.start({ program: 'asks' }, caller);
        if (!started.ok) throw new Error(started.error.message);
        first ||= started.value.id;
      }
    }),
  );
  await allRest(runner, sessions, first);
  const after = { bytes: residentBytes(), timers: timers() };
  const began = performance.now();
  const request = (await sessions.requests(first))?.requests[0]?.requestId ?? '';
  await sessions.answer({ session: first, request }, { response: 'Ada' }, caller);
  while ((await sessions.get(first))?.status !== 'completed') await delay(5);
  const backMs = performance.now() - began;
  await runner.stop('the benchmark is over');
  machines.close();
  await log.close();
  const cost = (after.bytes - before.bytes) / mebibyte;
  return [
    row(`${programs} waiting programs`, { ours: cost, reference: mebibytesMax, unit: 'MiB', target: '<= 1' }),
    row(`timers of ${programs} waiting programs`, {
      ours: Math.max(0, after.timers - before.timers),
      reference: programs,
      unit: 'timers',
      target: '<= 0.01',
    }),
    row('from the answer to the end of one of them', { ours: backMs, reference: 1_000, unit: 'ms' }),
  ];
}

/** Nobody owns any of them, and the first one still waits. */
async function allRest(runner: Runner, sessions: Sessions, first: string): Promise<void> {
  const until = performance.now() + settlesWithinMs;
  for (let quietSince = performance.now(); performance.now() - quietSince < 5_000; ) {
    if (performance.now() > until) throw new Error(`${runner.owned.length} programs are still owned`);
    if (runner.owned.length > 0) quietSince = performance.now();
    await delay(200);
  }
  const status = (await sessions.get(first))?.status;
  if (status !== 'waitingForInput') throw new Error(`a program that waits is ${status}`);
}

function row(name: string, figures: Pick<Row, 'ours' | 'reference' | 'unit'> & { readonly target?: string }): Row {
  return { name, ...figures, ratio: figures.ours / figures.reference, spread: 0 };
}

/** After what can be given back was. */
function residentBytes(): number {
  for (let n = 0; n < 3; n++) globalThis.gc?.();
  return process.memoryUsage().rss;
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
}
