import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

/** Where what is not bundled is found from. */
const folder = fileURLToPath(new URL('../../node_modules/.cache/started', import.meta.url));

/** A TypeScript file as one that Node starts at once: reading it and all that it imports file by file takes longer than most of them run. */
export function bundledFile(file: string): string {
  const outfile = join(folder, `${basename(file, '.ts')}-${process.pid}.mjs`);
  mkdirSync(folder, { recursive: true });
  buildSync({
    entryPoints: [file],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    conditions: ['@concerto/source'],
    external: ['libsql', 'redis'],
    logLevel: 'error',
  });
  return outfile;
}
