import { readdir } from 'node:fs/promises';

/** What is read of /proc has no size and takes 64 kB each time; there are thousands of processes, and many agents end at once. */
const looksAtOnce = 8;

/** What is found out about each process of this machine; whom there is nothing to say of is left out. Linux only. */
export async function ofEveryProcess<Found>(look: (pid: string) => Promise<Found | undefined>): Promise<Found[]> {
  const names = await readdir('/proc').catch((): string[] => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).values();
  const found: Found[] = [];
  const looks = async (): Promise<void> => {
    for (const pid of pids) {
      const one = await look(pid);
      if (one !== undefined) found.push(one);
    }
  };
  await Promise.all(Array.from({ length: looksAtOnce }, looks));
  return found;
}
