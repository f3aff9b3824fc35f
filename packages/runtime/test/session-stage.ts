import { type AgentSpec, startAgent } from '@concerto/agents';
import { type EventLog, follow, memoryEventLog } from '@concerto/log';
import type { StartSession } from '@concerto/protocol';
import {
  type CatalogEntry,
  type Clock,
  catalogOf,
  type Environment,
  PoolKeeper,
  ProcessRegister,
  RuleBook,
  Runner,
  type RunnerOptions,
  SessionStore,
  Sessions,
  systemClock,
} from '../src/index.ts';

export type Stage = {
  readonly log: EventLog;
  readonly store: SessionStore;
  readonly sessions: Sessions;
  /** What the operator was told. */
  readonly complaints: readonly string[];
  readonly start: (request: StartSession) => ReturnType<Sessions['start']>;
  /** The first event that fits. */
  readonly until: (
    session: string,
    fits: (event: Record<string, unknown>) => boolean,
  ) => Promise<Record<string, unknown>>;
  /** As a server does before it ends; the store stays open. */
  readonly stop: (keeps?: boolean) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type StageOptions = {
  readonly agents: readonly AgentSpec[];
  /** What else sessions can be started with. */
  readonly entries?: readonly CatalogEntry[];
  readonly environment?: Environment;
  readonly log?: EventLog;
  readonly initTimeoutMs?: number;
  readonly clock?: Clock;
  /** What its machine and its runner are called. */
  readonly host?: string;
  readonly keeper?: RunnerOptions['keeper'];
  readonly programsMax?: number;
  readonly machines?: RunnerOptions['machines'];
};

/** The real runtime with real agents, in memory. */
export function openStage(options: StageOptions): Stage {
  const {
    agents,
    entries = [],
    environment = {},
    log: given,
    initTimeoutMs = 10_000,
    clock = systemClock,
    host = 'stage',
  } = options;
  const log = given ?? memoryEventLog({ now: Date.now });
  const store = new SessionStore(log);
  const complaints: string[] = [];
  const report = (message: string): void => {
    complaints.push(message);
  };
  let minted = 0;
  const mintId = (prefix: string): string => {
    minted += 1;
    return `${prefix}_${minted}`;
  };
  const declared = agents.map((spec): CatalogEntry => ({ kind: 'agent', name: spec.name, spec, initTimeoutMs }));
  const catalog = catalogOf([...declared, ...entries]);
  const pool = new PoolKeeper({ log, store, clock, report, initialMax: 20 });
  const rules = new RuleBook({ log, catalog, mintId });
  const sessions = new Sessions({ log, store, pool, rules, catalog, clock, mintId, environment });
  const runner = new Runner({
    log,
    store,
    pool,
    rules,
    catalog,
    clock,
    mintId,
    report,
    environment,
    startAgent,
    keeper: options.keeper,
    processes: new ProcessRegister(log, host),
    name: host,
    ...(options.machines === undefined ? {} : { machines: options.machines }),
    ...(options.programsMax === undefined ? {} : { programsMax: options.programsMax }),
  });
  runner.start();
  return {
    log,
    store,
    sessions,
    complaints,
    start: (request) => sessions.start(request, { actor: 'user', key: undefined }),
    until: async (session, fits) => {
      for await (const page of follow(log, { session, stream: 'events', after: 0 })) {
        for (const { data } of page.entries) {
          const event: Record<string, unknown> = JSON.parse(data);
          if (fits(event)) return event;
        }
      }
      throw new Error('the log ended');
    },
    stop: async (keeps = false) => {
      await runner.stop('the server is stopping', keeps);
    },
    close: async () => {
      await runner.stop('the test is over');
      await log.close();
    },
  };
}
