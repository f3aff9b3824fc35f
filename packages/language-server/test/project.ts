import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

export interface Project {
  /** Writes a file, and gives its path. */
  readonly write: (name: string, text: string) => string;
  readonly remove: (name: string) => void;
}

/** A directory that is gone after the test. */
export function newProject(): Project {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'concerto-lsp-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return {
    write: (name, text) => {
      const path = join(directory, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      return path;
    },
    remove: (name) => rmSync(join(directory, name)),
  };
}
