import { linkSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KeeperServer } from './keeper-server.ts';
import { describeProcess } from './process-identity.ts';

/**
 * The keeper's own process: `node keeper-main.js FOLDER`. Whoever starts it has made the folder: one that is gone was
 * removed, and is not to come back. Two that start at once make one: the second finds the lock of the first and leaves.
 */
async function main(folder: string | undefined): Promise<void> {
  if (folder === undefined) throw new Error('a folder is needed');
  process.umask(0o077);
  if (!(await lock(folder))) return;
  const over = (): void => {
    unlock(folder);
    removeIfEmpty(folder);
    process.exit(0);
  };
  const keeper = await KeeperServer.open(folder, over).catch((cause: unknown) => {
    unlock(folder);
    throw cause;
  });
  if (keeper === undefined) return unlock(folder);
  // One that is told to end ends what it holds; a closed terminal is no reason.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void keeper.end());
  process.on('SIGHUP', () => {});
}

const lockName = 'keeper.lock';

async function lock(folder: string): Promise<boolean> {
  const file = join(folder, lockName);
  const mine = join(folder, `${lockName}.${process.pid}`);
  const startTime = (await describeProcess(process.pid))?.startTime ?? 'unknown';
  writeFileSync(mine, `${process.pid} ${startTime}`, { mode: 0o600 });
  try {
    for (let tries = 0; tries < 3; tries++) {
      if (linked(mine, file)) return true;
      if (await isHeld(file)) return false;
      // Whoever had it is gone. Taken aside first: of two that find it stale one gets it.
      const aside = join(folder, `${lockName}.stale.${process.pid}`);
      if (!moved(file, aside)) continue;
      const isStale = !(await isHeld(aside));
      if (!isStale) linked(aside, file);
      rmSync(aside, { force: true });
      if (!isStale) return false;
    }
    return false;
  } finally {
    rmSync(mine, { force: true });
  }
}

function unlock(folder: string): void {
  const file = join(folder, lockName);
  try {
    if (readFileSync(file, 'utf8').startsWith(`${process.pid} `)) rmSync(file, { force: true });
  } catch {
    // The folder is gone.
  }
}

/** Nothing of us is left behind. Whoever is about to start the next has put something there. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is not empty, or gone.
  }
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch {
    return false;
  }
}

function moved(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}

async function isHeld(file: string): Promise<boolean> {
  try {
    const [pid, startTime] = readFileSync(file, 'utf8').split(' ');
    const holder = await describeProcess(Number(pid));
    return holder !== undefined && holder.startTime === startTime;
  } catch {
    return false;
  }
}

// Its terminal may close at any time; what it might write then goes nowhere.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
main(process.argv[2]).catch((cause: unknown) => {
  process.stderr.write(`concerto keeper: ${cause instanceof Error ? cause.message : String(cause)}\n`);
  process.exit(1);
});
