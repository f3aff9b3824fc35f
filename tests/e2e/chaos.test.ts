import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const aMachineUnderLoadMs = 600_000;

/** It needs what is built: many processes from source would measure the loader. */
const isBuilt = process.env.CONCERTO_TEST_BUILT === '1';

test.runIf(isBuilt).each([
  { store: 'sqlite', faults: 100, seed: 1 },
  { store: 'redis', faults: 100, seed: 2 },
])(
  '$faults random faults on $store, and nothing that must hold is broken',
  {
    timeout: aMachineUnderLoadMs,
  },
  async ({ store, faults, seed }) => {
    const args = ['tools/chaos.mjs', '--built', '--store', store, '--faults', `${faults}`, '--seed', `${seed}`];
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    // A second try would hide what the first one found.
    if (!said.includes('no violation')) process.stderr.write(said);
    expect(said).toContain(`${faults} faults: no violation`);
  },
);

test.runIf(isBuilt).each([
  { store: 'sqlite', kills: 4, seed: 1 },
  { store: 'redis', kills: 4, seed: 2 },
])(
  'programs that are killed $kills times on $store end as if nothing had been',
  {
    timeout: aMachineUnderLoadMs,
  },
  async ({ store, kills, seed }) => {
    const few = ['--kills', `${kills}`, '--seed', `${seed}`, '--at-once', '2'];
    const args = ['tools/kills.mjs', '--built', '--store', store, ...few];
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    if (!said.includes('no violation')) process.stderr.write(said);
    expect(said).toContain(`${kills} kills: no violation`);
  },
);
