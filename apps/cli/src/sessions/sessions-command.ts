import { nearest } from '@concerto/base';
import { ClientError, type ConcertoClient } from '@concerto/client';
import { type CommandSpec, defineCommand, parseArguments, UsageError } from '../arguments.ts';
import { print, printError, printJson } from '../terminal/print.ts';
import { attach } from './attach.ts';
import { connect, connectionOptions, orHint } from './connect.ts';
import { fork } from './fork.ts';
import { idMeant } from './id-meant.ts';
import { keepingVerbs } from './keeping-verbs.ts';
import { lifecycle } from './lifecycle-verb.ts';
import { list } from './list-sessions.ts';
import { messageVerbs } from './message-verbs.ts';
import { replay } from './replay.ts';
import { answerIn } from './response-of.ts';
import { settingsVerbs } from './settings.ts';
import { auditTable, offerTable, openedTable, sessionDetail } from './show.ts';
import { start } from './start.ts';
import { textOrStdin } from './text-or-stdin.ts';
import { defineVerb, type Verb, verbSpec } from './verb.ts';

const verbs: Readonly<Record<string, Verb>> = {
  ls: list,
  offers: defineVerb({
    usage: '',
    summary: 'what can be started: agents, assistants, programs, templates',
    arguments: { min: 0, max: 0 },
    options: {},
    run: async (client, _args, { json }) => {
      const [{ agents }, { templates }] = await Promise.all([client.agents(), client.templates()]);
      if (json) printJson({ agents, templates });
      else print(offerTable(agents, templates));
      return 0;
    },
  }),
  start,
  fork,
  show: defineVerb({
    usage: 'ID',
    summary: 'one session in full',
    arguments: { min: 1, max: 1 },
    options: {},
    run: async (client, [id = ''], { json }) => {
      const session = await client.get(id);
      if (json) printJson(session);
      else print(sessionDetail(session));
      if (!json && (session.children ?? 0) > 0) print(openedTable(await client.list({ parent: session.id })));
      return 0;
    },
  }),
  attach: defineVerb({
    usage: 'ID',
    summary: 'follow live, answer its questions here; Ctrl-C leaves it running',
    arguments: { min: 1, max: 1 },
    options: {},
    run: (client, [id = ''], { json }) => attach(client, id, { json }),
  }),
  ...messageVerbs,
  answer: defineVerb({
    usage: 'ID TEXT|- [--request REQUEST]',
    summary: 'answer its oldest open question: text, the number or text of a choice, y or n for an approval',
    arguments: { min: 2, max: 2 },
    options: { request: { type: 'string', value: 'REQUEST', help: 'this one; default the oldest' } },
    run: async (client, [id = '', text = ''], { json, request }) => {
      const { requests } = await client.requests(id);
      const asked = requests.find(({ requestId }) => request === undefined || requestId === request);
      if (asked === undefined) {
        const what = request === undefined ? 'nothing waits for an answer' : `no request ${request} is open`;
        printError(what);
        return 1;
      }
      const { response, remember } = answerIn(asked.event, await textOrStdin(text));
      await client.answer(id, asked.requestId, response, remember);
      if (json) printJson({ requestId: asked.requestId });
      else print(`${asked.requestId} answered`);
      return 0;
    },
  }),
  supervise: defineVerb({
    usage: 'ID PROGRAM|none',
    summary: 'let a program answer for it from now on, or none',
    arguments: { min: 2, max: 2 },
    options: {},
    run: async (client, [id = '', name = ''], { json }) => {
      const session = await client.supervise(id, name === 'none' ? null : name);
      if (json) printJson(session);
      else print(session.supervisor === undefined ? 'nobody supervises it' : `${session.supervisor} supervises it`);
      return 0;
    },
  }),
  interrupt: lifecycle('interrupt', 'stop the current turn'),
  pause: lifecycle('pause', 'hold at the next boundary'),
  resume: lifecycle('resume', 'go on'),
  cancel: lifecycle('cancel', 'end the session'),
  ...keepingVerbs,
  ...settingsVerbs,
  audit: defineVerb({
    usage: 'ID [MESSAGE]',
    summary: 'who asked what, what was confirmed, how long it took; of one message, its whole history',
    arguments: { min: 1, max: 2 },
    options: {},
    run: async (client, [id = '', message], { json }) => {
      const { entries } = await client.audit(id, message === undefined ? {} : { message });
      if (message !== undefined && entries.length === 0) {
        printError(`there is no message ${message}`);
        return 1;
      }
      if (json) printJson(entries);
      else print(auditTable(entries));
      return 0;
    },
  }),
  replay,
};

