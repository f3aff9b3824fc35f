import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const listWithinMs = 5_000;

/** Resident memory of process groups, in bytes: of an agent and of all that it started. Undefined where nobody tells. */
export async function groupMemory(groups: readonly number[]): Promise<ReadonlyMap<number, number> | undefined> {
  const memory = new Map(groups.map((group) => [group, 0]));
  if (memory.size === 0) return memory;
  const listed = await promisify(execFile)('ps', ['-A', '-o', 'pgid=,rss='], { timeout: listWithinMs }).catch(
    () => undefined,
  );
  if (listed === undefined) return undefined;
  for (const line of listed.stdout.split('\n')) {
    const [group = 0, kilobytes = 0] = line.trim().split(/\s+/).map(Number);
    const known = memory.get(group);
    if (known !== undefined) memory.set(group, known + kilobytes * 1024);
  }
  return memory;
}
