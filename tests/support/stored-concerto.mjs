// The built command, of which every `run` is kept in a store of its own: for the vectors of the language.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [command, ...words] = process.argv.slice(2);
if (command === 'run') {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-vector-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  words.unshift('--store', `sqlite:${join(folder, 'store.db')}`);
}
process.argv.splice(2, process.argv.length, command, ...words);
await import('../../apps/cli/bin/concerto.js');
