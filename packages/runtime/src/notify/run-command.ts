import { spawn } from 'node:child_process';
import type { Notice } from './notice-book.ts';

const endsWithinMs = 30_000;
/** All that it sees of our variables. */
const passed = ['PATH', 'HOME', 'LANG', 'DISPLAY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR'];

export type NotifyCommand = { readonly command: string; readonly args: readonly string[]; readonly directory: string };

/** The notice is its input, as one line of JSON. Rejects unless it ends well in time; it ends with all that it started. */
export async function runCommand({ command, args, directory }: NotifyCommand, notice: Notice): Promise<void> {
  const own = passed.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const child = spawn(command, args, {
    cwd: directory,
    env: { ...Object.fromEntries(own), CONCERTO_NOTICE: notice.type, CONCERTO_SESSION: notice.session },
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    endGroup(child.pid);
  }, endsWithinMs);
  try {
    await new Promise<void>((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', (code, signal) => {
        if (code === 0) resolve();
        else reject(new Error(isLate ? `it ran for ${endsWithinMs / 1_000} s` : `it ended with ${code ?? signal}`));
      });
      // One that does not read its input is not wrong.
      child.stdin.on('error', () => undefined);
      child.stdin.end(`${JSON.stringify(notice)}\n`);
    });
  } finally {
    clearTimeout(timer);
    endGroup(child.pid);
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}
