import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { bundledFile } from '../../../tests/support/bundled-file.ts';

export type Child = {
  readonly process: ChildProcessByStdio<null, Readable, null>;
  readonly lines: AsyncIterableIterator<string>;
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
};

const made = new Map<string, string>();

/** Runs a TypeScript file of this folder as a process of its own. */
export function startChild(file: string, ...args: readonly string[]): Child {
  const script = made.get(file) ?? bundledFile(fileURLToPath(new URL(file, import.meta.url)));
  made.set(file, script);
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return { process: child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](), gone };
}
