// `npm run test:packages`: the packed packages on every Node that we say they run on, each fetched from the registry.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from './build.mjs';
import { install } from './install.mjs';
import { root } from './root.mjs';

const versions = ['20.19.0', '22', '24'];
const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

install();
await build();
const folder = mkdtempSync(join(tmpdir(), 'concerto-nodes-'));
try {
  for (const version of versions) {
    const flags = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', folder];
    step('npm', ['install', ...flags, `node-${platform}@${version}`]);
    const node = join(folder, 'node_modules', `node-${platform}`, 'bin', 'node');
    console.log(`concerto: on Node ${spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()}`);
    process.env.CONCERTO_TEST_NODE = node;
    step(join(root, 'node_modules/.bin/vitest'), ['run', 'tests/e2e/packages.test.ts']);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function step(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (result.status === 0) return;
  process.exitCode = result.status ?? 1;
  throw new Error(`${command} ${args[0]} failed`);
}
