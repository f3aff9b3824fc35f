import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { ProblemError } from './problem.ts';

export type Guard = {
  /** Undefined means that no token is asked for; only ever on loopback. */
  readonly token: string | undefined;
  /** Names under which we may be called, without ports. */
  readonly hosts: readonly string[];
  /** Pages elsewhere that may call us, such as `https://console.example.org`: those of a proxy before us. */
  readonly origins?: readonly string[];
};

const cookieName = 'concerto_session';
const loopbackHosts = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * A page on another site can make a browser call us (its requests reach loopback, and DNS can be pointed here), so
 * the name we were called by and the page that called are checked before anything else.
 */
export function checkCaller(guard: Guard): MiddlewareHandler {
  const allowed = new Set([...loopbackHosts, ...guard.hosts.map((host) => host.toLowerCase())]);
  const origins = new Set(guard.origins?.map((origin) => origin.toLowerCase()));
  return async (c, next) => {
    const host = hostName(c.req.header('host') ?? '');
    if (!allowed.has(host)) {
      throw new ProblemError(
        421,
        'foreign_host',
        `this server does not answer for the host ${JSON.stringify(host)}; [server] allowed_hosts lists those that it does`,
      );
    }
    const origin = c.req.header('origin');
    if (origin !== undefined && origins.has(origin)) return await next();
    if (origin !== undefined && !allowed.has(originHost(origin))) {
      throw new ProblemError(
        403,
        'foreign_origin',
        `calls from ${JSON.stringify(origin)} are not allowed; [server] allowed_origins lists those that are`,
      );
    }
    if (origin !== undefined && originPort(origin) !== hostPort(c.req.header('host') ?? '')) {
      throw new ProblemError(
        403,
        'foreign_origin',
        `calls from ${JSON.stringify(origin)} are not allowed; [server] allowed_origins lists those that are`,
      );
    }
    await next();
  };
}

export function checkToken(guard: Guard): MiddlewareHandler {
  const holdsToken = tokenCheck(guard.token);
  return async (c, next) => {
    if (!holdsToken(c)) {
      throw new ProblemError(
        401,
        'unauthorized',
        'send `Authorization: Bearer TOKEN`, or open the URL that the server printed',
        {
          headers: { 'www-authenticate': 'Bearer' },
        },
      );
    }
    await next();
  };
}

/** `/?token=T` becomes a cookie, and the token leaves the address bar and the history. */
export function acceptTokenInUrl({ token }: Guard): MiddlewareHandler {
  if (token === undefined) return (_c, next) => next();
  const isToken = comparison(token);
  return async (c, next) => {
    const offered = c.req.query('token');
    if (offered === undefined) return await next();
    if (!isToken(offered)) {
      throw new ProblemError(401, 'unauthorized', 'that token is not valid; open the URL that the server printed');
    }
    setCookie(c, cookieName, cookieValue(token), { httpOnly: true, sameSite: 'Strict', path: '/' });
    return c.redirect('/', 302);
  };
}

/** Whether a caller holds the token, as a header or as the cookie; what they are compared with is made once. */
export function tokenCheck(token: string | undefined): (c: Context) => boolean {
  if (token === undefined) return () => true;
  const isToken = comparison(token);
  const isCookie = comparison(cookieValue(token));
  return (c) => {
    const bearer = /^Bearer\s+(.+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
    if (bearer !== undefined) return isToken(bearer.trim());
    const cookie = getCookie(c, cookieName);
    return cookie !== undefined && isCookie(cookie);
  };
}

// The cookie is not the token: what a browser stores must not open the API from a script elsewhere.
function cookieValue(token: string): string {
  return createHmac('sha256', token).update('concerto cookie').digest('base64url');
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
