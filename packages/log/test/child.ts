import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export type Child = {
  readonly process: ChildProcessByStdio<null, Readable, null>;
  readonly lines: AsyncIterableIterator<string>;
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
};

/** Runs a TypeScript file of this folder as a process of its own. */
export function startChild(file: string, ...args: readonly string[]): Child {
  const script = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, ['--conditions=@concerto/source', '--import', 'tsx', script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return { process: child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](), gone };
}
