// `npm run fuzz [-- --of NAME --count N --seed S --jobs J]`: whatever may come from outside (conc, ir, manifest, signals, ndjson,
// http, and the wires agui, chat, chat-stream, streams, beta, runs, mcp), changed at random, on every core; goes on where it was stopped, and keeps what it finds in tests/fuzz/found.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { install } from './install.mjs';
import { root } from './root.mjs';

install();
const options = { of: { type: 'string', multiple: true }, count: { type: 'string' }, seed: { type: 'string' } };
const { values } = parseArgs({ options: { ...options, jobs: { type: 'string' } } });
const jobs = Number(values.jobs ?? availableParallelism());
const words = Object.entries(values)
  .filter(([name]) => name !== 'jobs')
  .flatMap(([name, given]) => [given].flat().flatMap((value) => [`--${name}`, value]));
const flags = ['--import', 'tsx', '--conditions=@concerto/source', join(root, 'tests/fuzz/run-fuzz.ts')];
const codes = await Promise.all(
  Array.from({ length: jobs }, async (_, job) => {
    const child = spawn(process.execPath, [...flags, ...words, '--part', `${job}/${jobs}`], {
      cwd: root,
      stdio: 'inherit',
    });
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
    const [code] = await once(child, 'exit');
    return code;
  }),
);
process.exit(codes.every((code) => code === 0) ? 0 : (codes.find((code) => code !== 0) ?? 1));
