// Uses up the processes that its account may have, and tries to start an agent; prints how that failed, and that one starts once there are some again.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { GroupProcess } from '../src/index.ts';

const nobody = 65_534;
// There is no such limit for root.
if (process.getuid?.() === 0) process.setuid?.(nobody);

const pid = String(process.pid);
const [, before = ''] = /^Max processes\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
// Waits with it, since none can be started then.
const lifts = spawn('sh', ['-c', 'read line; exec prlimit --pid "$1" --nproc="$2":', 'sh', pid, before], {
  stdio: ['pipe', 'ignore', 'inherit'],
});
execFileSync('prlimit', ['--pid', pid, '--nproc=1:']);
const launch = { command: 'sleep', args: ['60'], cwd: '/', env: { PATH: process.env.PATH ?? '' }, marker: 'none' };
const codeOf = (cause: unknown): unknown => (cause instanceof Error && 'code' in cause ? cause.code : cause);
const failed = await GroupProcess.start(launch).then(() => 'started', codeOf);
lifts.stdin.end('now\n');
await once(lifts, 'exit');
const agent = await GroupProcess.start(launch);
await agent.end();
console.log(`${String(failed)} then started`);
