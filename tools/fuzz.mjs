// `npm run fuzz [-- --count N --seed S]`: random and mutated programs through lexer, parser, checker and formatter.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './root.mjs';

const script = join(root, 'packages/language/test/run-fuzz.ts');
const result = spawnSync(
  process.execPath,
  ['--import', 'tsx', '--conditions=@concerto/source', script, ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
);
process.exit(result.status ?? 1);
