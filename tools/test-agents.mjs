// `npm run test:agents [-- ARGUMENTS OF THE TEST RUNNER]`: tests our drivers and middleware with the real agent programs,
// which it installs into a folder of its own. They are too large (a GB) for everybody's `npm install`. No key is needed: a
// scripted model on loopback answers.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentPrograms, judgePrograms } from './agent-programs.mjs';
import { writeAgentTable } from './agent-table.mjs';
import { build } from './build.mjs';
import { install } from './install.mjs';
import { root } from './root.mjs';

const forHere = (all) =>
  Object.fromEntries(
    Object.entries(all).filter(
      ([, { only }]) => only === undefined || (only.platform === process.platform && only.arch === process.arch),
    ),
  );
const programs = forHere(agentPrograms);

install();
await build();
// What was just built is what is tested, and source stands for another version of it.
const env = { ...process.env, CONCERTO_TEST_BUILT: '1' };
// `CONCERTO_AGENTS=latest` shows what a new version of an agent changes.
for (const [variable, each] of Object.entries(programs)) env[variable] = program(each, process.env.CONCERTO_AGENTS);
for (const [variable, each] of Object.entries(forHere(judgePrograms))) env[variable] = program(each);
const chosen = process.argv.slice(2);
const results = join(root, 'node_modules', '.cache', 'agents', 'results.json');
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`];
const tested = spawnSync(
  join(root, 'node_modules', '.bin', 'vitest'),
  ['run', ...reporters, ...(chosen.length > 0 ? chosen : ['tests/agents'])],
  { cwd: root, stdio: 'inherit', env },
);
// Only all of them together say what each program can do.
if (chosen.length === 0 && existsSync(results)) {
  const versions = Object.fromEntries(Object.keys(programs).map((variable) => [variable, versionOf(env[variable])]));
  const changed = writeAgentTable(JSON.parse(readFileSync(results, 'utf8')), versions);
  if (changed.length > 0) console.log(`concerto: docs/guide/agents.md has changed:\n${changed.join('\n')}`);
}
process.exit(tested.status ?? 1);

/** The path of the program, or of the package that has none, installed if it is not there yet. */
function program({ name, version: pinned, bin, by, options = [] }, version = pinned) {
  const folder = join(root, 'node_modules', '.cache', 'agents', `${name.replaceAll('/', '-')}-${version}`);
  const path = join(folder, 'node_modules', bin === undefined ? name : join('.bin', bin));
  const runner = by === undefined ? [] : [env[by]];
  const isThere = () => (bin === undefined ? existsSync(join(path, 'package.json')) : runs([...runner, path]));
  if (!isThere()) {
    console.log(`concerto: installing ${name} ${version} …`);
    mkdirSync(folder, { recursive: true });
    const settings = ['--no-save', '--no-audit', '--no-fund', '--prefix', folder, ...options];
    const args = ['install', ...settings, `${name}@${version}`];
    const installed = spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    if (installed.status !== 0 || !isThere()) {
      console.error(`concerto: ${name} ${version} could not be installed, or does not run on this machine.`);
      process.exit(1);
    }
  }
  return path;
}

/** What it calls itself: `latest` is no version. */
function versionOf(path) {
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 60_000 });
  return /\d+\.\d+\.\d+\S*/.exec(stdout)?.[0] ?? 'unknown';
}

/** An installation that was cut off leaves a file that does not run. */
function runs(words) {
  const [command, ...args] = words;
  const { status } = spawnSync(command, [...args, '--version'], { stdio: 'ignore', timeout: 60_000 });
  return status === 0;
}
