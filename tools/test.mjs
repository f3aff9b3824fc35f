// `npm test`: installs what the tests need, builds, checks, and runs everything. Arguments go to the test runner.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from './build.mjs';
import { install } from './install.mjs';
import { root } from './root.mjs';

install();
installPrograms({ 'redis-server': 'redis-server', python3: 'python3', bwrap: 'bubblewrap' });
await build();
if (process.argv.length <= 2) step('node', ['tools/check.mjs']);
// Tests that start the command take what was just built.
process.env.CONCERTO_TEST_BUILT = '1';
step('node_modules/.bin/vitest', ['run', ...process.argv.slice(2)]);
if (process.argv.length <= 2) {
  const lang = 'tests/vectors/lang';
  step('node', [
    'tests/vectors/run-lang.mjs',
    '--concerto',
    `${process.execPath} ${join(root, 'apps/cli/bin/concerto.js')}`,
    lang,
  ]);
  // Once more in a store that is kept, with the journal that a server writes.
  const conducted = `${process.execPath} ${join(root, 'tests/support/stored-concerto.mjs')}`;
  const folders = ['agent', 'listen', 'init'].map((name) => `${lang}/${name}`);
  step('node', ['tests/vectors/run-lang.mjs', '--concerto', conducted, ...folders]);
}

function step(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

/** Some tests run against a real Redis, others with agents in Python or in a sandbox; what is missing and may be installed is installed. */
function installPrograms(programs) {
  const missing = Object.entries(programs)
    .filter(([program]) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status !== 0)
    .map(([, name]) => name);
  if (missing.length === 0) return;
  const names = missing.join(' and ');
  const apt = spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status === 0;
  if (!apt || process.getuid?.() !== 0) {
    console.error(`concerto: ${names} cannot be installed from here; install it to run all the tests.`);
    if (process.env.CI === 'true') process.exit(1);
    return;
  }
  console.log(`concerto: installing ${names} …`);
  const quiet = { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  spawnSync('apt-get', ['update', '-qq'], quiet);
  const installed = spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], quiet);
  if (installed.status !== 0 && process.env.CI === 'true') process.exit(1);
}
