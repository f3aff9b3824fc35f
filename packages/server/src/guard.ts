import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { unreachable } from '@concerto/base';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { type AgentSockets, type FarEnd, FarEnds } from './far-end.ts';
import { noticePage } from './notice-page.ts';
import type { OpenConnections } from './open-connections.ts';
import { cookieOf, type KnownPerson, ownPerson, type People } from './people/people.ts';
import { ProblemError } from './problem.ts';
import type { OnNode } from './server-context.ts';
import type { WrongTokens } from './wrong-tokens.ts';

export type Guard = {
  /** Undefined means that no token is asked for; only ever on loopback. */
  readonly token: string | undefined;
  /** Names under which we may be called, without ports. */
  readonly hosts: readonly string[];
  /** Pages elsewhere that may call us, such as `https://console.example.org`: those of a proxy before us. */
  readonly origins?: readonly string[];
  /** What agents of this machine hold, so that none of them shows a person's cookie. */
  readonly agentSockets?: AgentSockets;
};

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

/** For a page that may call us: what it may send, and that it may read the answer. It shows its token, not our cookie. */
function corsHeaders(origin: string): Readonly<Record<string, string>> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': 'authorization, content-type, idempotency-key, if-none-match, last-event-id',
    'access-control-expose-headers':
      'etag, location, retry-after, stream-closed, stream-cursor, stream-next-offset, stream-up-to-date',
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

/** Who holds what a caller shows, as a header or as the cookie; what the server's own are compared with is made once. */
export class WhoCalls {
  readonly #guard: Guard;
  readonly #people: People;
  readonly #isOwnToken: (offered: string) => boolean;
  readonly #isOwnCookie: (offered: string) => boolean;
  readonly #farEnds: FarEnds;

  constructor(guard: Guard, people: People) {
    this.#guard = guard;
    this.#people = people;
    const { token = '', agentSockets = async () => new Set() } = guard;
    this.#farEnds = new FarEnds(agentSockets);
    this.#isOwnToken = comparison(token);
    this.#isOwnCookie = comparison(cookieOf(people.instance, token));
  }

  /** Whether anybody has to show anything. */
  get asks(): boolean {
    return this.#guard.token !== undefined;
  }

  async of(c: Context<OnNode>): Promise<KnownPerson | undefined> {
    const bearer = /^Bearer\s+(.+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
    // Where no token is asked for, one that is somebody's still says who it is.
    if (bearer !== undefined) return (await this.holderOf(bearer.trim())) ?? (this.asks ? undefined : ownPerson);
    if (!this.asks) return ownPerson;
    const inAddress = isForeignStream(this.#guard, c) ? c.req.query('token') : undefined;
    if (inAddress !== undefined) return await this.holderOf(inAddress);
    if (!isOwnPage(c)) return undefined;
    const shown = getCookie(c, this.#cookieName(cameOverTls(this.#guard, c)));
    const cookie = shown === undefined ? undefined : await this.#unbound(c, shown);
    if (cookie === undefined) return undefined;
    return this.#isOwnCookie(cookie) ? ownPerson : await this.#people.whose(cookie, 'cookie');
  }

  async holderOf(token: string): Promise<KnownPerson | undefined> {
    if (this.asks && this.#isOwnToken(token)) return ownPerson;
    return await this.#people.whose(token, 'token');
  }

  async signIn(c: Context<OnNode>, token: string): Promise<void> {
    const secure = cameOverTls(this.#guard, c);
    const cookie = this.#bound(cookieOf(this.#people.instance, token), await this.#farEnds.of(c.env.incoming.socket));
    setCookie(c, this.#cookieName(secure), cookie, { httpOnly: true, sameSite: 'Strict', path: '/', secure });
  }

  /** To the account whose browser it was given to: another that sees it on a port of its own cannot use it. */
  #bound(cookie: string, end: FarEnd): string {
    const to = end.kind === 'here' ? end.account : '';
    const proof = createHmac('sha256', this.#people.instance).update(`concerto account\0${cookie}\0${to}`);
    return `${cookie}.${proof.digest('base64url').slice(0, 22)}`;
  }

  /** Browsers show cookies to every port of a host, so an agent that serves one there has seen ours. */
  async #unbound(c: Context<OnNode>, shown: string): Promise<string | undefined> {
    const [cookie = ''] = shown.split('.');
    const end = await this.#farEnds.of(c.env.incoming.socket);
    switch (end.kind) {
      case 'agent':
        throw new ProblemError(403, 'agent_with_cookie', 'an agent cannot use the cookie of a person');
      case 'gone':
        return undefined;
      case 'here':
      case 'unseen':
        return comparison(this.#bound(cookie, end))(shown) ? cookie : undefined;
      default:
        return unreachable(end);
    }
  }

  /** Of the store, so that servers of one host do not sign each other out. */
  #cookieName(secure: boolean): string {
    const { instance } = this.#people;
    const name = `concerto_${createHash('sha256').update(`concerto name\0${instance}`).digest('hex').slice(0, 8)}`;
    // Browsers accept it from https alone, and for this one host.
    return secure ? `__Host-${name}` : name;
  }
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
