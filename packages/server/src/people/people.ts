import { createHash, createHmac, randomBytes } from 'node:crypto';
import { err, ok, type Result } from '@concerto/base';
import type { EventLog } from '@concerto/log';
import {
  type AddToken,
  type Person,
  PersonRecord,
  Role,
  readStored,
  type TokenAdded,
  type TokenRow,
} from '@concerto/protocol';
import { instanceSecret, keepInstanceSecret } from '../instance-secret.ts';

const peopleStream = '@people';
const tokensMax = 1_000;
const pageRecords = 500;
const conflictsMax = 10;
/** Of whoever holds the server's own token. */
const ownName = 'owner';

/** Somebody who may call; `id` is of the token, so that another one under the same name is somebody else. */
export type KnownPerson = Person & { readonly id: number };

/** Holds the server's own token, or called a server that asks for none. */
export const ownPerson: KnownPerson = { name: ownName, role: 'owner', id: 0 };

export type TokenRefusal = { readonly code: 'name_taken' | 'too_many_tokens'; readonly message: string };

/** `row` is undefined where a newer version gave a role that is not known here: nobody can tell what it may. */
type Kept = {
  readonly id: number;
  readonly name: string;
  readonly token: string;
  readonly cookie: string;
  readonly row: TokenRow | undefined;
};

/**
 * Who may call beside the holder of the server's own token. The store has digests alone, of the token and of the
 * cookie that is made of it: whoever reads it can show neither.
 */
export class People {
  readonly #log: EventLog;
  readonly #instance: string;
  readonly #kept = new Map<string, Kept>();
  readonly #byDigest = new Map<string, KnownPerson>();
  readonly #listeners = new Set<() => void>();
  readonly #stops: readonly (() => void)[];
  #position = 0;
  #reading: Promise<void> = Promise.resolve();

  constructor(log: EventLog, instance: string) {
    this.#log = log;
    this.#instance = instance;
    // A store that fails now is asked again by whoever shows a token that is not known.
    this.#stops = [
      log.onGrowth(() => void this.refresh().catch(() => undefined), peopleStream),
      log.onRewind(() => void this.#rewound().catch(() => undefined)),
    ];
  }

  static async open(log: EventLog): Promise<People> {
    const people = new People(log, await instanceSecret(log));
    await people.refresh();
    return people;
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }

  /** Of this store alone: names the cookie and keys it. */
  get instance(): string {
    return this.#instance;
  }

