import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** It needs what is built: many processes from source would measure the loader. */
const isBuilt = process.env.CONCERTO_TEST_BUILT === '1';
const aMachineUnderLoadMs = 600_000;

/** A few of the faults that `npm run chaos` and `npm run kills` draw by the thousand. */
export function campaignsOn(store: 'sqlite' | 'redis', seed: number): void {
  const where = ['--store', store, '--seed', String(seed)];
  test.runIf(isBuilt)(
    `100 random faults on ${store}, and nothing that must hold is broken`,
    { timeout: aMachineUnderLoadMs },
    async () => {
      expect(await saidBy('chaos', [...where, '--faults', '100'])).toContain('100 faults: no violation');
    },
  );
  test.runIf(isBuilt)(
    `programs that are killed four times on ${store} end as if nothing had been`,
    { timeout: aMachineUnderLoadMs },
    async () => {
      const few = [...where, '--kills', '4', '--at-once', '2'];
      expect(await saidBy('kills', few)).toContain('4 kills: no violation');
    },
  );
}

/** All of it is printed where it found something, since a second try would hide that. */
async function saidBy(tool: 'chaos' | 'kills', words: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [`tools/${tool}.mjs`, '--built', ...words], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (!said.includes('no violation')) process.stderr.write(said);
  return said;
}
