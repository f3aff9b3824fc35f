import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { ofEveryProcess } from './every-process.ts';

/** Stands in the environment of an agent and of everything it starts. */
export const markerVariable = 'CONCERTO_AGENT_MARKER';

/** Enough to find a process again after a restart of ours, and never to mistake another for it. */
export type ProcessIdentity = {
  readonly pid: number;
  readonly startTime: string;
  /** Stands in the environment of the agent and of all it starts; finds those that left its process group. */
  readonly marker: string;
};

export type DescribedProcess = { readonly pid: number; readonly startTime: string };

/**
 * A process that is running now, with its start time: a pid alone may belong to someone else by the time it is used.
 * Undefined when there is none, or only its zombie.
 */
export async function describeProcess(pid: number): Promise<DescribedProcess | undefined> {
  if (process.platform === 'linux') return describeFromProc(pid);
  const run = promisify(execFile);
  const listed = await run('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]).catch(() => undefined);
  const [, state, startTime] = listed?.stdout.trim().match(/^(\S+)\s+(.+)$/) ?? [];
  return state === undefined || startTime === undefined || state.startsWith('Z') ? undefined : { pid, startTime };
}

async function describeFromProc(pid: number): Promise<DescribedProcess | undefined> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (status === undefined) return undefined;
  const fields = statusFields(status);
  const [state, ticks] = [fields[0], fields[19]];
  if (state === 'Z' || state === 'X' || ticks === undefined) return undefined;
  return { pid, startTime: `${await bootId()}/${ticks}` };
}

/** Of `/proc/PID/stat`: the command's name stands in parentheses and may hold spaces and parentheses itself; what counts comes after it. */
export function statusFields(status: string): readonly string[] {
  return status.slice(status.lastIndexOf(')') + 2).split(' ');
}

let knownBootId: Promise<string> | undefined;

/** Ticks count from the boot, so two boots can give the same. */
function bootId(): Promise<string> {
  knownBootId ??= readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    (text) => text.trim(),
    () => 'unknown-boot',
  );
  return knownBootId;
}

/** Every living process that carries the marker, those that left their group or lost their parent included. Linux only. */
export async function processesMarked(marker: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const wanted = `${markerVariable}=${marker}`;
  return await ofEveryProcess(async (pid) => {
    // Another user's process, or one that ended meanwhile, cannot be read; neither is ours. A zombie reads as empty.
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    return environment.split('\0').includes(wanted) ? Number(pid) : undefined;
  });
}

/** Sends a signal to a process, or to a group when negative. False when there is nobody to get it. */
export function sendSignal(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch {
    // ESRCH: already gone. EPERM: no longer ours to end.
    return false;
  }
}
