import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';

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

type Row = { readonly state: string; readonly uid: string; readonly inode: string };
type Rows = {
  /** By the addresses of both ends, the own one first. */
  readonly byEnds: ReadonlyMap<string, Row>;
  /** Of the own ends. */
  readonly ports: ReadonlySet<string>;
};

const established = '01';
const nobody = '0';

type Look = { readonly before: Rows; readonly held: ReadonlySet<string>; readonly after: Rows };

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
    const own = systemAddress(localAddress, localPort);
    const other = systemAddress(remoteAddress, remotePort);
    const { before, held, after } = await this.#look();
    // A system that does not even tell of the port where we listen tells nothing of this.
    if (!before.ports.has(portOf(own))) return { kind: 'unseen' };
    const [first, last] = [before, after].map(({ byEnds }) => byEnds.get(`${other} ${own}`));
    if (first === undefined && last === undefined) {
      return { kind: after.byEnds.get(`${own} ${other}`)?.state === established ? 'unseen' : 'gone' };
    }
    // Whoever had it all the while was seen with it.
    if (first === undefined || first.inode === nobody || first.inode !== last?.inode) return { kind: 'gone' };
    return held.has(first.inode) ? { kind: 'agent' } : { kind: 'here', account: first.uid };
  }

  /** One that begins now: what was seen earlier may not show a connection that has just come. */
  async #look(): Promise<Look> {
    this.#next ??= this.#looking.then(async () => {
      this.#next = undefined;
      const before = await readRows();
      const held = await this.#agentSockets();
      return { before, held, after: await readRows() };
    });
    const look = this.#next;
    this.#looking = look.catch(() => {});
    return await look;
  }
}

/** All sockets of this machine, both ends of those that stay on it. */
async function readRows(): Promise<Rows> {
  const texts = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'latin1').catch(() => '')),
  );
  const byEnds = new Map<string, Row>();
  const ports = new Set<string>();
  for (const text of texts) {
    for (const line of text.split('\n').slice(1)) {
      const [, own, other, state, , , , uid, , inode] = line.trim().split(/\s+/);
      if (inode === undefined || uid === undefined || state === undefined) continue;
      byEnds.set(`${plain(own)} ${plain(other)}`, { state, uid, inode });
      ports.add(portOf(own));
    }
  }
  return { byEnds, ports };
}

function portOf(address = ''): string {
  return address.slice(address.lastIndexOf(':') + 1);
}

/** An IPv4 address is one whether its socket speaks IPv4 or IPv6. */
function plain(address = ''): string {
  return address.replace(/^0000000000000000FFFF0000(?=[0-9A-F]{8}:)/, '');
}

/** As the system writes it: in words of four bytes, each with its last byte first. */
function systemAddress(address: string, port: number): string {
  const bytes = address.includes(':') ? bytesOf6(address) : address.split('.').map(Number);
  const hex: string[] = [];
  for (let at = 0; at < bytes.length; at += 4)
    hex.push(
      ...bytes
        .slice(at, at + 4)
        .reverse()
        .map(twoDigits),
    );
  const digits = port.toString(16).toUpperCase().padStart(4, '0');
  return plain(`${hex.join('')}:${digits}`);
}

function bytesOf6(address: string): readonly number[] {
  // A zone says through which door, not who.
  const [text = ''] = address.split('%');
  const four = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  const tail = (four?.slice(2) ?? []).map(Number);
  const words = (part: string): number[] =>
    part
      .split(':')
      .flatMap((word) => (word === '' ? [] : [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 255]));
  const [before = '', after] = (four?.[1] ?? text).split('::');
  const [first, last] = [words(before), [...words(after ?? ''), ...tail]];
  const between = Array.from({ length: Math.max(0, 16 - first.length - last.length) }, () => 0);
  return [...first, ...between, ...last];
}

function twoDigits(byte: number): string {
  return byte.toString(16).toUpperCase().padStart(2, '0');
}
