// Installs what package-lock.json names, once: a stamp beside node_modules says which lock it was for.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.mjs';

const stampFile = join(root, 'node_modules', '.concerto-installed');

export function install() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .update(process.version)
    .digest('hex');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === lock) return;
  console.log('concerto: installing dependencies (first time, or the lock file changed) …');
  // Not `npm ci`, which would take the agent programs away that were downloaded into `node_modules/.cache`.
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  if (spawnSync('npm', args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] }).status !== 0) {
    console.error('concerto: npm install failed; see its message above. Node 20.19 or newer and npm are needed.');
    process.exit(1);
  }
  writeFileSync(stampFile, lock);
}
