import type { Context, MiddlewareHandler } from 'hono';
import { noticePage } from './notice-page.ts';
import type { OpenConnections } from './open-connections.ts';
import { ProblemError } from './problem.ts';
import type { OnNode } from './server-context.ts';
import type { Guard, WhoCalls } from './who-calls.ts';
import type { WrongTokens } from './wrong-tokens.ts';

/** Finds out who calls, and what is counted about callers who have shown no token. */
export type Doors = {
  readonly whoCalls: WhoCalls;
  readonly wrongTokens: WrongTokens;
  readonly connections: OpenConnections;
};

const loopbackHosts = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * A page on another site can make a browser call us (its requests reach loopback, and DNS can be pointed here), so
 * the name we were called by and the page that called are checked before anything else.
 */
export function checkCaller(guard: Guard): MiddlewareHandler<OnNode> {
  const allowed = new Set([...loopbackHosts, ...guard.hosts.map((host) => host.toLowerCase())]);
  const origins = new Set(guard.origins?.map((origin) => origin.toLowerCase()));
  return async (c, next) => {
    const host = hostName(c.req.header('host') ?? '');
    if (!allowed.has(host) && !isLocalName(host)) {
      throw new ProblemError(
        421,
        'foreign_host',
        `this server does not answer for the host ${JSON.stringify(host)}; [server] allowed_hosts lists those that it does`,
      );
    }
    const origin = c.req.header('origin');
    if (origin === undefined) return await next();
    if (origins.has(origin)) {
      // On the socket's own answer, so that streams and refusals have them too.
      for (const [name, value] of Object.entries(corsHeaders(origin))) c.env.outgoing.setHeader(name, value);
      if (isPreflight(c)) return c.body(null, 204);
      return await next();
    }
    const named = originHost(origin);
    const isOurs =
      (allowed.has(named) || isLocalName(named)) && originPort(origin) === hostPort(c.req.header('host') ?? '');
    if (!isOurs) {
      throw new ProblemError(
        403,
        'foreign_origin',
        `calls from ${JSON.stringify(origin)} are not allowed; [server] allowed_origins lists those that are`,
      );
    }
    await next();
  };
}

function isPreflight(c: Context): boolean {
  return c.req.method === 'OPTIONS' && c.req.header('access-control-request-method') !== undefined;
}

/** What we read of a call, and what the clients of the wires send with theirs; `*` would not stand for the first. */
const sentHeaders = [
  'authorization',
  'content-type',
  'idempotency-key',
  'if-none-match',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'traceparent',
  'tracestate',
  'x-request-id',
].join(', ');
const readHeaders = [
  'etag',
  'location',
  'mcp-session-id',
  'retry-after',
  'stream-closed',
  'stream-cursor',
  'stream-next-offset',
  'stream-up-to-date',
  'x-request-id',
].join(', ');

/** For a page that may call us: what it may send, and that it may read the answer. It shows its token, not our cookie. */
function corsHeaders(origin: string): Readonly<Record<string, string>> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': sentHeaders,
    'access-control-expose-headers': readHeaders,
    'access-control-max-age': '600',
    vary: 'origin',
  };
}

export function checkToken({ whoCalls, wrongTokens, connections }: Doors): MiddlewareHandler<OnNode> {
  return async (c, next) => {
    const person = await whoCalls.of(c);
    if (person !== undefined) {
      connections.known(c.env.incoming.socket);
      c.set('person', person);
      return await next();
    }
    // Without any it is no guess.
    if (c.req.header('authorization') !== undefined && !wrongTokens.count()) throw tooManyGuesses();
    throw new ProblemError(
      401,
      'unauthorized',
      'send `Authorization: Bearer TOKEN`, or open the URL that the server printed',
      { headers: { 'www-authenticate': 'Bearer' } },
    );
  };
}

function tooManyGuesses(): ProblemError {
  return new ProblemError(429, 'too_many_wrong_tokens', 'too many wrong tokens; a right one is always taken', {
    headers: { 'retry-after': '1' },
  });
}

/** `/sessions/ID?token=T` becomes a cookie and `/sessions/ID`: the token leaves the address bar and the history. */
export function acceptTokenInUrl({ whoCalls, wrongTokens }: Doors): MiddlewareHandler<OnNode> {
  return async (c, next) => {
    const offered = c.req.query('token');
    if (offered === undefined || !whoCalls.asks) return await next();
    if ((await whoCalls.holderOf(offered)) === undefined) {
      if (!wrongTokens.count()) throw tooManyGuesses();
      return noticePage('wrong-token');
    }
    await whoCalls.signIn(c, offered);
    return c.redirect(addressWithoutToken(c.req.url), 302);
  };
}

/** The same place on this server, whatever the path begins with: `//elsewhere` would be another one. */
function addressWithoutToken(address: string): string {
  const { pathname, searchParams } = new URL(address);
  searchParams.delete('token');
  const query = searchParams.toString();
  return `/${pathname.replace(/^[/\\]+/, '')}${query === '' ? '' : `?${query}`}`;
}

function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '');
}

/** `NAME.localhost` is this machine for every browser, and nobody can register it; its cookies are its own. */
function isLocalName(host: string): boolean {
  return /^[a-z0-9-]+\.localhost$/.test(host);
}

/** Empty for the default one: behind a proxy that speaks TLS the browser's is 443 and nobody writes it. */
function hostPort(host: string): string {
  const port = /:(\d+)$/.exec(host)?.[1] ?? '';
  return port === '80' || port === '443' ? '' : port;
}

function originHost(origin: string): string {
  const url = parseUrl(origin);
  return url === undefined ? '' : url.hostname.toLowerCase();
}

function originPort(origin: string): string | undefined {
  return parseUrl(origin)?.port;
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined; // "null" and garbage: a foreign origin, refused by the caller.
  }
}
