import { defineCommand, type ParsedArguments, parseArguments, UsageError } from '../arguments.ts';
import { type CompiledTarget, compileTarget, compileWithServers } from '../language/compile-target.ts';
import { tell } from '../terminal/print.ts';

export const spec = defineCommand({
  name: 'run',
  summary: 'Compile and run a program.',
  usage: '[FILE|DIR]',
  options: {
    json: { type: 'boolean', help: 'each emit as {"channel","payload"} on a line of its own' },
    mcp: {
      type: 'boolean',
      help: 'first ask the MCP servers it declares which tools they have, and check against them',
    },
    mock: { type: 'boolean', help: 'models answer with the offline mock' },
    input: {
      type: 'string',
      value: 'FILE',
      help: 'answers for `await emit`, one JSON value a line; - is standard input',
    },
    journal: {
      type: 'string',
      value: 'FILE',
      help: 'write down what the program does and is told; run again with the same FILE, it goes on where it was ended',
    },
    replay: {
      type: 'string',
      value: 'FILE',
      help: 'run it with what its journal says only: nothing is asked, nothing is done',
    },
    'replay-emits': { type: 'boolean', help: 'show the emits of what is replayed too' },
    store: {
      type: 'string',
      value: 'URL',
      help: 'keep what it and its agents do in this store: sqlite:PATH or redis://…; nothing of it is left unless given',
    },
    session: {
      type: 'string',
      value: 'ID',
      help: 'what its session in the store is called; one that is there goes on where it was ended, with its own code',
    },
    quiet: { type: 'boolean', short: 'q', help: 'do not show emits' },
    verbose: {
      type: 'boolean',
      short: 'v',
      help: 'show every message of agents: also log lines of a call without handlers, and what came too late',
    },
  },
  maxPositionals: 1,
  details:
    'FILE is a program (.conc) or a compiled one (.conc-ir). DIR, or the current directory, is a project: its `entry` runs.\nExit code 1 when the program fails, 130 when it was interrupted.\nIt is a session, its agents are sessions below it: rules, supervisors and budgets of the manifest hold. With --store all of it is kept: `concerto serve --store URL` shows it. After a kill, the same --store and --session go on with it.',
});

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  checkFlags(values);
  const compile = (): Promise<CompiledTarget | undefined> => compileRunnable(positionals[0], values.mcp);
  const { runInStore } = await import('./run-in-store.ts');
  return await runInStore({ ...values, store: values.store ?? 'memory:', compile });
}

function checkFlags(values: ParsedArguments<(typeof spec)['options']>['values']): void {
  const { store, session, journal, replay } = values;
  if (store === undefined && session !== undefined)
    throw new UsageError('--session is the name of a session in a store: give --store');
  if (journal !== undefined && replay !== undefined)
    throw new UsageError('--journal goes on where the journal ends, --replay never does: give one of them');
  if (values['replay-emits'] && journal === undefined && replay === undefined)
    throw new UsageError('--replay-emits needs --journal or --replay');
  const flag = (['journal', 'replay'] as const).find((name) => values[name] !== undefined);
  if (store !== undefined && flag !== undefined)
    throw new UsageError(`--${flag} is for a run without --store: the store is the journal, and --session goes on`);
}

/** Undefined where there is nothing to run, which is told. */
async function compileRunnable(path: string | undefined, mcp: boolean): Promise<CompiledTarget | undefined> {
  const target = await (mcp ? compileWithServers : compileTarget)(path);
  if (target === undefined) return undefined;
  if (target.module.main !== undefined || target.module.init !== undefined) return target;
  tell(`error: ${target.entry} has nothing to run: no \`fn main\` and no statements\n`);
  return undefined;
}
