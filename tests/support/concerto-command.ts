import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const fromSource = ['--import', join(root, 'node_modules/tsx/dist/esm/index.mjs'), '--conditions=@concerto/source'];
// `npm test` builds first and says so: what is built starts several times faster.
const isBuilt = process.env.CONCERTO_TEST_BUILT === '1';

/** Node's arguments for the command: as it was built by whoever runs the tests, else from source. */
export const concertoCommand: readonly string[] = isBuilt
  ? [join(root, 'apps/cli/bin/concerto.js')]
  : [...fromSource, join(root, 'apps/cli/src/main.ts')];

/** Other files than those that `npm test` starts: to a server that runs, a new version. */
export const otherVersion: readonly string[] = [...fromSource, join(root, 'apps/cli/src/main.ts')];

/** The same for the middleware that plays scripts. */
export const scriptedCommand: readonly string[] = isBuilt
  ? [join(root, 'apps/cli/dist/scripted-main.js')]
  : [...fromSource, join(root, 'middleware/scripted/src/scripted-main.ts')];
