// `npm run pictures [-- NAME …]`: every page and state, light and dark, wide and on a phone, into docs/images; fails on what axe finds.
// `npm run pictures -- examples [NAME …]`: the session of each example.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './root.mjs';

const tsx = join(root, 'node_modules/tsx/dist/esm/index.mjs');
const [first, ...others] = process.argv.slice(2);
const [script, names] =
  first === 'examples' ? ['take-example-pictures.ts', others] : ['take-pictures.ts', process.argv.slice(2)];
const args = ['--import', tsx, '--conditions=@concerto/source', join(root, 'tests/support', script), ...names];
const { status } = spawnSync(process.execPath, args, {
  cwd: root,
  stdio: 'inherit',
});
process.exit(status ?? 1);
