// What is published, and what each package is: the one list that packing, versions and the release read.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.mjs';

/** The command, under a name that the registry still has; `concerto` is somebody else's. */
export const commandName = 'concerto-agents';
export const commandFolder = 'apps/cli';

/** The libraries; those that others stand on come first. */
export const libraries = [
  'packages/base',
  'packages/ir',
  'packages/protocol',
  'packages/signals',
  'packages/language',
  'packages/language-server',
  'packages/client',
  'packages/agent-kit',
];

export function readPackage(folder) {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
}

/** What every package says of itself in the same words. */
export function commonFields() {
  const { version, license, engines } = readPackage('.');
  return { version, license, engines };
}
