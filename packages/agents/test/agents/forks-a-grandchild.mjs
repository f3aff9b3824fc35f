// Leaves one child in its group and one that has left it, both holding its stdout, then ends or waits.
import { spawn } from 'node:child_process';

const forever = ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"];
const inGroup = spawn(process.execPath, forever, { stdio: 'inherit' });
const left = spawn(process.execPath, forever, { stdio: 'inherit', detached: true });
inGroup.unref();
left.unref();
console.log(JSON.stringify({ type: 'log', message: 'forked', pids: [inGroup.pid, left.pid] }));
if (process.argv[2] === 'wait') setInterval(() => {}, 1000);
