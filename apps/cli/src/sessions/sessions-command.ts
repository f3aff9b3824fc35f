import { nearest } from '@concerto/base';
import { ClientError, type ConcertoClient, type StartRequest } from '@concerto/client';
import type { DescribeSession } from '@concerto/protocol';
import { type CommandSpec, defineCommand, parseArguments, UsageError } from '../arguments.ts';
import { paint } from '../terminal/paint.ts';
import { print, printError, printJson } from '../terminal/print.ts';
import { attach } from './attach.ts';
import { readBudget } from './budget-words.ts';
import { addressOf, connect, connectionOptions, failureText } from './connect.ts';
import { type ForkOptions, fork, forkOptions } from './fork.ts';
import { idMeant } from './id-meant.ts';
import { lifecycle } from './lifecycle-verb.ts';
import { type ListOptions, listOptions, listSessions } from './list-sessions.ts';
import { replay } from './replay.ts';
import { answerIn } from './response-of.ts';
import { sessionRules } from './rule-file.ts';
import { type SettingsOptions, settingsIn, settingsOptions, settingsVerbs } from './settings.ts';
import { auditTable, messageTable, offerTable, openedTable, sentTo, sessionDetail } from './show.ts';
import { textOrStdin } from './text-or-stdin.ts';

type Verb = {
  readonly usage: string;
  readonly summary: string;
  readonly arguments: { readonly min: number; readonly max: number };
  run(client: ConcertoClient, args: readonly string[], options: Options): Promise<number>;
};

type Options = SettingsOptions &
  ListOptions &
  ForkOptions & {
    readonly url: string | undefined;
    readonly json: boolean;
    readonly title: string | undefined;
    readonly assistant: string | undefined;
    readonly program: string | undefined;
    readonly template: string | undefined;
    readonly budget: string | undefined;
    readonly rules: string | undefined;
    readonly since: string | undefined;
    readonly supervisor: string | undefined;
    readonly once: boolean;
    readonly wait: boolean;
    readonly attach: boolean;
    readonly all: boolean;
    readonly request: string | undefined;
  };

async function describing(
  client: ConcertoClient,
  id: string,
  change: DescribeSession,
  { json }: Pick<Options, 'json'>,
): Promise<number> {
  const session = await client.describe(id, change);
  if (json) printJson(session);
  else print(`${session.id} ${session.archived === true ? 'archived' : session.title}`);
  return 0;
}

const sending = (priority: 'queued' | 'immediate', summary: string): Verb => ({
  usage: 'ID TEXT|-',
  summary,
  arguments: { min: 2, max: 2 },
  run: async (client, [id = '', text = ''], { json }) => {
    const content = await textOrStdin(text);
    const message = await client.send(id, { content, priority });
    if (json) printJson(message);
    else print(`${message.id} ${message.inFlight === true ? 'in flight' : message.status}${sentTo(message)}`);
    return 0;
  },
});

