import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this package: of the clone, or as it was installed. */
const packageFolder = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const installedPage = join(packageFolder, 'page');

/**
 * What came with the program that runs. For an installed one that is its own folder and no more: the project that has
 * it among its `node_modules` is somebody else's.
 */
export function ownRoot(): string {
  return existsSync(installedPage) ? packageFolder : resolve(packageFolder, '../..');
}

/** Where the page is, if it was built. */
export function pageFolder(): string | undefined {
  return [installedPage, resolve(packageFolder, '../web/dist')].find((folder) => existsSync(folder));
}

export function ownVersion(): string {
  return String(createRequire(import.meta.url)('../package.json').version);
}
