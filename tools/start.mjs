// `npm start`: from a fresh clone to a running server, with no other step.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from './build.mjs';
import { install } from './install.mjs';
import { root } from './root.mjs';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`concerto: Node 20.19 or newer is needed, this is ${process.version}.`);
  process.exit(1);
}
install();
await build();
// In this process: one in between would hand on the Ctrl-C that the terminal gives to all of them anyway, and the server
// takes a second one to mean that agents at work are to end too.
const command = join(root, 'apps/cli/bin/concerto.js');
process.argv.splice(1, 1, command, 'serve');
await import(pathToFileURL(command).href);
