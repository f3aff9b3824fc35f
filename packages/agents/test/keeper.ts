import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AgentKeeper } from '@concerto/agents';
import { KeeperClient } from '@concerto/keeper';
import { afterAll } from 'vitest';
import { bundledFile } from '../../../tests/support/bundled-file.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const program = [bundledFile(join(root, 'packages/keeper/src/keeper-main.ts'))];

/** One keeper for a test file; it ends when its folder is gone, and what it holds with it. */
export function newKeeper(): AgentKeeper {
  const folder = mkdtempSync(join(tmpdir(), 'agents-keeper-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return new AgentKeeper(new KeeperClient({ folder: join(folder, 'keeper'), program }), 60_000);
}

/** One whose program does not exist. */
export function brokenKeeper(report: (message: string) => void): AgentKeeper {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-no-keeper-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return new AgentKeeper(new KeeperClient({ folder, program: ['/no/such/program.mjs'] }), 60_000, report);
}
