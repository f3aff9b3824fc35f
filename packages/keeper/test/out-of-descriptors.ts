import { closeSync, openSync } from 'node:fs';
import { GroupProcess } from '../src/group-process.ts';

/* Uses up every descriptor, starts a process, gives them back, and starts one again; says how both went. */

const launch = { command: 'cat', args: [], cwd: '/', env: { PATH: process.env.PATH ?? '' }, marker: 'm' };

// What is loaded or opened on first use must not be missing for want of a descriptor.
await (await GroupProcess.start(launch)).end();

const held: number[] = [];
try {
  for (;;) held.push(openSync('/dev/null', 'r'));
} catch {
  // That was the last one.
}
const refused = await GroupProcess.start(launch).catch((cause: unknown) => cause);
for (const descriptor of held) closeSync(descriptor);
const code = refused instanceof Error && 'code' in refused ? refused.code : 'started';
const started = await GroupProcess.start(launch);
await started.end();
process.stdout.write(`${String(code)} then started\n`);
