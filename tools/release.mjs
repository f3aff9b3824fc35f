// `npm run release`: packs what is committed and shows what would be published; `-- --publish` does it.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pack } from './pack.mjs';
import { commonFields } from './packages.mjs';
import { root } from './root.mjs';

const isReal = process.argv.includes('--publish');
const { version } = commonFields();
const problems = [
  [run('git', ['status', '--porcelain']) !== '', 'there are changes that are not committed'],
  [
    !readFileSync(join(root, 'CHANGELOG.md'), 'utf8').includes(`## ${version}`),
    `CHANGELOG.md says nothing of ${version}`,
  ],
  [isReal && run('git', ['tag', '--list', `v${version}`]) !== '', `v${version} was released; npm run set-version`],
].flatMap(([isSo, problem]) => (isSo ? [problem] : []));
for (const problem of problems) console.error(`concerto: ${problem}`);
if (problems.length > 0 && isReal) process.exit(1);

const target = join(root, 'release');
rmSync(target, { recursive: true, force: true });
for (const file of await pack(target)) {
  const args = ['publish', file, ...(isReal ? [] : ['--dry-run'])];
  const published = spawnSync('npm', args, { cwd: root, stdio: 'inherit' });
  if (published.status !== 0) process.exit(published.status ?? 1);
}
if (isReal) run('git', ['tag', `v${version}`]);
console.log(
  isReal ? `concerto: ${version} is published; push the tag v${version}.` : 'concerto: nothing was published.',
);

function run(command, args) {
  return spawnSync(command, args, { cwd: root, encoding: 'utf8' }).stdout.trim();
}