const verbs: Readonly<Record<string, Verb>> = {
  ls: {
    usage: '[--status STATUS] [--parent ID] [--tree] [--archived] [--search WORDS]',
    summary: 'list sessions, newest first',
    arguments: { min: 0, max: 0 },
    run: (client, _args, options) => listSessions(client, options),
  },
  offers: {
    usage: '',
    summary: 'what can be started: agents, assistants, programs, templates',
    arguments: { min: 0, max: 0 },
    run: async (client, _args, { json }) => {
      const [{ agents }, { templates }] = await Promise.all([client.agents(), client.templates()]);
      if (json) printJson({ agents, templates });
      else print(offerTable(agents, templates));
      return 0;
    },
  },
  start: {
    usage:
      'AGENT PROMPT|- [--title T] [--budget B] [--supervisor PROGRAM] [--rules FILE] [--dir D] [--set N=V] [--once] [--attach]',
    summary: 'start a session; - reads the prompt from stdin; --assistant, --program or --template NAME for AGENT',
    arguments: { min: 0, max: 2 },
    run: async (client, args, options) => {
      const { json, title, budget, supervisor, once, wait, attach: follows } = options;
      const session = await client.start({
        ...(await startTarget(args, options)),
        ...(title === undefined ? {} : { title }),
        ...(budget === undefined ? {} : { budget: readBudget(budget) }),
        ...(once ? { once } : {}),
        ...(supervisor === undefined ? {} : { supervisor: supervisor === 'none' ? null : supervisor }),
        ...(options.rules === undefined ? {} : { rules: sessionRules(options.rules) }),
        ...(wait ? { ifFull: 'queue' as const } : {}),
        ...(options.dir === undefined ? {} : { workingDir: options.dir }),
        ...(options.set.length === 0 ? {} : { params: settingsIn(options.set) }),
      });
      if (follows) {
        // Where it can be found again, from here and in a browser.
        if (!json) print(paint('dim', `${session.id}  ${addressOf(options)}/sessions/${session.id}`));
        return await attach(client, session.id, { json });
      }
      if (json) printJson(session);
      else print(session.id);
      return 0;
    },
  },
  fork,
  show: {
    usage: 'ID',
    summary: 'one session in full',
    arguments: { min: 1, max: 1 },
    run: async (client, [id = ''], { json }) => {
      const session = await client.get(id);
      if (json) printJson(session);
      else print(sessionDetail(session));
      if (!json && (session.children ?? 0) > 0) print(openedTable(await client.list({ parent: session.id })));
      return 0;
    },
  },
  attach: {
    usage: 'ID',
    summary: 'follow live, answer its questions here; Ctrl-C leaves it running',
    arguments: { min: 1, max: 1 },
    run: (client, [id = ''], { json }) => attach(client, id, { json }),
  },
  send: sending('queued', 'queue a message for after the current turn'),
  steer: sending('immediate', 'say something into the running turn'),
  queue: {
    usage: 'ID [--all]',
    summary: 'what waits to be delivered; with --all what was delivered too',
    arguments: { min: 1, max: 1 },
    run: async (client, [id = ''], { json, all }) => {
      const list = await client.messages(id, { all });
      if (json) printJson(list);
      else print(messageTable([...(list.history ?? []), ...list.pending]));
      return 0;
    },
  },
  reorder: {
    usage: 'ID MESSAGE...',
    summary: 'put queued messages into this order',
    arguments: { min: 2, max: 101 },
    run: async (client, [id = '', ...ids], { json }) => {
      const { version } = await client.messages(id);
      await client.orderMessages(id, { ids, version });
      const list = await client.messages(id);
      if (json) printJson(list);
      else print(messageTable(list.pending));
      return 0;
    },
  },
  promote: onMessage('make a queued message immediate', (client, id, message) => client.promoteMessage(id, message)),
  unsend: onMessage('take a message back', (client, id, message) => client.cancelMessage(id, message)),
  resend: onMessage('send again what the agent may not have got', (client, id, message) =>
    client.settleMessage(id, message, 'resend'),
  ),
  edit: {
    usage: 'ID MESSAGE TEXT',
    summary: 'change the text of a message that waits',
    arguments: { min: 3, max: 3 },
    run: async (client, [id = '', message = '', text = ''], { json }) => {
      const changed = await client.editMessage(id, message, text);
      if (json) printJson(changed);
      else print(`${changed.id} ${changed.status}`);
      return 0;
    },
  },
  answer: {
    usage: 'ID TEXT|- [--request REQUEST]',
    summary: 'answer its oldest open question: text, the number or text of a choice, y or n for an approval',
    arguments: { min: 2, max: 2 },
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
  },
  supervise: {
    usage: 'ID PROGRAM|none',
    summary: 'let a program answer for it from now on, or none',
    arguments: { min: 2, max: 2 },
    run: async (client, [id = '', name = ''], { json }) => {
      const session = await client.supervise(id, name === 'none' ? null : name);
      if (json) printJson(session);
      else print(session.supervisor === undefined ? 'nobody supervises it' : `${session.supervisor} supervises it`);
      return 0;
    },
  },
  interrupt: lifecycle('interrupt', 'stop the current turn'),
  pause: lifecycle('pause', 'hold at the next boundary'),
  resume: lifecycle('resume', 'go on'),
  cancel: lifecycle('cancel', 'end the session'),
  rename: {
    usage: 'ID TITLE',
    summary: 'give it another title',
    arguments: { min: 2, max: 2 },
    run: (client, [id = '', title = ''], options) => describing(client, id, { title }, options),
  },
  archive: {
    usage: 'ID',
    summary: 'put it away: lists leave it out, `ls --archived` shows it',
    arguments: { min: 1, max: 1 },
    run: (client, [id = ''], options) => describing(client, id, { archived: true }, options),
  },
  unarchive: {
    usage: 'ID',
    summary: 'take it out again',
    arguments: { min: 1, max: 1 },
    run: (client, [id = ''], options) => describing(client, id, { archived: false }, options),
  },
  delete: {
    usage: 'ID',
    summary: 'delete one that is over, with all it holds and opened; nothing brings it back',
    arguments: { min: 1, max: 1 },
    run: async (client, [id = ''], { json }) => {
      await client.delete(id);
      if (json) printJson({ ok: true });
      else print(`${id} deleted`);
      return 0;
    },
  },
  ...settingsVerbs,
  audit: {
    usage: 'ID [MESSAGE]',
    summary: 'who asked what, what was confirmed, how long it took; of one message, its whole history',
    arguments: { min: 1, max: 2 },
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
  },
  replay: {
    usage: 'ID --rules FILE | --supervisor PROGRAM|FILE',
    summary: 'put what was asked before another policy; 1 if an answer differs; --since 7d instead of ID: all',
    arguments: { min: 0, max: 1 },
    run: (client, [id], options) => replay(client, id, options),
  },
};

export const subcommands = Object.keys(verbs);

