// `npm run fuzz [-- --of conc|ir|manifest|signals|ndjson|http --count N --seed S]`: whatever may come from outside, changed at
// random; goes on where it was stopped, and keeps what it finds in tests/fuzz/found.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { install } from './install.mjs';
import { root } from './root.mjs';

install();
const script = join(root, 'tests/fuzz/run-fuzz.ts');
const result = spawnSync(
  process.execPath,
  ['--import', 'tsx', '--conditions=@concerto/source', script, ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
);
process.exit(result.status ?? 1);
