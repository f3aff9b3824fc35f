import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const built = join(root, 'apps/web/dist/index.html');
const lock = join(root, 'node_modules/.cache/concerto-page-lock');
const sources = ['apps/web', 'packages/base/src', 'packages/protocol/src', 'packages/client/src'];
const buildWithinMs = 60_000;

/** Builds the page if it is absent or older than what it is made of; several test files may ask at once. */
export async function ensureBuiltPage(): Promise<void> {
  const until = Date.now() + buildWithinMs;
  while (isStale()) {
    if (tryLock()) {
      try {
        if (isStale()) build();
      } finally {
        rmSync(lock, { recursive: true, force: true });
      }
      return;
    }
    if (Date.now() > until) rmSync(lock, { recursive: true, force: true }); // Left by a run that was killed.
    await delay(100);
  }
}

function build(): void {
  const vite = join(root, 'node_modules/.bin/vite');
  const result = spawnSync(vite, ['build', '--logLevel', 'error'], {
    cwd: join(root, 'apps/web'),
    // Not the `test` of the runner: the page that people get is tested.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: 'inherit',
  });
  if (result.status !== 0) throw new Error('the page does not build');
}

function isStale(): boolean {
  if (!existsSync(built)) return true;
  const builtAt = statSync(built).mtimeMs;
  return sources.some((folder) => newest(join(root, folder)) > builtAt);
}

function newest(folder: string): number {
  const times = readdirSync(folder, { withFileTypes: true }).map((entry) => {
    if (entry.name === 'dist' || entry.name === 'node_modules' || entry.name.includes('.test.')) return 0;
    const path = join(folder, entry.name);
    return entry.isDirectory() ? newest(path) : statSync(path).mtimeMs;
  });
  return Math.max(0, ...times);
}

function tryLock(): boolean {
  mkdirSync(dirname(lock), { recursive: true });
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false; // Somebody else builds.
  }
}
