import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type AgentKeeper, groupMemory, probeSandbox, startAgent } from '@concerto/agents';
import type { KeeperClient } from '@concerto/keeper';
import { type Blobs, type EventLog, type LogMeasures, measuredLog } from '@concerto/log';
import {
  type Catalog,
  Overview,
  PoolKeeper,
  ProcessRegister,
  type Report,
  Retention,
  type RetentionRules,
  RuleBook,
  Runner,
  SessionStore,
  Sessions,
  systemClock,
} from '@concerto/runtime';
import { HostedMachines } from '@concerto/runtime/hosted';
import type { Tracing } from '@concerto/runtime/tracing';
import { keeperOf } from './keeper-of.ts';
import { openStore, type StoreOpening } from './open-store.ts';
import { hiding, ownFiles } from './own-files.ts';

export type Runtime = {
  readonly log: EventLog;
  readonly measures: () => LogMeasures;
  /** What each agent of this machine takes of its memory, in bytes; undefined where nobody tells. */
  readonly agentsMemory: () => Promise<readonly number[] | undefined>;
  readonly sessions: Sessions;
  /** Undefined when sessions are run by other processes. */
  readonly runner: Runner | undefined;
  /** Of the agents of this machine, where sessions are run here and one can be. */
  readonly keeper: KeeperClient | undefined;
  /**
   * Gives up the sessions, then the store. Agents at work stay with their keeper, which `stayed` is told, unless
   * `endsAll` aborts before this resolves.
   */
  close(leaving?: Leaving): Promise<void>;
};

export type Leaving = {
  readonly endsAll: AbortSignal;
  /** Is told what is waited for. */
  readonly awaits: (what: string) => void;
  /** Resolves when nobody will change their mind any more. */
  readonly stayed: (pids: readonly number[]) => Promise<void>;
};

export type RuntimeOptions = {
  readonly store: string;
  readonly opening: StoreOpening;
  readonly catalog: Catalog;
  readonly poolMax: number;
  readonly programsMax?: number | undefined;
  readonly folders: readonly string[];
  readonly runs: boolean;
  readonly report: Report;
  readonly retention: RetentionRules;
  /** Undefined where nothing is traced. */
  readonly tracing?: Tracing | undefined;
  /** How long an agent may go on without a server; as the manifest says it. */
  readonly keepAgents?: string | undefined;
};

/** The one place where the parts are put together. Undefined when it was told to stop while it waited for the store. */
export async function openRuntime(options: RuntimeOptions): Promise<Runtime | undefined> {
  const opened = await openStore(options.store, options.opening, options.report);
  if (opened === undefined) return undefined;
  const { log: measured, measures } = measuredLog(opened, () => systemClock.elapsed());
  const log = options.tracing?.wrap(measured) ?? measured;
  const store = new SessionStore(log);
  const clock = systemClock;
  const mintId = idMint();
  const pool = new PoolKeeper({ log, store, clock, report: options.report, initialMax: options.poolMax });
  const overview = new Overview({ log, store, clock, report: options.report });
  const rules = new RuleBook({ log, catalog: options.catalog, mintId });
  const { catalog, folders } = options;
  const machines = new HostedMachines();
  const sessions = new Sessions({ log, store, pool, rules, catalog, clock, mintId, folders, machines });
  const held = options.runs ? keeperOf(options.store, options.keepAgents, options.report) : undefined;
  const keeper = held?.agents;
  const processes = new ProcessRegister(log);
  const runner = options.runs
    ? new Runner({
        machines,
        log,
        store,
        pool,
        rules,
        catalog: options.catalog,
        clock,
        mintId,
        ...(options.programsMax === undefined ? {} : { programsMax: options.programsMax }),
        startAgent: (spec, more) => startAgent(hiding(spec, ownFiles(options.store)), more),
        keeper,
        processes,
        report: options.report,
        name: `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`,
      })
    : undefined;
  const retention = new Retention({ log, sessions, rules: options.retention, clock, report: options.report });
  await overview.begin();
  runner?.start();
  if (options.runs) void warnWithoutSandbox(options.report);
  const collecting = collectFiles(sessions.blobs, options.report);
  return {
    log,
    measures,
    agentsMemory: async () => {
      const memory = await groupMemory(await processes.groupsHere());
      return memory === undefined ? undefined : [...memory.values()];
    },
    sessions,
    runner,
    keeper: held?.client,
    close: async (leaving) => {
      const keeps = leaving !== undefined && !leaving.endsAll.aborted;
      leaving?.awaits('a session that is handed over');
      const left = (await runner?.stop('the server is stopping', keeps)) ?? [];
      const pids = await runningOf(left, keeper);
      if (pids.length > 0) await leaving?.stayed(pids);
      leaving?.awaits('an agent that ends');
      if (leaving?.endsAll.aborted === true) await Promise.all(left.map(async (name) => await keeper?.end(name)));
      leaving?.awaits('the store');
      machines.close();
      await retention.close();
      clearInterval(collecting);
      await overview.close();
      await log.close();
      await options.tracing?.close();
    },
  };
}

/** The processes of the agents that go on; one may have ended by now, or all of them with their keeper. */
async function runningOf(names: readonly string[], keeper: AgentKeeper | undefined): Promise<readonly number[]> {
  if (names.length === 0 || keeper === undefined) return [];
  const agents = await keeper.list().catch(() => []);
  return agents.flatMap(({ agent, pid, running }) => (running && names.includes(agent) ? [pid] : []));
}

const dayMs = 24 * 60 * 60 * 1_000;
const collectEveryMs = 60 * 60 * 1_000;

/** Files that were uploaded and that no session came to use are let go a day later. */
function collectFiles(blobs: Blobs, report: Report): NodeJS.Timeout {
  const collect = (): void => {
    blobs
      .collect(Date.now() - dayMs)
      .catch((cause: unknown) => report('files that nobody uses could not be removed', cause));
  };
  return setInterval(collect, collectEveryMs).unref();
}

async function warnWithoutSandbox(report: Report): Promise<void> {
  const use = await probeSandbox();
  if (use.kind === 'none') report(`agents run without a sandbox and could answer for you: ${use.reason}`);
}

const idBytes = 12;
const idsAtOnce = 128;

/** Randomness is fetched for many ids at a time: by itself it costs a message more than its JSON. */
function idMint(): (prefix: string) => string {
  let bytes = Buffer.alloc(0);
  let used = 0;
  return (prefix) => {
    if (used === bytes.length) {
      bytes = randomBytes(idBytes * idsAtOnce);
      used = 0;
    }
    used += idBytes;
    return `${prefix}_${bytes.toString('base64url', used - idBytes, used)}`;
  };
}
