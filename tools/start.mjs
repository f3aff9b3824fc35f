// `npm start`: from a fresh clone to a running server, with no other step.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build } from './build.mjs';
import { install } from './install.mjs';
import { root } from './root.mjs';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`concerto: Node 20.19 or newer is needed, this is ${process.version}.`);
  process.exit(1);
}
install();
build();
const server = spawn(process.execPath, [join(root, 'apps/cli/bin/concerto.js'), 'serve', ...process.argv.slice(2)], {
  stdio: 'inherit',
});
// npm sends the signal to the whole group; without a handler this wrapper would die before the server has finished.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => server.kill(signal));
server.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 0)));
