import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder with those above it. Throws with what to do; of one that may not be written Node says that it is not
 * there (ENOENT of a recursive `mkdir`, seen on Node 20), so that is asked by itself.
 */
export function makeFolder(path: string, { mode, advice }: { readonly mode?: number; readonly advice: string }): void {
  try {
    mkdirSync(path, { recursive: true, ...(mode === undefined ? {} : { mode }) });
  } catch (cause) {
    throw new Error(`${path} cannot be made: ${whyNot(path, cause)}; ${advice}`, { cause });
  }
}

function whyNot(path: string, cause: unknown): string {
  let above = resolve(path);
  while (!existsSync(above)) above = dirname(above);
  if (!statSync(above).isDirectory()) return `${above} is a file`;
  try {
    accessSync(above, constants.W_OK | constants.X_OK);
    return messageOf(cause);
  } catch (refused) {
    return messageOf(refused);
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
