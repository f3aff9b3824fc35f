import type { EventLog } from '@concerto/log';
import { catalogOf, PoolKeeper, RuleBook, SessionStore, Sessions, systemClock } from '@concerto/runtime';

type Options = {
  readonly entries?: Parameters<typeof catalogOf>[0];
  readonly max?: number;
  readonly report?: (message: string, cause?: unknown) => void;
};

/** What a server is made of, in this process and on this log; a runner takes all of it. */
export function openHouse(log: EventLog, { entries = [], max = 100, report = console.error }: Options = {}) {
  const store = new SessionStore(log);
  const clock = systemClock;
  let minted = 0;
  const mintId = (prefix: string): string => `${prefix}_${(minted += 1)}`;
  const catalog = catalogOf(entries);
  const pool = new PoolKeeper({ log, store, clock, report, initialMax: max });
  const rules = new RuleBook({ log, catalog, mintId });
  const house = { log, store, pool, rules, catalog, clock, mintId, report };
  return { house, sessions: new Sessions(house) };
}

const nothing = async (): Promise<void> => {};

/** Of agents that have no process. */
export const noProcesses = {
  remember: nothing,
  adopt: nothing,
  forget: nothing,
  endAllOf: nothing,
  end: nothing,
  here: async () => [],
  isElsewhere: async () => false,
};
