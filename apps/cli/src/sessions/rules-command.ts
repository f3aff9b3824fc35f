import { existsSync, readFileSync } from 'node:fs';
import { harmless } from '@concerto/base';
import { type Rule, type RuleRow, type RulesTried, TriedRequest } from '@concerto/protocol';
import { defineCommand, parseArguments, UsageError } from '../arguments.ts';
import { defaultStore } from '../serve/server-settings.ts';
import { print, printJson, tell } from '../terminal/print.ts';
import { table } from '../terminal/table.ts';
import { connect, connectionOptions, hasServer, orHint } from './connect.ts';
import { rulesOfStore } from './rules-of-store.ts';

export const spec = defineCommand({
  name: 'rules',
  summary: 'Show what is answered without a person, or which rule decides a request.',
  usage: '[ls | try REQUEST.json --agent NAME]',
  options: {
    ...connectionOptions,
    agent: { type: 'string', value: 'NAME', help: 'whose request it is, for `try`' },
    store: {
      type: 'string',
      value: 'URL',
      help: `the store, when no server runs; default ${defaultStore}, CONCERTO_STORE or the manifest's`,
    },
    config: { type: 'string', value: 'FILE', help: 'manifest; default ./Concerto.toml' },
  },
  maxPositionals: 2,
});

/** Whom rules leave it to. */
const whoElse = 'the session’s supervisor answers if it has one, else a person';

export const subcommands = ['ls', 'try'];

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  const [verb, file] = positionals;
  if (verb !== undefined && verb !== 'ls' && verb !== 'try')
    throw new UsageError(`there is no \`rules ${verb}\`; there are ls and try`);
  if (verb === 'try' && file === undefined) throw new UsageError('name the file with the request, or `-` for stdin');
  const wanted = verb === 'try' && file !== undefined ? readRequest(file, values.agent) : undefined;
  const act = async (book: Rules): Promise<number> => {
    if (wanted === undefined) show(await book.list(), values.json);
    else await tryOne(book, wanted, values.json);
    return 0;
  };
  return await orHint(values, () => (hasServer(values) ? act(serversRules(values)) : rulesOfStore(values, act)));
}

type Tried = { readonly agent: string; readonly request: TriedRequest };

/** Asked of a server that runs, or read in the manifest and the store. */
export type Rules = {
  readonly list: () => Promise<readonly RuleRow[]>;
  readonly try: (wanted: Tried) => Promise<RulesTried>;
  /** What can be started. */
  readonly names: () => Promise<readonly string[]>;
};

function serversRules(values: Parameters<typeof connect>[0]): Rules {
  const client = connect(values);
  return {
    list: async () => (await client.rules()).rules,
    try: (wanted) => client.tryRules(wanted),
    names: async () => (await client.agents()).agents.map(({ name }) => name),
  };
}

async function tryOne(book: Rules, wanted: Tried, asJson: boolean): Promise<void> {
  const tried = await book.try(wanted);
  // An agent that a program names for itself is none of these, so it is no error.
  if (!(await book.names()).includes(wanted.agent))
    tell(`nothing here is called ${JSON.stringify(wanted.agent)}; \`concerto sessions offers\` lists what is\n`);
  if (asJson) printJson(tried);
  else showTried(tried);
}

function show(rules: readonly RuleRow[], asJson: boolean): void {
  if (asJson) printJson(rules);
  else showRules(rules);
}

function showTried({ decision, rule, reason, risk, unparsed, others }: RulesTried): void {
  print(`${decision}${rule === undefined ? ` (no rule matches: ${whoElse})` : ` by ${rule}`}`);
  if (reason !== undefined) print(`reason: ${harmless(reason)}`);
  print(`risk: ${risk}`);
  if (unparsed !== undefined) print(`no rule that leaves any freedom allows it: ${unparsed}`);
  for (const other of others) print(`also matches: ${other.rule} (${harmless(other.decision)})`);
}

/** The request alone, or with the agent that asks. */
function readRequest(file: string, agent: string | undefined): Tried {
  if (file !== '-' && !existsSync(file)) throw new UsageError(`no such file: ${file}`);
  const json: unknown = parseJson(readFileSync(file === '-' ? 0 : file, 'utf8'), file);
  const parsed = TriedRequest.safeParse(json);
  if (!parsed.success)
    throw new UsageError(`${file} is not a request: ${parsed.error.issues[0]?.message ?? 'no object'}`);
  const { agent: named, request, ...fields } = parsed.data;
  const inner = TriedRequest.safeParse(request);
  const whose = agent ?? (typeof named === 'string' ? named : undefined);
  if (whose === undefined) throw new UsageError('say whose request it is: `--agent NAME`');
  return { agent: whose, request: inner.success ? inner.data : fields };
}

function parseJson(text: string, file: string): unknown {
  try {
    // Without the mark that says how it is written.
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new UsageError(`${file === '-' ? 'standard input' : file} is not JSON`);
  }
}

function showRules(rules: readonly RuleRow[]): void {
  if (rules.length === 0) return print(`no rules: ${whoElse}`);
  print(table(rules.map((rule) => [rule.id, rule.decide, conditions(rule), rule.warning ?? ''])));
}

const keys = ['agent', 'template', 'tool', 'server', 'kind', 'command', 'path', 'risk', 'text'] as const;

function conditions(rule: Rule): string {
  const said = keys.flatMap((key) => {
    const value = rule[key];
    return value === undefined ? [] : [`${key} ${Array.isArray(value) ? value.join(' | ') : String(value)}`];
  });
  return said.length === 0 ? 'everything' : said.join(', ');
}
