import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { type Ran, runProgram } from './run-program.ts';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The built command in a folder, as people run it: several times faster to start than from source. */
export function builtConcerto(args: readonly string[], cwd: string): Promise<Ran> {
  return runProgram([process.execPath, join(root, 'apps/cli/bin/concerto.js'), ...args], cwd);
}
