// Closes its stdout in the middle of the turn and lives on: nothing it does can be heard any more.
import { closeSync } from 'node:fs';
import { createInterface } from 'node:readline';

createInterface({ input: process.stdin }).once('line', () => {
  process.stderr.write('going mute\n');
  closeSync(1);
});
setInterval(() => {}, 1000);
