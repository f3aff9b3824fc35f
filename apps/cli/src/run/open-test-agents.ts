import { randomBytes } from 'node:crypto';
import { SessionId } from '@concerto/protocol';
import type { ProgramTerminal } from '@concerto/runtime';
import type { ProgramWorld } from '@concerto/runtime/program';
import type { CompiledTarget } from '../language/compile-target.ts';
import { BudgetDesk } from './budget-desk.ts';
import { programOf, runCatalog } from './run-catalog.ts';
import { answerBudget, caller, recentChars, report } from './run-in-store.ts';
import { openRunHouse, openRunStore } from './run-store.ts';
import { untilOver } from './until-over.ts';

export type TestAgents = {
  readonly start: NonNullable<ProgramWorld['startAgent']>;
  readonly close: () => Promise<void>;
};

/** The agents of a test are sessions below one of its program, as in a run; the test itself is run by whoever asks for them. */
export async function openTestAgents(
  target: CompiledTarget,
  { mock, log }: { readonly mock: boolean; readonly log: ProgramWorld['log'] },
): Promise<TestAgents> {
  const never = new Promise<never>(() => {});
  const place = await openRunStore('memory:', { waitMs: 0, stopped: never, recentChars }, report);
  if (place === undefined) throw new Error('there is no store');
  const named = programOf(target, mock);
  let begun: (world: ProgramWorld) => void = () => {};
  const world = new Promise<ProgramWorld>((resolve) => {
    begun = resolve;
  });
  const terminal: ProgramTerminal = {
    emit: () => {},
    print: () => {},
    log,
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
  const { catalog, poolMax } = runCatalog(named, terminal, mock);
  const session = SessionId.parse(`s_${randomBytes(12).toString('base64url')}`);
  const onNotice = (message: string): void => log('info', message);
  const house = openRunHouse(place, { catalog, poolMax, session, report, onNotice, journal: undefined });
  const { sessions } = house;
  const budget = new BudgetDesk({
    store: place.store,
    root: session,
    person: undefined,
    give: (asked, response) => answerBudget(sessions, { ...asked, response }),
  });
  const close = async (): Promise<void> => {
    budget.close();
    await house.close();
    await place.log.close();
  };
  try {
    const started = await sessions.start({ program: named.name, id: session }, caller);
    if (!started.ok) throw new Error(started.error.message);
    const onDecided = (listener: () => void): (() => void) => place.store.onDecided(session, listener);
    const over = untilOver({ sessions, session, onDecided }).then(({ error }) => {
      throw new Error(error?.message ?? 'the session of its agents is over');
    });
    over.catch(() => undefined);
    const { startAgent } = await Promise.race([world, over]);
    if (startAgent === undefined) throw new Error('its session has no agents');
    return { start: startAgent, close };
  } catch (cause) {
    await close();
    throw cause;
  }
}
