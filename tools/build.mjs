// Builds every package (tsc -b), the command (esbuild) and the web page (vite), unless nothing they are made of has
// changed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, commandEntries } from './bundle.mjs';
import { install } from './install.mjs';
import { root } from './root.mjs';

const stampFile = join(root, 'node_modules', '.concerto-built');
const roots = ['packages', 'apps', 'middleware'];

export function projects(name) {
  return roots
    .flatMap((folder) => readdirSync(join(root, folder)).map((room) => join(folder, room, name)))
    .filter((file) => existsSync(join(root, file)));
}

export async function build() {
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === sourcesFingerprint()) return;
  console.log('concerto: building …');
  run('tsc', ['-b', ...projects('tsconfig.json').filter((file) => !file.startsWith(join('apps', 'web')))]);
  await bundle({ entries: commandEntries, outdir: join(root, 'apps/cli/dist'), maps: true });
  if (existsSync(join(root, 'apps/web/vite.config.ts'))) run('vite', ['build', '--logLevel', 'warn'], 'apps/web');
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  writeFileSync(stampFile, sourcesFingerprint());
}

function run(command, args, folder = '.') {
  const bin = join(root, 'node_modules', '.bin', command);
  const result = spawnSync(bin, args, { cwd: join(root, folder), stdio: 'inherit' });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

/** Names, sizes and times: cheap enough that an unchanged second start costs milliseconds. */
function sourcesFingerprint() {
  const hash = createHash('sha256').update(process.version);
  const visit = (folder) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (entry.name !== 'node_modules' && entry.name !== 'dist' && entry.name !== 'test') visit(path);
      } else if (!/\.test\.tsx?$/.test(entry.name)) {
        const { size, mtimeMs } = statSync(join(root, path));
        hash.update(`${path}\0${size}\0${mtimeMs}\n`);
      }
    }
  };
  for (const folder of roots) visit(folder);
  for (const file of ['tsconfig.base.json', 'tools/build.mjs', 'tools/bundle.mjs'])
    hash.update(readFileSync(join(root, file)));
  // A dist that was deleted by hand must be made again.
  for (const file of projects('tsconfig.json')) hash.update(String(existsSync(join(root, file, '..', 'dist'))));
  return hash.digest('hex');
}

if (process.argv[1] === join(root, 'tools', 'build.mjs')) {
  install();
  await build();
}
