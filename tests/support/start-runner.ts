import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { concertoCommand } from './concerto-command.ts';

/** `concerto runner` as a process of its own, ready to run sessions; whoever starts it ends it. */
export async function startRunner(
  folder: string,
  store: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ChildProcess> {
  const runner = spawn(process.execPath, [...concertoCommand, 'runner', '--store', store], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(runner.stdout, 'data');
  return runner;
}
