import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Json } from '@concerto/base';
import { isPrivateHost, publicLookup } from '../network/private-address.ts';
import type { ProgramRequest } from './machine/machine.ts';
import { WorldFailure } from './program-world.ts';

const TIMEOUT_MS = 60_000;
const LARGEST_BODY_BYTES = 64 * 1024 * 1024;
const MOST_REDIRECTS = 20;

type HttpRequest = Extract<ProgramRequest, { kind: 'http' }>;

/** What is sent, which a redirect may change. */
interface Sent {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | null;
}

/** Not with `fetch`, which refuses ports that browsers keep away from: a program's servers may listen there. */
export async function performHttp(
  request: HttpRequest,
  cancelled: AbortSignal,
  listedHosts: readonly string[] = [],
): Promise<Json> {
  const late = AbortSignal.timeout(TIMEOUT_MS);
  const signal = AbortSignal.any([cancelled, late]);
  try {
    const mayReach = request.publicOnly === true ? listedHosts : undefined;
    const response = await follow(firstRequest(request), signal, mayReach);
    const body = await readBody(response);
    return { status: response.statusCode ?? 0, body, headers: plainHeaders(response.headers) };
  } catch (cause) {
    if (cause instanceof WorldFailure) throw cause;
    // Asking here also keeps the timeout: `any` holds it weakly, and one that is collected never comes.
    const why = late.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : reason(cause);
    throw new WorldFailure('http', `${request.method} ${request.url}: ${why}`, { cause });
  }
}

function firstRequest(request: HttpRequest): Sent {
  const headers = new Headers(request.headers);
  if (request.body !== null && !headers.has('content-type')) headers.set('content-type', 'application/json');
  if (!headers.has('accept')) headers.set('accept', '*/*');
  if (!headers.has('accept-encoding')) headers.set('accept-encoding', 'gzip, deflate, br');
  if (!headers.has('user-agent')) headers.set('user-agent', 'concerto');
  const url = new URL(request.url);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Error(`cannot ask \`${url.protocol}\``);
  return { url, method: request.method.toUpperCase(), headers, body: request.body };
}

/** `mayReach`: private hosts that may be asked all the same; all where it is undefined. */
async function follow(
  first: Sent,
  signal: AbortSignal,
  mayReach: readonly string[] | undefined,
): Promise<IncomingMessage> {
  let sent = first;
  for (let redirects = 0; ; redirects++) {
    const response = await send(sent, signal, mayReach);
    const next = redirected(sent, response);
    if (next === undefined) return response;
    response.destroy();
    if (redirects === MOST_REDIRECTS) throw new Error(`redirected more than ${MOST_REDIRECTS} times`);
    sent = next;
  }
}

function send(
  { url, method, headers, body }: Sent,
  signal: AbortSignal,
  mayReach: readonly string[] | undefined,
): Promise<IncomingMessage> {
  const isGuarded = mayReach !== undefined && !mayReach.includes(url.hostname) && !mayReach.includes(url.host);
  if (isGuarded && isPrivateHost(url)) return Promise.reject(privateHost(url.hostname));
  return new Promise((resolve, reject) => {
    const ask = url.protocol === 'https:' ? requestHttps : requestHttp;
    const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const outgoing = ask(url, {
      method,
      headers: { ...Object.fromEntries(headers), ...length },
      signal,
      ...(isGuarded ? { lookup: publicLookup(privateHost), agent: false } : {}),
    });
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
    outgoing.end(body ?? undefined);
  });
}

function privateHost(host: string): WorldFailure {
  const why = `${host}: is a private or link-local address; CONCERTO_HTTP_HOSTS lists those that are meant`;
  return new WorldFailure('http', why);
}

/** What the answer says to ask instead; undefined when it is the answer. */
function redirected(sent: Sent, { statusCode = 0, headers: answered }: IncomingMessage): Sent | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode) || answered.location === undefined) return undefined;
  const url = new URL(answered.location, sent.url);
  const headers = new Headers(sent.headers);
  // Secrets are for the server they were meant for.
  if (url.origin !== sent.url.origin) for (const name of ['authorization', 'cookie']) headers.delete(name);
  const isGet = statusCode === 303 ? sent.method !== 'HEAD' : statusCode < 303 && sent.method === 'POST';
  if (!isGet) return { ...sent, url, headers };
  headers.delete('content-type');
  return { url, method: 'GET', headers, body: null };
}

const DECODERS: ReadonlyMap<string, () => NodeJS.ReadWriteStream> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

async function readBody(response: IncomingMessage): Promise<string> {
  const decoder = DECODERS.get(response.headers['content-encoding']?.toLowerCase() ?? '')?.();
  // A failure of either end is thrown by the loop that reads.
  const source = decoder === undefined ? response : pipeline(response, decoder, () => {});
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk);
    size += bytes.byteLength;
    if (size > LARGEST_BODY_BYTES) {
      throw new WorldFailure('http', `the answer has more than ${LARGEST_BODY_BYTES} bytes`);
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

function reason(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // Of a host with several addresses each has failed.
  const first = cause instanceof AggregateError ? cause.errors[0] : cause.cause;
  return cause.message === '' && first instanceof Error ? first.message : cause.message;
}