export const subcommands = Object.keys(verbs);

/** What any of them takes; which of it each does is in its own. */
const anyOption = {
  ...Object.fromEntries(Object.values(verbs).flatMap(({ options }) => Object.entries(options))),
  ...connectionOptions,
};

export const spec = defineCommand({
  name: 'sessions',
  summary: 'Start, watch and steer sessions on a server.',
  usage: 'SUBCOMMAND [ARGUMENTS]',
  options: connectionOptions,
  minPositionals: 1,
  details: `An ID may be cut to its beginning; \`last\` is the session started last. TEXT may be - for standard input.\n\nsubcommands:\n${overview()}\n\n\`concerto sessions SUBCOMMAND --help\` shows its options.`,
});

/** A line each; each shows its options by itself. */
function overview(): string {
  const rows = Object.entries(verbs).map(([name, { usage, summary }]) => ({
    call: `${name} ${usage.replace(/ ?\[?--.*$/, '')}`.trimEnd(),
    summary,
  }));
  const width = Math.max(...rows.map(({ call }) => call.length));
  return rows.map(({ call, summary }) => `  ${call.padEnd(width)}  ${summary}`).join('\n');
}

/** The help of one subcommand, where one is named. */
export function specOf(argv: readonly string[]): CommandSpec {
  const name = argv.find((word) => Object.hasOwn(verbs, word));
  const verb = name === undefined ? undefined : verbs[name];
  return name === undefined || verb === undefined ? spec : verbSpec(name, verb);
}

export async function run(argv: string[]): Promise<number> {
  // Options may stand before the subcommand.
  const { values, positionals } = parseArguments({ ...spec, options: anyOption }, argv);
  const [name = ''] = positionals;
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (verb === undefined) throw new UsageError(unknownVerb(name));
  refuseOthers(name, verb, values);
  const { args, act } = verb.read(name, argv);
  return await orHint(values, async () => {
    const client = connect(values);
    return await withMeantId(client, verb, args, (meant) => act(client, meant));
  });
}

/** An option that only another subcommand takes would do nothing here. */
function refuseOthers(name: string, { options }: Verb, values: Readonly<Record<string, unknown>>): void {
  for (const [option, value] of Object.entries(values)) {
    const isGiven = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
    if (!isGiven || Object.hasOwn(options, option) || Object.hasOwn(connectionOptions, option)) continue;
    const whose = Object.entries(verbs).flatMap(([other, verb]) =>
      Object.hasOwn(verb.options, option) ? [other] : [],
    );
    throw new UsageError(`\`sessions ${name}\` takes no --${option}; it is an option of ${whose.join(' and ')}`);
  }
}

/** `last`, or the beginning of an id, for those that take one. An id in full costs no further call. */
async function withMeantId(
  client: ConcertoClient,
  { usage }: Verb,
  args: readonly string[],
  act: (args: readonly string[]) => Promise<number>,
): Promise<number> {
  const [given, ...rest] = args;
  if (given === undefined || !usage.startsWith('ID')) return await act(args);
  if (given.trim() === '') throw new UsageError('the ID is empty; `concerto sessions ls` lists them');
  if (given === 'last') return await act([await idMeant(client, given), ...rest]);
  try {
    return await act(args);
  } catch (cause) {
    if (!(cause instanceof ClientError) || cause.code !== 'no_such_session') throw cause;
    return await act([await idMeant(client, given), ...rest]);
  }
}

/** About sessions too, but commands of their own. */
const besides = ['watch', 'rules', 'pool'];

function unknownVerb(name: string): string {
  if (besides.includes(name)) return `unknown subcommand ${JSON.stringify(name)}; did you mean \`concerto ${name}\`?`;
  const meant = nearest(name, Object.keys(verbs));
  const hint = meant === undefined ? `; there are ${Object.keys(verbs).join(', ')}` : `; did you mean ${meant}?`;
  return `unknown subcommand ${JSON.stringify(name)}${hint}`;
}
