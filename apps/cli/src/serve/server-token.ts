import { UsageError } from '../arguments.ts';
import { keptToken } from '../state/project-state.ts';
import { isLoopback, type ServerTable } from './server-settings.ts';

/** Shorter ones can be guessed by whoever can try often enough. */
const lengthWanted = 16;

export type ServerToken = { readonly token: string; readonly source: 'kept' | 'given' };

export type TokenWish = {
  readonly flag: string | undefined;
  readonly settings: ServerTable | undefined;
  readonly host: string;
  readonly warn: (message: string) => void;
};

/** The token that callers must have: given, or the one that is kept for this folder. Throws for one that is none. */
export function serverToken({ flag, settings, host, warn }: TokenWish): ServerToken {
  const given = flag ?? process.env.CONCERTO_TOKEN ?? tokenInManifest(settings);
  if (given === undefined) return { token: keptToken(process.cwd()), source: 'kept' };
  if (given === '') throw new UsageError('the token must not be empty');
  if (given.length < lengthWanted) {
    const what = `the token has ${given.length} characters and can be guessed`;
    const help = `take ${lengthWanted} or more, or leave it out: one is made and kept, and \`concerto token\` prints it`;
    if (!isLoopback(host)) throw new UsageError(`${what}, and ${host} lets other machines try; ${help}`);
    warn(`${what} by whoever has an account on this machine; ${help}`);
  }
  return { token: given, source: 'given' };
}

/** The token of the variable that the manifest names; undefined when it names none. */
function tokenInManifest(server: ServerTable | undefined): string | undefined {
  const variable = server?.table.token_env;
  if (variable === undefined) return undefined;
  // HOME, PATH and USER are set everywhere, and everybody knows what they hold.
  if (!/TOKEN|SECRET|KEY|PASS/i.test(variable))
    throw new Error(`[server] token_env names ${variable}, which is no secret; name a variable such as CONCERTO_TOKEN`);
  const token = process.env[variable];
  if (token === undefined || token === '')
    throw new Error(`[server] token_env names ${variable}, which is not set; set it, or give --token`);
  return token;
}
