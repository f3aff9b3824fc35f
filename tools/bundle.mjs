// Makes few files of hundreds: what a command does not need stays in a file of its own that is not loaded, and
// starting one costs half. Made of the sources, so that its maps lead there.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative, sep } from 'node:path';
import { root } from './root.mjs';

/** The command, and what is started by its path from there: found beside the file that starts it, under its own name. */
export const commandEntries = [
  'apps/cli/src/main.ts',
  'apps/cli/src/serve/compile-host.ts',
  'packages/keeper/src/keeper-main.ts',
  'packages/runtime/src/program/machine/machine-host.ts',
  'middleware/scripted/src/scripted-main.ts',
];

/** Drivers with compiled parts, or that few need. Installed with the command. */
export const external = ['libsql', 'redis'];

/** A process that runs may still load what an earlier build made. */
const keptMs = 24 * 60 * 60 * 1_000;

/** Bundles `entries` into `outdir`, one file each beside those that they share; `maps`: to the sources, for `node --enable-source-maps`. */
export async function bundle({ entries, outdir, maps = false }) {
  // Not before: on a fresh clone it is installed by whoever calls.
  const { build } = createRequire(import.meta.url)('esbuild');
  mkdirSync(outdir, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: entries,
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    outdir,
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    conditions: ['@concerto/source'],
    external,
    plugins: [inEnglish],
    sourcemap: maps,
    sourcesContent: false,
    legalComments: 'none',
    metafile: true,
    // Some of what is bundled asks for Node's own modules in the old way.
    banner: {
      js: "import { createRequire as madeHere } from 'node:module'; const require = madeHere(import.meta.url);",
    },
    logLevel: 'warning',
  });
  const made = new Set(Object.keys(metafile.outputs).map((file) => relative(outdir, join(root, file))));
  writeFileSync(join(outdir, 'third-party-licenses.txt'), licences(Object.keys(metafile.inputs)));
  for (const file of readdirSync(outdir)) {
    if (/\.js(\.map)?$/.test(file) && !made.has(file)) removeOld(join(outdir, file));
  }
}

/**
 * Some libraries take all of zod as one value, of which no bundler can leave anything out: its sixty languages would be
 * read by every command. None but English is asked for (`packages/protocol/src/english.ts`).
 */
const inEnglish = {
  name: 'zod-in-english',
  setup: (built) =>
    built.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    })),
};

function removeOld(file) {
  if (Date.now() - statSync(file).mtimeMs > keptMs) rmSync(file);
}

/** What others wrote goes out with their terms. */
function licences(inputs) {
  const folders = new Set(inputs.filter((file) => file.includes('node_modules/')).map(packageFolder));
  const terms = [...folders]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const files = readdirSync(folder).filter((entry) => /^(licen[cs]e|notice)/i.test(entry));
      const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
      return [`${name} ${version} (${license})`, ...texts].join('\n\n');
    });
  return `${terms.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

function packageFolder(file) {
  const parts = join(root, file).split(sep);
  const at = parts.lastIndexOf('node_modules');
  const named = parts[at + 1].startsWith('@') ? at + 3 : at + 2;
  return parts.slice(0, named).join(sep);
}