  list(): readonly TokenRow[] {
    return [...this.#kept.values()].flatMap(({ row }) => row ?? []);
  }

  async add({ name, role }: AddToken, by: string): Promise<Result<TokenAdded, TokenRefusal>> {
    const token = randomBytes(24).toString('base64url');
    for (let attempt = 0; attempt < conflictsMax; attempt++) {
      await this.refresh();
      const refused = this.#refusal(name);
      if (refused !== undefined) return err(refused);
      const at = Date.now();
      const digests = { token: digest(token), cookie: digest(cookieOf(this.#instance, token)) };
      if (!(await this.#write({ type: 'token-added', name, role, ...digests, at, actor: by }))) continue;
      return ok({ name, role, addedAt: new Date(at).toISOString(), addedBy: by, token });
    }
    throw new Error(`the tokens: ${conflictsMax} conflicts in a row`);
  }

  /** False when nobody has that name. Whatever the token has open is ended by then, here; elsewhere in a moment. */
  async revoke(name: string, by: string): Promise<boolean> {
    for (let attempt = 0; attempt < conflictsMax; attempt++) {
      await this.refresh();
      const known = this.#kept.get(keyOf(name));
      if (known === undefined) return false;
      if (await this.#write({ type: 'token-revoked', name: known.name, at: Date.now(), actor: by })) return true;
    }
    throw new Error(`the tokens: ${conflictsMax} conflicts in a row`);
  }

  /** Whose token or cookie it is. */
  async whose(shown: string, kind: 'token' | 'cookie'): Promise<KnownPerson | undefined> {
    const key = `${kind}:${digest(shown)}`;
    const known = this.#byDigest.get(key);
    if (known !== undefined) return known;
    // Another server of this store may have added it a moment ago.
    await this.refresh();
    return this.#byDigest.get(key);
  }

  isKnown({ name, id }: KnownPerson): boolean {
    return id === ownPerson.id || this.#kept.get(keyOf(name))?.id === id;
  }

  /** Called after somebody was added or revoked. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** One after the other, so that each record is applied once. */
  async refresh(): Promise<void> {
    this.#reading = this.#reading.catch(() => undefined).then(() => this.#read());
    await this.#reading;
  }

  /** The store has less than it acknowledged: who is in it now may call, and nobody else. Cookies stay what they were. */
  async #rewound(): Promise<void> {
    this.#forget();
    await this.refresh();
    for (const listener of this.#listeners) listener();
    await keepInstanceSecret(this.#log, this.#instance);
  }

  #forget(): void {
    this.#position = 0;
    this.#kept.clear();
    this.#byDigest.clear();
  }

  async #read(): Promise<void> {
    const before = this.#position;
    for (;;) {
      const { entries, head } = await this.#log.read({
        session: peopleStream,
        stream: 'domain',
        after: this.#position,
        limit: pageRecords,
      });
      if (head < this.#position) {
        this.#forget();
        continue;
      }
      for (const { position, data } of entries) {
        this.#apply(readStored(PersonRecord, JSON.parse(data)), position);
        this.#position = position;
      }
      if (entries.length === 0 || this.#position >= head) break;
    }
    if (this.#position !== before) for (const listener of this.#listeners) listener();
  }

  #apply(record: PersonRecord, id: number): void {
    const { name, at, actor } = record;
    const old = this.#kept.get(keyOf(name));
    if (old !== undefined) {
      this.#kept.delete(keyOf(name));
      this.#byDigest.delete(`token:${old.token}`);
      this.#byDigest.delete(`cookie:${old.cookie}`);
    }
    if (record.type === 'token-revoked') return;
    const { token, cookie } = record;
    const known = Role.safeParse(record.role);
    const role = known.success ? known.data : undefined;
    const row = role && { name, role, addedAt: new Date(at).toISOString(), addedBy: actor };
    this.#kept.set(keyOf(name), { id, name, token, cookie, row });
    if (role === undefined) return;
    const person = { name, role, id };
    this.#byDigest.set(`token:${token}`, person);
    this.#byDigest.set(`cookie:${cookie}`, person);
  }

  #refusal(name: string): TokenRefusal | undefined {
    if (keyOf(name) === ownName) {
      const message = `${name} is whoever holds the server’s own token (\`concerto token\`); take another name`;
      return { code: 'name_taken', message };
    }
    const known = this.#kept.get(keyOf(name));
    if (known !== undefined) {
      const message = `${known.name} has a token; \`concerto tokens revoke ${known.name}\` first, or take another name`;
      return { code: 'name_taken', message };
    }
    if (this.#kept.size < tokensMax) return undefined;
    return { code: 'too_many_tokens', message: `there are ${tokensMax} tokens, the most there may be; revoke some` };
  }

  /** False when somebody else has written since. */
  async #write(record: PersonRecord): Promise<boolean> {
    const entries = [{ type: record.type, data: JSON.stringify(record) }];
    const appended = await this.#log.append({
      session: peopleStream,
      streams: [{ stream: 'domain', expected: this.#position, entries }],
    });
    if (appended.kind !== 'appended') return false;
    await this.refresh();
    return true;
  }
}

/** Not the token, nor made of it alone: whoever receives it must not be able to guess the token from it. */
export function cookieOf(instance: string, token: string): string {
  return createHmac('sha256', instance).update(`concerto cookie\0${token}`).digest('base64url');
}

/** Ann and ann would be one to whoever reads who decided. */
function keyOf(name: string): string {
  return name.toLowerCase();
}

/** Tokens are random, so that a plain digest of one cannot be turned around. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
