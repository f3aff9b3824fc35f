import { startAgent } from '@concerto/agents';
import { ok } from '@concerto/base';
import { memoryEventLog } from '@concerto/log';
import { SessionId } from '@concerto/protocol';
import type { LoadedProgram } from '../src/catalog.ts';
import {
  catalogOf,
  PoolKeeper,
  ProcessRegister,
  type ProgramTerminal,
  RuleBook,
  Runner,
  SessionStore,
  Sessions,
  systemClock,
} from '../src/index.ts';
import type { ProgramWorld } from '../src/program.ts';

const session = SessionId.parse('s_stage');

export type LentAgents = {
  readonly start: NonNullable<ProgramWorld['startAgent']>;
  readonly close: () => Promise<void>;
};

/** The agents of a program that is run elsewhere: sessions below one of it, in memory, as `concerto test` has them. */
export async function lendAgents(program: LoadedProgram, onNotice: (text: string) => void): Promise<LentAgents> {
  const clock = systemClock;
  const log = memoryEventLog({ now: () => clock.now() });
  let begun: (world: ProgramWorld) => void = () => {};
  const world = new Promise<ProgramWorld>((resolve) => {
    begun = resolve;
  });
  const terminal: ProgramTerminal = {
    emit: () => {},
    print: () => {},
    log: () => {},
    ask: async () => null,
    ready: async () => {},
    flush: () => {},
    instead: { journal: undefined },
    ended: () => {},
    runs: (here, signal) =>
      new Promise((resolve) => {
        begun(here);
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
  };
  const catalog = catalogOf([{ kind: 'program', name: 'stage', load: () => ok(program), terminal }]);
  let minted = 0;
  const mintId = (prefix: string): string => `${prefix}_${(minted += 1)}`;
  const store = new SessionStore(log);
  const report = (message: string, cause?: unknown): void => console.error(message, cause);
  const pool = new PoolKeeper({ log, store, clock, report, initialMax: 100 });
  const rules = new RuleBook({ log, catalog, mintId });
  const house = { log, store, pool, rules, catalog, clock, mintId, report };
  const runner = new Runner({
    ...house,
    name: 'stage',
    startAgent: (spec, options) => startAgent(spec, { ...options, onNotice }),
    processes: new ProcessRegister(log),
    tree: session,
  });
  runner.start();
  const started = await new Sessions(house).start({ program: 'stage', id: session }, { actor: 'test', key: undefined });
  if (!started.ok) throw new Error(started.error.message);
  const { startAgent: start } = await world;
  if (start === undefined) throw new Error('its session has no agents');
  return { start, close: async () => void (await runner.stop('the test is over')) };
}
