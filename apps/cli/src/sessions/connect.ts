import { harmless } from '@concerto/base';
import { ClientError, type ConcertoClient, concertoClient } from '@concerto/client';
import * as z from 'zod';
import { UsageError } from '../arguments.ts';
import { keptToken, runningServer } from '../state/project-state.ts';
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

/** What a server refuses, or that it is not there, is told with what to do about it; exit code 1. */
export async function orHint(
  values: { readonly url: string | undefined },
  work: () => Promise<number>,
): Promise<number> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof ClientError)) throw cause;
    printError(`${cause.message}${hintFor(cause, values)}`);
    return 1;
  }
}

/** What a person can do about it, if anything. */
export function hintFor(cause: ClientError, values: { readonly url: string | undefined }): string {
  if (cause.code === 'unreachable')
    return `\nIs a server running at ${addressOf(values)}? Start one with \`concerto serve\`, or name it with --url.`;
  if (cause.code === 'pool_full')
    return '\nOn this command line: --wait waits for a slot, `concerto pool MAX` changes the maximum.';
  if (cause.code === 'which_child') return childrenText(cause);
  return cause.status === 401
    ? '\nRun this in the folder of the server, or give its token with --token or CONCERTO_TOKEN.'
    : '';
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
