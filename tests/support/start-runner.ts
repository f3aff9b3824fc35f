import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { concertoCommand } from './concerto-command.ts';

/** `concerto runner` as a process of its own, ready to run sessions; whoever starts it ends it. */
export async function startRunner(
  folder: string,
  store: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ChildProcess> {
  const runner = spawn(process.execPath, [...concertoCommand, 'runner', '--store', store], {
    cwd: folder,
    // The keeper of its machine goes with the folder.
    env: { ...process.env, XDG_STATE_HOME: join(folder, 'state'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  runner.stderr.pipe(process.stderr);
  await once(runner.stdout, 'data');
  return runner;
}
