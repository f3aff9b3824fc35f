// `npm run check`: types, lint, format, unused code and the house rules, side by side; prints what failed.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build, projects } from './build.mjs';
import { install } from './install.mjs';
import { root } from './root.mjs';

const checks = [
  ['types', 'tsc', ['-b', ...projects('tsconfig.json'), ...projects('tsconfig.test.json'), 'tests/tsconfig.test.json']],
  ['lint', 'oxlint', ['--quiet', '.']],
  ['format', 'biome', ['check', '.']],
  ['unused', 'knip', ['--no-progress']],
  ['tidy', 'vitest', ['run', '--silent=passed-only', '--reporter=dot', 'tools/tidy']],
];

// What is not installed or not yet built would look like errors in the code.
install();
await build();
const results = await Promise.all(checks.map(([name, command, args]) => run(name, command, args)));
process.exit(results.every((passed) => passed) ? 0 : 1);

function run(name, command, args) {
  return new Promise((resolve) => {
    const started = Date.now();
    const child = spawn(join(root, 'node_modules', '.bin', command), args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = [];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.on('close', (code) => {
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
      if (code !== 0) process.stdout.write(Buffer.concat(output));
      resolve(code === 0);
    });
  });
}
