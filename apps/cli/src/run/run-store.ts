import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type AgentConnection, type AgentSpec, startAgent } from '@concerto/agents';
import { type EventLog, LogError } from '@concerto/log';
import {
  type Catalog,
  leaseOf,
  Overview,
  PoolKeeper,
  ProcessRegister,
  type Report,
  RuleBook,
  Runner,
  SessionStore,
  Sessions,
  systemClock,
} from '@concerto/runtime';
import type { ProgramJournal } from '@concerto/runtime/program';
import { openStore, type StoreOpening } from '../serve/open-store.ts';
import { firstLeaseMs, ownFromTheStart } from './own-from-the-start.ts';

/** Where nobody else runs sessions there is no line to stand in. */
const aloneMax = 1_000;

export type RunStore = {
  readonly url: string;
  readonly log: EventLog;
  readonly store: SessionStore;
  /** Of this process, as it owns sessions. */
  readonly name: string;
};

/** Nothing of it is left when we are gone. */
export function inMemory(url: string): boolean {
  return url.startsWith('memory:');
}

/** Other processes run sessions in it too. */
export function isShared(url: string): boolean {
  return /^rediss?:/.test(url);
}

/** As people are shown it: an address may hold a password. */
export function shownStore(url: string): string {
  if (!isShared(url) || !URL.canParse(url)) return url;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

/** Undefined when it was told to stop while it waited. */
export async function openRunStore(url: string, opening: StoreOpening, report: Report): Promise<RunStore | undefined> {
  const opened = await openStore(url, opening, report).catch((cause: unknown) => {
    if (!(cause instanceof LogError) || cause.heldBy === undefined) throw cause;
    throw new Error(
      `${url} is in use by ${cause.heldBy}, a server or another run: start it there with \`concerto sessions start --program NAME\`, wait for it, or give this run another --store`,
    );
  });
  if (opened === undefined) return undefined;
  const name = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  const log = isShared(url) ? ownFromTheStart(opened, name) : opened;
  return { url, log, store: new SessionStore(log), name };
}

/** Calls when something may have been decided of a session; by others too, where they share the store. Until the returned call. */
export function onDecided({ url, log, store }: RunStore, session: string, listener: () => void): () => void {
  return isShared(url) ? log.onGrowth(listener, session) : store.onDecided(session, listener);
}

export type HeldBy = { readonly by: string; readonly expiresInMs: number };

/** Takes the session, for our runner to claim; tells who has it where somebody does. */
export async function takeSession({ log, name }: RunStore, session: string): Promise<HeldBy | undefined> {
  const got = await log.acquireLease({ name: leaseOf(session), owner: name, ttlMs: firstLeaseMs });
  return got.kind === 'held' ? got : undefined;
}

export type RunHouse = { readonly sessions: Sessions; readonly close: () => Promise<void> };

export type RunHouseOptions = {
  readonly catalog: Catalog;
  /** The session of the run. */
  readonly session: string;
  /** How many agents the others and this one may have at work, where the store is shared. */
  readonly poolMax: number;
  readonly report: Report;
  /** Something that whoever wrote the agent's entry should know. */
  readonly onNotice: (message: string) => void;
  /** A file that tells which processes were started, for whoever goes on with it. */
  readonly journal: ProgramJournal | undefined;
};

/** What a server has, as far as one run needs it: it owns that one and what is below it. */
export function openRunHouse({ url, log, store, name }: RunStore, options: RunHouseOptions): RunHouse {
  const { catalog, session, report, onNotice } = options;
  const clock = systemClock;
  const mintId = (prefix: string): string => `${prefix}_${randomBytes(12).toString('base64url')}`;
  const initialMax = isShared(url) ? options.poolMax : aloneMax;
  const pool = new PoolKeeper({ log, store, clock, report, initialMax });
  const rules = new RuleBook({ log, catalog, mintId });
  const overview = isShared(url) ? new Overview({ log, store, clock, report }) : undefined;
  const runner = new Runner({
    log,
    store,
    pool,
    rules,
    catalog,
    clock,
    mintId,
    report,
    startAgent: (spec, more) => startNoted(spec, { ...more, onNotice }, options.journal),
    processes: new ProcessRegister(log),
    name,
    tree: session,
  });
  runner.start();
  return {
    sessions: new Sessions({ log, store, pool, rules, catalog, clock, mintId }),
    close: async () => {
      await runner.stop('the run is over');
      await overview?.close();
    },
  };
}

type StartOptions = NonNullable<Parameters<typeof startAgent>[1]>;

/** With its process in the journal, as long as it lives. */
async function startNoted(
  spec: AgentSpec,
  options: StartOptions,
  journal: ProgramJournal | undefined,
): Promise<AgentConnection> {
  if (journal === undefined) return await startAgent(spec, options);
  const connection = await startAgent(spec, {
    ...options,
    onProcess: async (identity) => {
      journal.noteProcess(identity);
      await options.onProcess?.(identity);
    },
  });
  void connection.exited.then(() => journal.noteEnd(connection.identity));
  return connection;
}