export const spec = defineCommand({
  name: 'sessions',
  summary: 'Start, watch and steer sessions on a server.',
  usage: 'SUBCOMMAND [ARGUMENTS]',
  options: {
    ...connectionOptions,
    ...listOptions,
    assistant: { type: 'string', value: 'NAME', help: 'start: an assistant instead of an agent' },
    program: { type: 'string', value: 'NAME', help: 'start: a program instead of an agent' },
    template: { type: 'string', value: 'NAME', help: 'start: from a template' },
    supervisor: { type: 'string', value: 'PROGRAM', help: 'start, replay: the program that answers for it, or none' },
    title: { type: 'string', value: 'T', help: 'start: a title; default the first line of the prompt' },
    budget: { type: 'string', value: 'B', help: 'start: what it may use, such as tokens=100000,usd=0.5' },
    rules: { type: 'string', value: 'FILE', help: 'start: its own rules; replay: the policy (a manifest or JSON)' },
    since: { type: 'string', value: 'TIME', help: 'replay: all sessions of so long, such as 7d' },
    once: { type: 'boolean', help: 'start: the session ends with its first result' },
    wait: { type: 'boolean', help: 'start: wait for a slot when the pool is full' },
    attach: { type: 'boolean', help: 'start, fork: follow it at once' },
    ...settingsOptions,
    ...forkOptions,
    all: { type: 'boolean', help: 'queue: with what was delivered or taken back' },
    request: { type: 'string', value: 'REQUEST', help: 'answer: this one; default the oldest' },
  },
  minPositionals: 1,
  details: `An ID may be cut to its beginning; \`last\` is the session started last. TEXT may be - for standard input.\n\nsubcommands:\n${overview()}\n\n\`concerto sessions SUBCOMMAND --help\` shows its options.`,
});

/** A line each; the options are above, with whose they are. */
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
  if (name === undefined || verb === undefined) return spec;
  const { url, token, json, ...own } = spec.options;
  const taken = Object.entries(own).flatMap(([option, { help, ...rest }]) => {
    const [whose = '', ...words] = help.split(': ');
    return whose.split(', ').includes(name) ? [[option, { ...rest, help: words.join(': ') }] as const] : [];
  });
  return {
    name: `sessions ${name}`,
    summary: `${verb.summary.charAt(0).toUpperCase()}${verb.summary.slice(1)}.`,
    usage: verb.usage,
    options: { ...Object.fromEntries(taken), url, token, json },
  };
}

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  const [name = '', ...args] = positionals;
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (verb === undefined) throw new UsageError(unknownVerb(name));
  if (args.length < verb.arguments.min || args.length > verb.arguments.max) {
    throw new UsageError(`expected: concerto sessions ${name} ${verb.usage}`);
  }
  try {
    const client = connect(values);
    return await withMeantId(client, verb, args, (meant) => verb.run(client, meant, values));
  } catch (cause) {
    if (!(cause instanceof ClientError)) throw cause;
    printError(failureText(cause, values));
    return 1;
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
  if (given === 'last') return await act([await idMeant(client, given), ...rest]);
  try {
    return await act(args);
  } catch (cause) {
    if (!(cause instanceof ClientError) || cause.code !== 'no_such_session') throw cause;
    return await act([await idMeant(client, given), ...rest]);
  }
}

/** An agent is the first argument; anything else has its own option, and may bring its own prompt. */
async function startTarget(args: readonly string[], { assistant, program, template }: Options): Promise<StartRequest> {
  const named = Object.entries({ assistant, program, template }).filter(([, name]) => name !== undefined);
  if (named.length > 1) throw new UsageError('name one of --assistant, --program and --template, not several');
  const [kind, name] = named[0] ?? ['agent', args[0]];
  const [prompt, ...more] = named.length === 0 ? args.slice(1) : args;
  const needsPrompt = kind === 'agent' || kind === 'assistant';
  if (name === undefined || more.length > 0 || (needsPrompt && prompt === undefined)) {
    const usage = named.length === 0 ? 'AGENT PROMPT' : `--${kind} NAME ${needsPrompt ? 'PROMPT' : '[PROMPT]'}`;
    throw new UsageError(`expected: concerto sessions start ${usage}`);
  }
  return { [kind]: name, ...(prompt === undefined ? {} : { prompt: await textOrStdin(prompt) }) };
}

function onMessage(
  summary: string,
  act: (
    client: ConcertoClient,
    id: string,
    message: string,
  ) => Promise<{ readonly id: string; readonly status: string }>,
): Verb {
  return {
    usage: 'ID MESSAGE',
    summary,
    arguments: { min: 2, max: 2 },
    run: async (client, [id = '', message = ''], { json }) => {
      const changed = await act(client, id, message);
      if (json) printJson(changed);
      else print(`${changed.id} ${changed.status}`);
      return 0;
    },
  };
}

function unknownVerb(name: string): string {
  const meant = nearest(name, Object.keys(verbs));
  const hint = meant === undefined ? `; there are ${Object.keys(verbs).join(', ')}` : `; did you mean ${meant}?`;
  return `unknown subcommand ${JSON.stringify(name)}${hint}`;
}
