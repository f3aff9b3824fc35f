// `npm run bench [-- NAME]`: measures, prints ratios to references taken in the same run, writes bench/results.json.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from './build.mjs';
import { install } from './install.mjs';
import { root } from './root.mjs';

install();
build();
const result = spawnSync(
  process.execPath,
  [
    '--expose-gc',
    '--import',
    'tsx',
    '--conditions=@concerto/source',
    join(root, 'bench/main.ts'),
    ...process.argv.slice(2),
  ],
  {
    cwd: root,
    stdio: 'inherit',
  },
);
process.exit(result.status ?? 1);
