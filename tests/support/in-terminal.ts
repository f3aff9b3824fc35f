import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from './built-concerto.ts';

/** What is waited for, and then typed. */
export type TerminalSteps = readonly (readonly [string, string])[];

type Place = { readonly cwd?: string; readonly env: NodeJS.ProcessEnv; readonly withinMs?: number };

/** A command in a terminal of its own, before which somebody sits. */
export async function inTerminal(
  command: readonly string[],
  steps: TerminalSteps,
  { cwd, env, withinMs = 90_000 }: Place,
): Promise<{ readonly code: number | null; readonly shown: string }> {
  const harness = join(root, 'tests/support/terminal.py');
  const child = spawn('python3', [harness, JSON.stringify(steps), ...command], {
    cwd,
    env: { PATH: process.env.PATH, NO_COLOR: '1', TERM: 'xterm', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: withinMs,
    killSignal: 'SIGKILL',
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return { code, shown };
}
