import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { endianness, networkInterfaces } from 'node:os';

/** Who is at the other end of a connection, as far as the system tells. */
export type FarEnd =
  /** A process of this machine, of this account. */
  | { readonly kind: 'here'; readonly account: string }
  | { readonly kind: 'agent' }
  /** It is on another machine, or nobody tells. */
  | { readonly kind: 'unseen' }
  /** It has let go of the connection: who it was cannot be told any more. */
  | { readonly kind: 'gone' };

/** The sockets that agents of this machine hold now, by their numbers. */
export type AgentSockets = () => Promise<ReadonlySet<string>>;

/** The system's tables of sockets, one for each version of the protocol. */
type Tables = readonly string[];
type Row = { readonly state: string; readonly uid: string; readonly inode: string };
type Look = { readonly before: Tables; readonly held: ReadonlySet<string>; readonly after: Tables };

const established = '01';
const nobody = '0';
/** A table that changes while it is read may leave a row out: what was not seen is looked for again. */
const looksMax = 4;

/** Finds out once for each connection; those that come together share a look. */
export class FarEnds {
  readonly #agentSockets: AgentSockets;
  readonly #known = new WeakMap<Socket, Promise<FarEnd>>();
  #looking: Promise<unknown> = Promise.resolve();
  #next: Promise<Look> | undefined;

  constructor(agentSockets: AgentSockets) {
    this.#agentSockets = agentSockets;
  }

  /** Undefined for whoever calls from within this process. */
  async of(socket: Socket | undefined): Promise<FarEnd> {
    if (socket === undefined) return { kind: 'unseen' };
    let known = this.#known.get(socket);
    if (known === undefined) {
      known = this.#find(socket);
      this.#known.set(socket, known);
    }
    return await known;
  }

  async #find({ localAddress, localPort, remoteAddress, remotePort }: Socket): Promise<FarEnd> {
    if (process.platform !== 'linux' || endianness() !== 'LE') return { kind: 'unseen' };
    if (localAddress === undefined || localPort === undefined) return { kind: 'gone' };
    if (remoteAddress === undefined || remotePort === undefined) return { kind: 'gone' };
    if (!isOfThisMachine(remoteAddress)) return { kind: 'unseen' };
    const own = systemAddress(localAddress, localPort);
    const other = systemAddress(remoteAddress, remotePort);
    for (let looks = 1; ; looks++) {
      const found = judged(await this.#look(), own, other);
      const isSure = found.kind === 'here' || found.kind === 'agent';
      if (isSure || looks === looksMax) return found;
    }
  }

  /** One that begins now: what was seen earlier may not show a connection that has just come. */
  async #look(): Promise<Look> {
    this.#next ??= this.#looking.then(async () => {
      this.#next = undefined;
      const before = await readTables();
      const held = await this.#agentSockets();
      return { before, held, after: await readTables() };
    });
    const look = this.#next;
    this.#looking = look.catch(() => {});
    return await look;
  }
}

function judged({ before, held, after }: Look, own: string, other: string): FarEnd {
  // A system that does not even tell of the port where we listen tells nothing of this.
  if (!before.some((table) => table.includes(`:${portOf(own)} `))) return { kind: 'unseen' };
  const [first, last] = [rowOf(before, other, own), rowOf(after, other, own)];
  if (first === undefined && last === undefined) {
    return { kind: rowOf(after, own, other)?.state === established ? 'unseen' : 'gone' };
  }
  // Whoever had it all the while was seen with it.
  if (first === undefined || first.inode === nobody || first.inode !== last?.inode) return { kind: 'gone' };
  return held.has(first.inode) ? { kind: 'agent' } : { kind: 'here', account: first.uid };
}

async function readTables(): Promise<Tables> {
  return await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'latin1').catch(() => '')));
}

/** A table has a row for each end of a connection, and thousands of others: they are not all taken apart. */
function rowOf(tables: Tables, from: string, to: string): Row | undefined {
  for (const table of tables) {
    for (const ends of [`: ${from} ${to} `, `: ${mapped(from)} ${mapped(to)} `]) {
      const at = table.indexOf(ends);
      if (at < 0) continue;
      const line = table.slice(at + ends.length, table.indexOf('\n', at));
      const [state, , , , uid, , inode] = line.trim().split(/\s+/);
      if (state !== undefined && uid !== undefined && inode !== undefined) return { state, uid, inode };
    }
  }
  return undefined;
}

/** An IPv4 address as a socket writes it that speaks IPv6. */
function mapped(address: string): string {
  return /^[0-9A-F]{8}:/.test(address) ? `0000000000000000FFFF0000${address}` : address;
}

function portOf(address: string): string {
  return address.slice(address.lastIndexOf(':') + 1);
}

function isOfThisMachine(address: string): boolean {
  const plain = address.replace(/^::ffff:/i, '');
  if (plain.startsWith('127.') || plain === '::1') return true;
  return Object.values(networkInterfaces()).some((entries) => entries?.some((entry) => entry.address === plain));
}

/** As the system writes it: in words of four bytes, each with its last byte first. */
function systemAddress(address: string, port: number): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  const bytes = plain.includes(':') ? bytesOf6(plain) : plain.split('.').map(Number);
  const hex: string[] = [];
  for (let at = 0; at < bytes.length; at += 4)
    hex.push(
      ...bytes
        .slice(at, at + 4)
        .toReversed()
        .map(twoDigits),
    );
  return `${hex.join('')}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}

function bytesOf6(address: string): readonly number[] {
  // A zone says through which door, not who.
  const [before = '', after = ''] = (address.split('%')[0] ?? '').split('::');
  const words = (part: string): number[] =>
    part.split(':').flatMap((word) => {
      const value = Number.parseInt(word, 16);
      return word === '' ? [] : [value >> 8, value & 255];
    });
  const [first, last] = [words(before), words(after)];
  return [...first, ...Array.from({ length: Math.max(0, 16 - first.length - last.length) }, () => 0), ...last];
}

function twoDigits(byte: number): string {
  return byte.toString(16).toUpperCase().padStart(2, '0');
}
