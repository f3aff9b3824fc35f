import { harmless } from '@concerto/base';
import { ClientError, type ConcertoClient, concertoClient } from '@concerto/client';
import * as z from 'zod';
import { UsageError } from '../arguments.ts';
import { keptToken, runningServer, serverAt } from '../state/project-state.ts';
import { printError } from '../terminal/print.ts';

export const connectionOptions = {
  url: { type: 'string', value: 'URL', help: 'server; default CONCERTO_URL, or the one of this folder' },
  token: { type: 'string', value: 'T', help: 'its token; default CONCERTO_TOKEN, or the one kept for this folder' },
  json: { type: 'boolean', help: 'print JSON' },
} as const;

/** A client for the server that is meant: named, from the environment, or the one of this folder. */
export function connect(values: {
  readonly url: string | undefined;
  readonly token: string | undefined;
}): ConcertoClient {
  const url = addressOf(values);
  if (!/^https?:\/\/[^/]/i.test(url))
    throw new UsageError(`${JSON.stringify(url)} is not the URL of a server, such as http://127.0.0.1:4242`);
  const token = values.token ?? process.env.CONCERTO_TOKEN ?? tokenKeptFor(url);
  return concertoClient({ url, ...(token === undefined ? {} : { token }) });
}

type Named = { readonly url: string | undefined; readonly token?: string | undefined };

/** What a server refuses, or that it is not there, is told with what to do about it; exit code 1. */
export async function orHint(values: Named, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof ClientError)) throw cause;
    printError(failureText(cause, values));
    return 1;
  }
}

/** Why a call failed, and what a person can do about it, if anything. */
export function failureText(cause: ClientError, values: Named): string {
  const url = addressOf(values);
  if (cause.code === 'unreachable')
    return `no server answers at ${url}\nStart one with \`concerto serve\`, or name another with --url.`;
  if (cause.status === 401) return `the server at ${url} ${tokenText(values, url)}`;
  if (cause.code === 'pool_full')
    return `${cause.message}\nOn this command line: --wait waits for a slot, \`concerto pool MAX\` changes the maximum.`;
  return cause.code === 'which_child' ? `${cause.message}${childrenText(cause)}` : cause.message;
}

/** What is wrong with the token, and where the right one is. */
function tokenText(values: Named, url: string): string {
  const folder = serverAt(url)?.project;
  const where = `the folder of that server${folder === undefined ? '' : ` (${folder})`}`;
  const given = values.token === undefined ? 'CONCERTO_TOKEN' : '--token';
  if ((values.token ?? process.env.CONCERTO_TOKEN) !== undefined)
    return `does not know the token of ${given}\n\`concerto token\` in ${where} prints the one that it takes.`;
  return `asks for a token, and none is kept for this folder\nRun this in ${where}, or give its token with --token or CONCERTO_TOKEN.`;
}

const Busy = z.array(z.object({ id: z.string(), agent: z.string(), status: z.string() }));

/** The agents of a program among which one has to choose. */
export function childrenText({ problem }: ClientError): string {
  const busy = Busy.safeParse(problem?.children);
  const lines = busy.success ? busy.data.map(({ id, agent, status }) => `\n  ${id}  ${agent}  ${status}`) : [];
  return harmless(lines.join(''));
}

export function addressOf({ url }: { readonly url: string | undefined }): string {
  const { CONCERTO_URL, PORT } = process.env;
  if (url !== undefined || CONCERTO_URL !== undefined) return (url ?? CONCERTO_URL ?? '').replace(/\/+$/, '');
  if (PORT !== undefined) return `http://127.0.0.1:${PORT}`;
  return runningServer(process.cwd())?.server.url ?? 'http://127.0.0.1:4242';
}

/** Whether a server is named, or one runs for this folder. */
export function hasServer({ url }: { readonly url: string | undefined }): boolean {
  return url !== undefined || process.env.CONCERTO_URL !== undefined || runningServer(process.cwd()) !== undefined;
}

/** A kept token goes to the server that it was made for, and to nobody who took its port. */
function tokenKeptFor(url: string): string | undefined {
  const running = runningServer(process.cwd());
  if (running?.server.token !== 'kept' || !isSameOrigin(running.server.url, url)) return undefined;
  return keptToken(running.project);
}

function isSameOrigin(one: string, other: string): boolean {
  return URL.canParse(other) && new URL(one).origin === new URL(other.replace('//localhost', '//127.0.0.1')).origin;
}
