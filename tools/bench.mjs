// `npm run bench [-- NAME]`: measures, prints ratios to references taken in the same run, writes bench/results.json.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { install } from './install.mjs';
import { root } from './root.mjs';

install();
installPeers();
await build();
const result = spawnSync(
  process.execPath,
  [
    '--expose-gc',
    '--import',
    // By its path: a keeper is started with the same flags in a folder of its own.
    join(root, 'node_modules/tsx/dist/esm/index.mjs'),
    // The rooms as they were built, without `@concerto/source`: made on the way, each closure costs more than it does.
    join(root, 'bench/main.ts'),
    ...process.argv.slice(2),
  ],
  {
    cwd: root,
    stdio: 'inherit',
  },
);
process.exit(result.status ?? 1);

/** Only for those who measure: neither the product nor its tests need them. */
function installPeers() {
  const cwd = join(root, 'bench/peers');
  if (existsSync(join(cwd, 'node_modules'))) return;
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) console.error('bench: the peers could not be installed; their rows are left out');
}
