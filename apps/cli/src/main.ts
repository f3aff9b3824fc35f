import { writeSync } from 'node:fs';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from './command-line.ts';
import { commands } from './commands.ts';
import { ownVersion } from './own-place.ts';
import { terminalWidth } from './terminal/table.ts';

// What we start finds the `concerto` that started it, also where nobody has installed one; an installed one comes first.
const own = fileURLToPath(new URL('../bin', import.meta.url));
process.env.PATH = [process.env.PATH, own].filter((part) => part !== undefined && part !== '').join(delimiter);

// `concerto … | head` closes our output early; that is not a failure. A full disk is.
function onOutputError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0);
  writeSync(2, `error: the output cannot be written: ${error.message}\n`);
  process.exit(1);
}
for (const stream of [process.stdout, process.stderr]) stream.on('error', onOutputError);

const exitCode = await runCommandLine(commands, process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  version: ownVersion,
  columns: terminalWidth(),
});

// Handles that a library left open must not keep the process; what was written must still arrive.
process.exitCode = exitCode;
process.stdout.write('', (error) => {
  if (error) onOutputError(error);
  process.stderr.write('', () => process.exit());
});
