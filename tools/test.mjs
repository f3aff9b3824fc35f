// `npm test`: installs what the tests need, builds, checks, and runs everything. Arguments go to the test runner.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from './build.mjs';
import { install } from './install.mjs';
import { root } from './root.mjs';

install();
installRedis();
build();
if (process.argv.length <= 2) step('node', ['tools/check.mjs']);
// Tests that start the command take what was just built.
process.env.CONCERTO_TEST_BUILT = '1';
step('node_modules/.bin/vitest', ['run', ...process.argv.slice(2)]);
if (process.argv.length <= 2) {
  const concerto = `${process.execPath} ${join(root, 'apps/cli/bin/concerto.js')}`;
  step('node', ['tests/vectors/run-lang.mjs', '--concerto', concerto, 'tests/vectors/lang']);
}

function step(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

/** The Redis tests run against a real server; where none is installed and we may install one, we do. */
function installRedis() {
  if (spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0) return;
  const apt = spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status === 0;
  if (!apt || process.getuid?.() !== 0) {
    console.error(
      'concerto: redis-server is missing and cannot be installed from here; install it to run the Redis tests.',
    );
    if (process.env.CI === 'true') process.exit(1);
    return;
  }
  console.log('concerto: installing redis-server …');
  const quiet = { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  spawnSync('apt-get', ['update', '-qq'], quiet);
  const installed = spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'redis-server'], quiet);
  if (installed.status !== 0 && process.env.CI === 'true') process.exit(1);
}
