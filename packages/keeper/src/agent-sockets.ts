import { readdir, readFile, readlink } from 'node:fs/promises';
import { ofEveryProcess } from './every-process.ts';
import { markerVariable, statusFields } from './process-identity.ts';

type Seen = { readonly pid: string; readonly parent: string; readonly isMarked: boolean };

/**
 * The sockets that agents of this machine and all that they started hold, by their numbers. What an agent may leave
 * out of its own variables stands in those of the process that we started, which is above it. Linux only.
 */
export async function agentSockets(): Promise<ReadonlySet<string>> {
  if (process.platform !== 'linux') return new Set();
  const seen = await ofEveryProcess(look);
  const agents = new Set(seen.flatMap(({ pid, isMarked }) => (isMarked ? [pid] : [])));
  if (agents.size === 0) return agents;
  const children = new Map<string, string[]>();
  for (const { pid, parent } of seen) children.set(parent, [...(children.get(parent) ?? []), pid]);
  // A set is walked on while it grows.
  for (const pid of agents) for (const child of children.get(pid) ?? []) agents.add(child);
  return new Set((await Promise.all([...agents].map(socketsOf))).flat());
}

/** Undefined for one that has ended meanwhile. */
async function look(pid: string): Promise<Seen | undefined> {
  // Those of another account do not show their variables, and are no agents of this one.
  const [status, variables] = await Promise.all(
    ['stat', 'environ'].map((name) => readFile(`/proc/${pid}/${name}`, 'latin1').catch(() => '')),
  );
  if (status === undefined || status === '') return undefined;
  const parent = statusFields(status)[1] ?? '';
  const mark = variables?.split('\0').find((each) => each.startsWith(`${markerVariable}=`));
  // Whoever was started by an agent himself shares its mark with everybody around him.
  return { pid, parent, isMarked: mark !== undefined && mark !== `${markerVariable}=${process.env[markerVariable]}` };
}

async function socketsOf(pid: string): Promise<readonly string[]> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
}
