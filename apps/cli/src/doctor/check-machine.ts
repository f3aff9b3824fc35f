import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { probeSandbox } from '@concerto/agents';
import { type ServerRecord, serverOf, serverOn } from '../state/project-state.ts';
import { type Finding, failed, passed, warned } from './finding.ts';

const oldestNode = { text: '20.19', major: 20, minor: 19 };
const gibibyte = 1024 ** 3;
const spaceWanted = gibibyte;
const spaceNeeded = gibibyte / 16;
const answerWithinMs = 2_000;

export function checkNode(version: string = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < oldestNode.major || (major === oldestNode.major && minor < oldestNode.minor);
  const what = `Node ${version} on ${process.platform} ${process.arch}`;
  return isOld
    ? failed('node', `${what}; Concerto needs ${oldestNode.text} or newer`, 'install a newer Node')
    : passed('node', what);
}

/** Without one an agent is a process like any other of this user, and can answer for you. */
export async function checkSandbox(): Promise<Finding> {
  const use = await probeSandbox();
  if (use.kind === 'bubblewrap' && use.nests) return passed('sandbox', 'agents run in a sandbox (bubblewrap)');
  if (use.kind === 'bubblewrap') {
    const message = 'agents run in a sandbox (bubblewrap), but none of their own can be opened inside it';
    return warned('sandbox', message, 'set `sandbox = "off"` for agents that have one of their own (Codex)');
  }
  const help = 'install bubblewrap, or read docs/SECURITY.md for what an agent can do without it';
  return warned('sandbox', `agents run without a sandbox: ${use.reason}`, help);
}

/** Room for the store on the disk of a folder that exists. */
export async function checkDisk(folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const what = `${(free / gibibyte).toFixed(1)} GiB free where the store is`;
  if (free >= spaceWanted) return passed('disk', what);
  const help = 'free space on that disk, or put the store elsewhere with --store';
  return free >= spaceNeeded ? warned('disk', what, help) : failed('disk', what, help);
}

/** `owner` is a server of ours, of which we may know no more than that it is one. */
export type PortState = 'free' | 'taken' | { readonly owner: Partial<ServerRecord> } | { readonly refused: string };

export async function portState(host: string, port: number): Promise<PortState> {
  const code = await tryToListen(host, port);
  if (code === undefined) return 'free';
  if (code !== 'EADDRINUSE') return { refused: code };
  return (await isConcerto(host, port)) ? { owner: serverOn(port) ?? {} } : 'taken';
}

export type PortPlace = {
  readonly host: string;
  readonly port: number;
  /** Whose server may have it. */
  readonly folders: readonly string[];
};

/** Whether it is the server of this folder that has the port. */
export function isOwnServer(state: PortState, { folders }: Pick<PortPlace, 'folders'>): boolean {
  if (typeof state !== 'object' || !('owner' in state)) return false;
  const { pid } = state.owner;
  return pid !== undefined && folders.some((folder) => serverOf(folder)?.pid === pid);
}

export function checkPort(at: PortPlace, state: PortState): Finding {
  const { host, port } = at;
  const place = `port ${port} on ${host}`;
  if (state === 'free') return passed('port', port === 0 ? 'any free port is taken' : `${place} is free`);
  if (state === 'taken') return failed('port', `${place} is taken by another program`, `end it, or ${otherPort}`);
  if ('refused' in state)
    return failed('port', `${place} cannot be listened on: ${state.refused}`, portHelp(state.refused));
  if (isOwnServer(state, at)) return passed('port', `a Concerto server answers at ${place}`);
  const help = `\`concerto serve\` here cannot have it too: ${otherPort}, or stop that one (\`concerto stop\` in its folder)`;
  return warned('port', `${place} is taken by ${whoseServer(state.owner)}`, help);
}

const otherPort = 'choose another port with --port, PORT or `port` in [server]';

export function whoseServer({ project, pid }: Partial<ServerRecord>): string {
  const whose =
    project === undefined ? 'a Concerto server of another folder or user' : `the Concerto server of ${project}`;
  return pid === undefined ? whose : `${whose} (pid ${pid})`;
}

function portHelp(code: string): string {
  if (code === 'EACCES') return 'choose a port above 1023 with --port or PORT';
  return 'choose an address of this machine with --host, such as 127.0.0.1';
}

function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    probe.listen(port, host, () => probe.close(() => resolve(undefined)));
  });
}

/** The description of the API needs no token and nobody else has it. */
async function isConcerto(host: string, port: number): Promise<boolean> {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const address = reached.includes(':') ? `[${reached}]` : reached;
  try {
    const signal = AbortSignal.timeout(answerWithinMs);
    const response = await fetch(`http://${address}:${port}/api/openapi.json`, { signal });
    const described: unknown = await response.json();
    const title: unknown = Object(Object(described).info).title;
    return title === 'Concerto';
  } catch {
    return false; // Whoever answers so is not a server of ours.
  }
}
