import type { ListedAgent } from '@concerto/keeper';
import { defineCommand, parseArguments, UsageError } from '../arguments.ts';
import { print, printError, printJson } from '../terminal/print.ts';
import { endAll, keeperHere, keeperOptions, memoryOf, sessionOf } from './kept-here.ts';

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

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  const [verb, ...names] = positionals;
  const keeper = keeperHere(values);
  if (verb === 'ls' && names.length === 0) {
    await list((await keeper?.list()) ?? [], values.json);
    return 0;
  }
  if (verb !== 'end') throw new UsageError('`concerto agents ls` or `concerto agents end SESSION...`');
  if (values.all === names.length > 0) throw new UsageError('name sessions or pids, or give --all');
  if (values.all) {
    print(ended(keeper === undefined ? 0 : await endAll(keeper)));
    return 0;
  }
  const agents = (await keeper?.list()) ?? [];
  const chosen = names.map((name) => agents.filter((agent) => sessionOf(agent) === name || String(agent.pid) === name));
  const unknown = names.filter((_, index) => chosen[index]?.length === 0);
  if (unknown.length > 0) {
    printError(`no agent of ${unknown.join(', ')} is kept here; \`concerto agents ls\` shows those that are`);
    return 1;
  }
  const all = chosen.flat();
  await Promise.all(all.map(({ agent }) => keeper?.end(agent) ?? Promise.resolve(false)));
  print(ended(all.length));
  return 0;
}

function ended(count: number): string {
  return count === 1 ? '1 agent ended' : `${count} agents ended`;
}

function stateOf({ running, owned }: ListedAgent): string {
  if (!running) return 'ended, its last words wait';
  return owned ? 'owned' : 'waits for a server';
}

async function list(agents: readonly ListedAgent[], json: boolean): Promise<void> {
  const rows = await Promise.all(
    agents.map(async (agent) => ({
      pid: agent.pid,
      session: sessionOf(agent),
      since: new Date(agent.since).toISOString(),
      memory: agent.running ? await memoryOf(agent) : 0,
      state: stateOf(agent),
      ...(agent.endsAt === undefined ? {} : { endsAt: new Date(agent.endsAt).toISOString() }),
    })),
  );
  if (json) return printJson(rows);
  if (rows.length === 0) return print('no agents are kept here');
  const texts = rows.map(({ pid, session, since, memory, state }) => [
    String(pid),
    session,
    since,
    memory === undefined ? '?' : `${Math.round(memory / 1024 / 1024)} MiB`,
    state,
  ]);
  const table = [['PID', 'SESSION', 'SINCE', 'MEMORY', ''], ...texts];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  for (const row of table)
    print(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}
