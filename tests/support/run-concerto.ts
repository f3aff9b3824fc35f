import { spawn } from 'node:child_process';
import { concertoCommand } from './concerto-command.ts';

const endsWithinMs = 60_000;

export type ConcertoRun = {
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
  /** Up to now. */
  readonly said: () => string;
  /** What is typed, where its standard input is open. */
  readonly type: (text: string) => void;
  readonly interrupt: () => void;
  /** As a power cut would. */
  readonly kill: () => void;
};

/** `concerto …` as a process of its own, with these variables and no others of ours but `PATH`. */
export function runConcerto(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd = process.cwd(),
  stdin: 'ignore' | 'pipe' = 'ignore',
): ConcertoRun {
  const child = spawn(process.execPath, [...concertoCommand, ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? '', XDG_STATE_HOME: process.env.XDG_STATE_HOME ?? '', NO_COLOR: '1', ...env },
    stdio: [stdin, 'pipe', 'pipe'],
    timeout: endsWithinMs,
    killSignal: 'SIGKILL',
  });
  let out = '';
  let err = '';
  // Who was killed reads nothing more.
  child.stdin?.on('error', () => {});
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  return {
    ended: new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, out, err }));
    }),
    said: () => out,
    type: (text) => void child.stdin?.write(text),
    interrupt: () => void child.kill('SIGINT'),
    kill: () => void child.kill('SIGKILL'),
  };
}
