import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { noticePage } from './notice-page.ts';
import type { OpenConnections } from './open-connections.ts';
import { ProblemError } from './problem.ts';
import type { OnNode } from './server-context.ts';
import type { WrongTokens } from './wrong-tokens.ts';

export type Guard = {
  /** Undefined means that no token is asked for; only ever on loopback. */
  readonly token: string | undefined;
  /** Of this store alone: names the cookie, so that servers of one host do not sign each other out, and keys it. */
  readonly instance: string;
  /** Names under which we may be called, without ports. */
  readonly hosts: readonly string[];
  /** Pages elsewhere that may call us, such as `https://console.example.org`: those of a proxy before us. */
  readonly origins?: readonly string[];
};

/** What is counted about callers who have shown no token. */
export type Doors = { readonly wrongTokens: WrongTokens; readonly connections: OpenConnections };

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

/** For a page that may call us: what it may send, and that it may read the answer. It shows its token, not our cookie. */
function corsHeaders(origin: string): Readonly<Record<string, string>> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': 'authorization, content-type, idempotency-key, last-event-id',
    'access-control-expose-headers': 'location, retry-after',
    'access-control-max-age': '600',
    vary: 'origin',
  };
}

export function checkToken(guard: Guard, { wrongTokens, connections }: Doors): MiddlewareHandler<OnNode> {
  const holdsToken = tokenCheck(guard);
  return async (c, next) => {
    if (holdsToken(c)) {
      connections.known(c.env.incoming.socket);
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
export function acceptTokenInUrl(guard: Guard, { wrongTokens }: Doors): MiddlewareHandler {
  const { token } = guard;
  if (token === undefined) return (_c, next) => next();
  const isToken = comparison(token);
  return async (c, next) => {
    const offered = c.req.query('token');
    if (offered === undefined) return await next();
    if (!isToken(offered)) {
      if (!wrongTokens.count()) throw tooManyGuesses();
      return noticePage('wrong-token');
    }
    const secure = cameOverTls(guard, c);
    setCookie(c, cookieName(guard, secure), cookieValue(guard, token), {
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
      secure,
    });
    return c.redirect(addressWithoutToken(c.req.url), 302);
  };
}

/** Whether a caller holds the token, as a header or as the cookie; what they are compared with is made once. */
export function tokenCheck(guard: Guard): (c: Context) => boolean {
  const { token } = guard;
  if (token === undefined) return () => true;
  const isToken = comparison(token);
  const isCookie = comparison(cookieValue(guard, token));
  return (c) => {
    const bearer = /^Bearer\s+(.+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
    if (bearer !== undefined) return isToken(bearer.trim());
    const inAddress = isForeignStream(guard, c) ? c.req.query('token') : undefined;
    if (inAddress !== undefined) return isToken(inAddress);
    if (!isOwnPage(c)) return false;
    const cookie = getCookie(c, cookieName(guard, cameOverTls(guard, c)));
    return cookie !== undefined && isCookie(cookie);
  };
}

/** An `EventSource` of a page elsewhere that may call us can send no header; nobody else shows a token so. */
function isForeignStream({ origins = [] }: Guard, c: Context): boolean {
  const origin = c.req.header('origin')?.toLowerCase();
  const mayCall = origin !== undefined && origins.some((allowed) => allowed.toLowerCase() === origin);
  return mayCall && c.req.method === 'GET' && c.req.path.endsWith('/events');
}

/** A cookie goes to every port of a host, so browsers send ours along when another app there makes them call us. */
function isOwnPage(c: Context): boolean {
  const site = c.req.header('sec-fetch-site');
  if (site === undefined || site === 'same-origin' || site === 'none') return true;
  // Somebody follows a link to the page: nothing that the linking page could read or cause.
  return c.req.method === 'GET' && c.req.header('sec-fetch-mode') === 'navigate';
}

// The cookie is not the token, nor made of it alone: whoever receives it must not be able to guess the token from it.
function cookieValue({ instance }: Guard, token: string): string {
  return createHmac('sha256', instance).update(`concerto cookie\0${token}`).digest('base64url');
}

function cookieName({ instance }: Guard, secure: boolean): string {
  const name = `concerto_${createHash('sha256').update(`concerto name\0${instance}`).digest('hex').slice(0, 8)}`;
  // Browsers accept it from https alone, and for this one host.
  return secure ? `__Host-${name}` : name;
}

/** Behind a proxy that speaks TLS: the name that the browser used is that of an https page which may call us. */
function cameOverTls({ origins = [] }: Guard, c: Context): boolean {
  const host = (c.req.header('host') ?? '').toLowerCase();
  return origins.some((origin) => origin.toLowerCase() === `https://${host}`);
}

/** The same place on this server, whatever the path begins with: `//elsewhere` would be another one. */
function addressWithoutToken(address: string): string {
  const { pathname, searchParams } = new URL(address);
  searchParams.delete('token');
  const query = searchParams.toString();
  return `/${pathname.replace(/^[/\\]+/, '')}${query === '' ? '' : `?${query}`}`;
}

/** In constant time, whatever the length of what is offered. */
function comparison(secret: string): (offered: string) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const expected = digest(secret);
  return (offered) => timingSafeEqual(digest(offered), expected);
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
