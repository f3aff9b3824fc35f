// `npm run pictures [-- NAME …]`: every page and state, light and dark, wide and on a phone, into docs/images; fails on what axe finds.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './root.mjs';

const tsx = join(root, 'node_modules/tsx/dist/esm/index.mjs');
const script = join(root, 'tests/support/take-pictures.ts');
const args = ['--import', tsx, '--conditions=@concerto/source', script, ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, args, {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
