// The built command, of which every `run` is a session of a store in memory: for the vectors of the language.
const [command, ...words] = process.argv.slice(2);
const stored = command === 'run' ? ['--store', 'memory:'] : [];
process.argv.splice(2, process.argv.length, command, ...stored, ...words);
await import('../../apps/cli/bin/concerto.js');
