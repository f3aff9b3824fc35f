// `concerto run` with every agent as a session: what a server does, for the vectors of the language.
import { startAgent } from '@concerto/agents';
import { memoryEventLog } from '@concerto/log';
import { catalogOf, PoolKeeper, ProcessRegister, RuleBook, Runner, SessionStore, systemClock } from '@concerto/runtime';
import { type Conducted, run } from '../../apps/cli/src/language/run-command.ts';
import { ChildAgent } from '../../packages/runtime/src/session/child-agent.ts';
import { ChildSessions } from '../../packages/runtime/src/session/child-sessions.ts';
import { OwnerWriter } from '../../packages/runtime/src/session/owner-writer.ts';
import { ProgramCode } from '../../packages/runtime/src/session/program-code.ts';
import { Tenure } from '../../packages/runtime/src/session/tenure.ts';

const session = 'run';
const actor = 'runner:vectors';

async function conduct(program: Parameters<ProgramCode['keep']>[0]): Promise<Conducted> {
  const log = memoryEventLog({ now: Date.now });
  const store = new SessionStore(log);
  const clock = systemClock;
  const report = (message: string, cause?: unknown): void => console.error(message, cause);
  const pool = new PoolKeeper({ log, store, clock, report, initialMax: 1_000 });
  let minted = 0;
  const mintId = (prefix: string): string => {
    minted += 1;
    return `${prefix}_${minted}`;
  };
  const processes = new ProcessRegister(log);
  const catalog = catalogOf([]);
  const runner = new Runner({
    log,
    store,
    pool,
    rules: new RuleBook({ log, catalog, mintId }),
    catalog,
    clock,
    mintId,
    report,
    startAgent,
    processes,
    name: 'vectors',
  });
  runner.start();
  const title = 'a vector';
  const at = Date.now();
  const prompt = { messageId: 'first', content: 'run' };
  const kind = 'program';
  const start = {
    type: 'start',
    sessionId: session,
    kind,
    agent: 'p',
    title,
    once: true,
    slot: 'held',
    prompt,
  } as const;
  await store.execute(session, { at, actor, ...start });
  const lease = await log.acquireLease({ name: 'vectors', owner: 'vectors', ttlMs: 600_000 });
  if (lease.kind === 'held') throw new Error('the lease of a new store is free');
  const { epoch } = lease;
  const fence = { lease: 'vectors', epoch };
  const tenure = new Tenure({ session, runner: 'vectors', fence, clock, report });
  const writer = new OwnerWriter({ store, clock, log, tenure });
  await writer.begin();
  await writer.tell({ type: 'claimed', epoch, runner: 'vectors' });
  // At work: what a program has opened that is not is ended by whoever finds it.
  await writer.tell({ type: 'agent-ready', epoch, incarnation: 1, capabilities: [] });
  await writer.tell({ type: 'turn-started', epoch, incarnation: 1 });
  const code = await new ProgramCode(log).keep({
    module: program.module,
    projectDirectory: program.projectDirectory,
  });
  const children = new ChildSessions(
    { log, store, pool, clock },
    { session, root: session, code, actor: `program:${session}`, run: 'run', epoch, writer, childrenMax: 1_000 },
  );
  return {
    startAgent: async ({ name: agent }, { name, signal }) => {
      const id = children.idOf('s', name);
      const written = async (): Promise<void> => {};
      const child = new ChildAgent({
        children,
        id,
        agent,
        peopleAnswer: false,
        written,
        onWaits: () => {},
        programAsks: () => false,
        onQueued: () => {},
      });
      await child.start(signal);
      return child;
    },
    close: async () => {
      await runner.stop('the program is over');
      await log.close();
    },
  };
}

const [command, ...words] = process.argv.slice(2);
if (command === 'run') process.exitCode = await run(words, conduct);
else await import('../../apps/cli/src/main.ts');
