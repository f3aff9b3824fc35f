import type { KeptAgentRow } from '@concerto/protocol';
import { defineCommand, parseArguments, UsageError } from '../arguments.ts';
import { connect, orHint } from '../sessions/connect.ts';
import { amount } from '../terminal/amount.ts';
import { print, printError, printJson } from '../terminal/print.ts';
import { heading, table } from '../terminal/table.ts';
import { isNamed, keeperHere, keeperOptions } from './kept-here.ts';
import { upkeepOf } from './upkeep.ts';

export const spec = defineCommand({
  name: 'agents',
  summary: 'Show the agents that this machine keeps for a store, or end them.',
  usage: 'ls | end SESSION... | end --all',
  options: {
    ...keeperOptions,
    all: { type: 'boolean', help: 'with `end`: every one of them' },
    json: { type: 'boolean', help: 'print JSON' },
  },
  minPositionals: 1,
  details: [
    'Agents outlive the server: they go on while it is away, and the next start takes them up.',
    '`end` names them by their session or their pid. Of a session whose server runs, cancel the session instead.',
  ].join('\n'),
});

export const subcommands = ['ls', 'end'];

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  return await orHint(values, () => obey(values, positionals));
}

type Values = ReturnType<typeof parseArguments<typeof spec.options>>['values'];

async function obey(values: Values, positionals: readonly string[]): Promise<number> {
  const [verb, ...names] = positionals;
  if (verb !== 'ls' && verb !== 'end') throw new UsageError('`concerto agents ls` or `concerto agents end SESSION...`');
  if (verb === 'ls' && names.length > 0) throw new UsageError('`concerto agents ls` takes no names');
  if (verb === 'end' && values.all === names.length > 0) throw new UsageError('name sessions or pids, or give --all');
  const { rows, end } = isNamed(values) ? await there(values) : await here(values);
  if (verb === 'ls') {
    list(rows, values.json);
    return 0;
  }
  const chosen = rows.filter(
    ({ session, pid }) => values.all || names.includes(session) || names.includes(String(pid)),
  );
  const unknown = names.filter((name) => !chosen.some(({ session, pid }) => session === name || String(pid) === name));
  if (unknown.length > 0) {
    printError(`no agent of ${unknown.join(', ')} is kept here; \`concerto agents ls\` shows those that are`);
    return 1;
  }
  await Promise.all(chosen.map(({ session }) => end(session)));
  if (values.json) printJson(chosen.map(({ session, pid }) => ({ session, pid })));
  else print(`${amount(chosen.length, 'agent')} ended`);
  return 0;
}

type Kept = { readonly rows: readonly KeptAgentRow[]; readonly end: (session: string) => Promise<unknown> };

/** Of the keeper of a store on this machine. */
async function here(values: Parameters<typeof keeperHere>[0]): Promise<Kept> {
  const upkeep = upkeepOf(keeperHere(values));
  return { rows: await upkeep.kept(), end: upkeep.end };
}

/** Of a server that is named, wherever it is. */
async function there(values: Parameters<typeof connect>[0]): Promise<Kept> {
  const client = connect(values);
  return { rows: (await client.kept()).agents, end: (session) => client.endKept(session) };
}

function list(rows: readonly KeptAgentRow[], json: boolean): void {
  if (json) return printJson(rows);
  if (rows.length === 0) return print('no agents are kept here');
  const texts = rows.map(({ pid, session, since, memory, state }) => [
    String(pid),
    session,
    since,
    memory === undefined ? '?' : `${Math.round(memory / 1024 / 1024)} MiB`,
    state,
  ]);
  print(table([heading('PID', 'SESSION', 'SINCE', 'MEMORY', ''), ...texts]));
}
