import { readFileSync } from 'node:fs';
import { type ClientError, type ConcertoClient, concertoClient } from '@concerto/client';
import { UsageError } from '../arguments.ts';

export const connectionOptions = {
  url: { type: 'string', value: 'URL', help: 'server; default http://127.0.0.1:4242, or CONCERTO_URL' },
  token: { type: 'string', value: 'T', help: 'its token; default CONCERTO_TOKEN, or the one kept in .concerto/token' },
  json: { type: 'boolean', help: 'print JSON' },
} as const;

/** A client for the server that is meant: named, from the environment, or the one of this folder. */
export function connect(values: {
  readonly url: string | undefined;
  readonly token: string | undefined;
}): ConcertoClient {
  const url = values.url ?? process.env.CONCERTO_URL ?? `http://127.0.0.1:${process.env.PORT ?? '4242'}`;
  if (!/^https?:\/\/[^/]/i.test(url))
    throw new UsageError(`${JSON.stringify(url)} is not the URL of a server, such as http://127.0.0.1:4242`);
  const token = values.token ?? process.env.CONCERTO_TOKEN ?? tokenOfThisFolder();
  return concertoClient({ url, ...(token === undefined ? {} : { token }) });
}

/** What a person can do about it, if anything. */
export function hintFor(cause: ClientError): string {
  if (cause.code === 'unreachable')
    return '\nIs the server running? Start it with `concerto serve`, or name it with --url.';
  return cause.status === 401 ? '\nGive the token with --token or CONCERTO_TOKEN.' : '';
}

function tokenOfThisFolder(): string | undefined {
  try {
    return readFileSync('.concerto/token', 'utf8').trim();
  } catch {
    return undefined; // No server was started here: one without a token may be meant.
  }
}
