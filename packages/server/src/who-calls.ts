import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { unreachable } from '@concerto/base';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { type AgentSockets, type FarEnd, FarEnds } from './far-end.ts';
import { cookieOf, type KnownPerson, ownPerson, type People } from './people/people.ts';
import { ProblemError } from './problem.ts';
import type { OnNode } from './server-context.ts';

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
    if (shown === undefined) return undefined;
    const [cookie = ''] = shown.split('.');
    const person = this.#isOwnCookie(cookie) ? ownPerson : await this.#people.whose(cookie, 'cookie');
    // Last, since to find out who is there costs more than a stranger is worth.
    return person !== undefined && (await this.#isBound(c, { cookie, shown })) ? person : undefined;
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
  async #isBound(c: Context<OnNode>, { cookie, shown }: { cookie: string; shown: string }): Promise<boolean> {
    const end = await this.#farEnds.of(c.env.incoming.socket);
    switch (end.kind) {
      case 'agent':
        throw new ProblemError(403, 'agent_with_cookie', 'an agent cannot use the cookie of a person');
      case 'gone':
        return false;
      case 'here':
      case 'unseen':
        return comparison(this.#bound(cookie, end))(shown);
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

/** More than what is offered usually has, so that how long one takes tells nothing of how long the other is. */
const comparedLengthMin = 512;

/** In constant time, whatever the length of what is offered: always the same number of bytes, and every one of them. */
function comparison(secret: string): (offered: string) => boolean {
  const secretLength = Buffer.byteLength(secret);
  const expected = Buffer.alloc(Math.max(secretLength, comparedLengthMin));
  expected.write(secret);
  const offer = Buffer.alloc(expected.length);
  return (offered) => {
    offer.fill(0);
    offer.write(offered);
    const isAlike = timingSafeEqual(offer, expected);
    // What is longer was cut, and what is shorter may have been filled up to the same.
    return isAlike && Buffer.byteLength(offered) === secretLength;
  };
}
