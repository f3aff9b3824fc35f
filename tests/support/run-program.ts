import { spawn } from 'node:child_process';

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

const withinMs = 100_000;

/** A program until it ends, and all that it wrote; with `env` it has nothing of ours in its environment. */
export function runProgram(
  [command = '', ...args]: readonly string[],
  cwd: string,
  env?: Readonly<Record<string, string>>,
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      ...(env === undefined ? {} : { env }),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: withinMs,
      killSignal: 'SIGKILL',
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() });
    });
  });
}
