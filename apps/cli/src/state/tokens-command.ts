import { ClientError } from '@concerto/client';
import { openEventLog } from '@concerto/log';
import { PersonName, Role, type TokenAdded, type TokenRow } from '@concerto/protocol';
import { People } from '@concerto/server';
import { defineCommand, parseArguments, UsageError } from '../arguments.ts';
import { prepareOwnStore } from '../serve/own-store.ts';
import { defaultStore } from '../serve/server-settings.ts';
import { storeNamed } from '../serve/store-here.ts';
import { connect, connectionOptions, failureText, hasServer } from '../sessions/connect.ts';
import { print, printError, printJson, tell } from '../terminal/print.ts';
import { heading, table } from '../terminal/table.ts';

export const spec = defineCommand({
  name: 'tokens',
  summary: 'Show who else may call the server, let somebody in, or shut them out.',
  usage: 'add NAME --role ROLE | ls | revoke NAME',
  options: {
    role: {
      type: 'string',
      value: 'ROLE',
      help: 'observer (reads), agent (starts and steers, never answers), member (answers too) or owner (all)',
    },
    ...connectionOptions,
    store: {
      type: 'string',
      value: 'URL',
      help: `the store, when no server runs; default ${defaultStore}, CONCERTO_STORE or the manifest's`,
    },
    config: { type: 'string', value: 'FILE', help: 'manifest; default ./Concerto.toml' },
  },
  minPositionals: 1,
  maxPositionals: 2,
  details: [
    '`add` prints the token alone on the last line, once: the store has only its digest. Whoever holds it opens',
    'the page with ?token=TOKEN, or sets CONCERTO_TOKEN. What they do is in the log under their name.',
    'For a program or an agent take the role `agent`: with it nobody answers in the place of people.',
    '`revoke` counts at once, also for pages and streams that are open.',
    'The token of the server itself (`concerto token`) is `owner` and is none of these.',
  ].join('\n'),
});

type Values = ReturnType<typeof parseArguments<(typeof spec)['options']>>['values'];

/** Where tokens are kept: asked of a server that runs, or read in the store. */
type TokenKeeper = {
  list(): Promise<readonly TokenRow[]>;
  add(wanted: { readonly name: string; readonly role: Role }): Promise<TokenAdded>;
  revoke(name: string): Promise<void>;
};

export const subcommands = ['add', 'ls', 'revoke'];

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  const act = actionOf(values, positionals);
  try {
    if (hasServer(values)) await act(serversTokens(values));
    else await inStore(values, act);
    return 0;
  } catch (cause) {
    if (!(cause instanceof ClientError)) throw cause;
    printError(failureText(cause, values));
    return 1;
  }
}

function actionOf(values: Values, positionals: readonly string[]): (tokens: TokenKeeper) => Promise<void> {
  const [verb, name] = positionals;
  if (verb === 'ls' && name === undefined) return async (tokens) => show(await tokens.list(), values.json);
  if (verb === 'add' || verb === 'revoke') {
    const parsed = PersonName.safeParse(name);
    if (!parsed.success)
      throw new UsageError(name === undefined ? 'name whose token it is' : 'a name has 1 to 64 of A-Z a-z 0-9 _ -');
    if (verb === 'add') {
      const role = roleOf(values.role);
      return async (tokens) => tellOnce(await tokens.add({ name: parsed.data, role }), values.json);
    }
    return async (tokens) => {
      await tokens.revoke(parsed.data);
      if (values.json) printJson({ ok: true });
      else print(`${parsed.data} may no longer call`);
    };
  }
  throw new UsageError('`concerto tokens add NAME --role ROLE`, `concerto tokens ls` or `concerto tokens revoke NAME`');
}

function roleOf(text: string | undefined): Role {
  const parsed = Role.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new UsageError(`say as what with --role: ${Role.options.join(', ')}`);
}

function serversTokens(values: Values): TokenKeeper {
  const client = connect(values);
  return {
    list: async () => (await client.tokens()).tokens,
    add: (wanted) => client.addToken(wanted),
    revoke: (name) => client.revokeToken(name),
  };
}

/** Whoever can write the store is its owner. */
async function inStore(values: Values, act: (tokens: TokenKeeper) => Promise<void>): Promise<void> {
  const log = await openEventLog(storeMeant(values), { now: Date.now });
  try {
    const people = await People.open(log);
    await act({
      list: () => Promise.resolve(people.list()),
      add: async (wanted) => {
        const added = await people.add(wanted, 'user:owner');
        if (added.ok) return added.value;
        throw new Error(added.error.message);
      },
      revoke: async (name) => {
        if (!(await people.revoke(name, 'user:owner'))) throw new Error(`nobody has a token as ${name}`);
      },
    });
    people.close();
  } finally {
    await log.close();
  }
}

function storeMeant(values: Values): string {
  const store = storeNamed(values);
  if (store === 'memory:')
    throw new UsageError('a store in memory has tokens only while its server runs; name that with --url');
  if (store === undefined) prepareOwnStore(process.cwd());
  return store ?? defaultStore;
}

function show(tokens: readonly TokenRow[], asJson: boolean): void {
  if (asJson) return printJson(tokens);
  if (tokens.length === 0) return print('nobody but the holder of the server’s own token (`concerto token`)');
  const rows = tokens.map(({ name, role, addedAt, addedBy }) => [name, role, addedAt, addedBy]);
  print(table([heading('NAME', 'ROLE', 'SINCE', 'ADDED BY'), ...rows]));
}

function tellOnce(added: TokenAdded, asJson: boolean): void {
  if (asJson) return printJson(added);
  const article = added.role === 'member' ? 'a' : 'an';
  tell(`${added.name} may call as ${article} ${added.role}; the token is shown this once:\n`);
  print(added.token);
}
