// `npm run pack [-- FOLDER]`: every published package as a tarball, made of what was built; the command is
// bundled with all that it is made of, so that installing it fetches little, and nothing of ours.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from './build.mjs';
import { bundle, commandEntries, external } from './bundle.mjs';
import { install } from './install.mjs';
import { commandFolder, commandName, commonFields, libraries, readPackage } from './packages.mjs';
import { root } from './root.mjs';

/** Packs everything into `target`; gives the files' paths. */
export async function pack(target) {
  install();
  await build();
  mkdirSync(target, { recursive: true });
  const stage = mkdtempSync(join(tmpdir(), 'concerto-pack-'));
  try {
    const stages = [...libraries.map((folder) => stageLibrary(folder, stage)), await stageCommand(stage)];
    return stages.map((folder) => npmPack(folder, target));
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function stageLibrary(folder, stage) {
  const own = readPackage(folder);
  const to = join(stage, own.name.replace('@', '').replace('/', '-'));
  copyBuilt(folder, to);
  cpSync(join(root, folder, 'README.md'), join(to, 'README.md'));
  writePackage(to, { ...published(own), publishConfig: { access: 'public' } });
  return to;
}

async function stageCommand(stage) {
  const to = join(stage, commandName);
  const own = readPackage(commandFolder);
  await bundle({ entries: commandEntries, outdir: join(to, 'dist') });
  cpSync(join(root, 'LICENSE'), join(to, 'LICENSE'));
  cpSync(join(root, commandFolder, 'bin'), join(to, 'bin'), { recursive: true });
  cpSync(join(root, commandFolder, 'README.md'), join(to, 'README.md'));
  cpSync(join(root, 'apps/web/dist'), join(to, 'page'), { recursive: true });
  const { dependencies } = readPackage('packages/log');
  writePackage(to, {
    ...published(own),
    name: commandName,
    files: ['bin', 'dist', 'page'],
    dependencies: Object.fromEntries(external.map((name) => [name, dependencies[name]])),
  });
  return to;
}

function copyBuilt(folder, to) {
  cpSync(join(root, folder, 'dist'), join(to, 'dist'), { recursive: true, filter: (path) => !isForUs(path) });
  for (const path of readdirSync(join(to, 'dist'), { recursive: true })) withoutMap(join(to, 'dist', path));
  cpSync(join(root, 'LICENSE'), join(to, 'LICENSE'));
}

/** Maps lead to sources that are not sent along. */
function isForUs(path) {
  return path.endsWith('.map') || path.endsWith('.tsbuildinfo');
}

function withoutMap(file) {
  if (!/\.[cm]?(js|ts)$/.test(file)) return;
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^\/\/# sourceMappingURL=.*\n?$/m, ''));
}

function published({ private: _private, devDependencies: _dev, ...own }) {
  return { ...own, ...commonFields(), files: ['dist'], ...(own.exports && { exports: built(own.exports) }) };
}

/** Without the way to the sources. */
function built(conditions) {
  if (typeof conditions !== 'object') return conditions;
  const entries = Object.entries(conditions).filter(([name]) => name !== '@concerto/source');
  return Object.fromEntries(entries.map(([name, value]) => [name, built(value)]));
}

function writePackage(folder, fields) {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(fields, null, 2)}\n`);
}

function npmPack(folder, target) {
  const args = ['pack', '--json', '--silent', '--pack-destination', target];
  const packed = spawnSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  if (packed.status !== 0) throw new Error(`npm pack failed in ${folder}`);
  const [{ filename }] = Object.values(JSON.parse(packed.stdout));
  return join(target, filename);
}

if (process.argv[1] === join(root, 'tools', 'pack.mjs')) {
  for (const file of await pack(resolve(process.argv[2] ?? join(root, 'release')))) console.log(file);
}
