// `npm run set-version -- 0.2.0`: every package of the repository, and what they say of each other, in one step.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.mjs';

const [version = ''] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) {
  console.error('usage: npm run set-version -- VERSION, for example 0.2.0');
  process.exit(2);
}
const folders = ['packages', 'apps', 'middleware'].flatMap((group) =>
  readdirSync(join(root, group)).map((name) => join(group, name)),
);
const files = ['.', 'editors/vscode', ...folders].map((folder) => join(root, folder, 'package.json'));
for (const file of files.filter((path) => existsSync(path))) {
  const own = JSON.parse(readFileSync(file, 'utf8'));
  own.version = version;
  for (const name of Object.keys(own.dependencies ?? {})) {
    if (name.startsWith('@concerto/')) own.dependencies[name] = version;
  }
  writeFileSync(file, `${JSON.stringify(own, null, 2)}\n`);
}
// The client for Python is in step with them.
const python = join(root, 'clients/python/pyproject.toml');
writeFileSync(python, readFileSync(python, 'utf8').replace(/^version = ".*"$/m, `version = "${version}"`));
const locked = spawnSync('npm', ['install', '--package-lock-only', '--no-audit', '--no-fund', '--loglevel=error'], {
  cwd: root,
  stdio: 'inherit',
});
if (locked.status !== 0) process.exit(locked.status ?? 1);
console.log(`concerto: everything is ${version}. Say in CHANGELOG.md what is new, commit, then \`npm run release\`.`);
