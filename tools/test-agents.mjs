// `npm run test:agents [-- ARGUMENTS OF THE TEST RUNNER]`: tests our drivers and middleware with the real agent programs,
// which it installs into a folder of its own. They are too large (a GB) for everybody's `npm install`. No key is needed: a
// scripted model on loopback answers.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeAgentTable } from './agent-table.mjs';
import { build } from './build.mjs';
import { install } from './install.mjs';
import { root } from './root.mjs';

// Pinned: their wire changes from week to week, and npm would choose an older one for Node 20.
const programs = {
  CONCERTO_TEST_CLAUDE: { name: '@anthropic-ai/claude-code', version: '2.1.325', bin: 'claude' },
  CONCERTO_TEST_CODEX: { name: '@openai/codex', version: '0.166.0', bin: 'codex' },
  // Without its optional part, which is the program above once more.
  CONCERTO_TEST_CLAUDE_ACP: {
    name: '@agentclientprotocol/claude-agent-acp',
    version: '0.99.0',
    bin: 'claude-agent-acp',
    options: ['--omit=optional'],
  },
  CONCERTO_TEST_GEMINI: {
    name: '@google/gemini-cli',
    version: '0.61.0',
    bin: 'gemini',
    options: ['--omit=optional'],
  },
  // The program for one platform alone: the package for all of them installs it twice.
  ...(process.platform === 'linux' && process.arch === 'x64'
    ? {
        CONCERTO_TEST_OPENCODE: {
          name: 'opencode-linux-x64-baseline',
          version: '1.18.33',
          bin: '../opencode-linux-x64-baseline/bin/opencode',
        },
      }
    : {}),
};

install();
build();
const env = { ...process.env };
for (const [variable, agent] of Object.entries(programs)) env[variable] = program(agent);
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
  const versions = Object.fromEntries(Object.entries(programs).map(([variable, { version }]) => [variable, version]));
  const changed = writeAgentTable(JSON.parse(readFileSync(results, 'utf8')), versions);
  if (changed.length > 0) console.log(`concerto: docs/guide/agents.md has changed:\n${changed.join('\n')}`);
}
process.exit(tested.status ?? 1);

/** The path of the program, installed if it is not there yet. */
function program({ name, version: pinned, bin, options = [] }) {
  // `CONCERTO_AGENTS=latest` shows what a new version changes.
  const version = process.env.CONCERTO_AGENTS ?? pinned;
  const folder = join(root, 'node_modules', '.cache', 'agents', `${name.replaceAll('/', '-')}-${version}`);
  const path = join(folder, 'node_modules', '.bin', bin);
  if (!runs(path)) {
    console.log(`concerto: installing ${name} ${version} …`);
    mkdirSync(folder, { recursive: true });
    const settings = ['--no-save', '--no-audit', '--no-fund', '--prefix', folder, ...options];
    const args = ['install', ...settings, `${name}@${version}`];
    const installed = spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    if (installed.status !== 0 || !runs(path)) {
      console.error(`concerto: ${name} ${version} could not be installed, or does not run on this machine.`);
      process.exit(1);
    }
  }
  return path;
}

/** An installation that was cut off leaves a file that does not run. */
function runs(path) {
  return existsSync(path) && spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 60_000 }).status === 0;
}
