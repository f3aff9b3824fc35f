import { vi } from 'vitest';

/** Runs a command in this process as if it had been typed, and gives what it printed. */
export async function type(command: { run(argv: string[]): Promise<number> }, ...argv: string[]) {
  let out = '';
  let err = '';
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    out += String(chunk);
    return true;
  });
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    err += String(chunk);
    return true;
  });
  try {
    return { code: await command.run(argv), out, err };
  } finally {
    stdout.mockRestore();
    stderr.mockRestore();
  }
}
