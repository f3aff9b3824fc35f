import { existsSync, readFileSync } from 'node:fs';
import { harmless } from '@concerto/base';
import { ClientError } from '@concerto/client';
import { type Rule, type RuleRow, type RulesTried, TriedRequest } from '@concerto/protocol';
import { defineCommand, parseArguments, UsageError } from '../arguments.ts';
import { print, printError, printJson, tell } from '../terminal/print.ts';
import { table } from '../terminal/table.ts';
import { connect, connectionOptions, failureText } from './connect.ts';

export const spec = defineCommand({
  name: 'rules',
  summary: 'Show what is answered without a person, or which rule decides a request.',
  usage: '[ls | try REQUEST.json --agent NAME]',
  options: {
    ...connectionOptions,
    agent: { type: 'string', value: 'NAME', help: 'whose request it is, for `try`' },
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
  try {
    const client = connect(values);
    if (verb !== 'try' || file === undefined) {
      const { rules } = await client.rules();
      if (values.json) printJson(rules);
      else showRules(rules);
      return 0;
    }
    const wanted = readRequest(file, values.agent);
    const tried = await client.tryRules(wanted);
    // An agent that a program names for itself is none of these, so it is no error.
    if (!(await client.agents()).agents.some(({ name }) => name === wanted.agent))
      tell(`nothing here is called ${JSON.stringify(wanted.agent)}; \`concerto sessions offers\` lists what is\n`);
    if (values.json) printJson(tried);
    else showTried(tried);
    return 0;
  } catch (cause) {
    if (!(cause instanceof ClientError)) throw cause;
    printError(failureText(cause, values));
    return 1;
  }
}

function showTried({ decision, rule, reason, risk, unparsed, others }: RulesTried): void {
  print(`${decision}${rule === undefined ? ` (no rule matches: ${whoElse})` : ` by ${rule}`}`);
  if (reason !== undefined) print(`reason: ${harmless(reason)}`);
  print(`risk: ${risk}`);
  if (unparsed !== undefined) print(`no rule that leaves any freedom allows it: ${unparsed}`);
  for (const other of others) print(`also matches: ${other.rule} (${harmless(other.decision)})`);
}

/** The request alone, or with the agent that asks. */
function readRequest(file: string, agent: string | undefined): { agent: string; request: TriedRequest } {
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
