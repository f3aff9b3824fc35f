import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { pathOf } from './file-path.ts';

/** A larger file is no program that someone wrote; it counts as absent. */
const MOST_BYTES = 8 * 1024 * 1024;

interface DiskText {
  readonly stamp: string;
  readonly text: string;
}

const ABSENT = 'absent';

/** Texts as the editor sees them: what is open and maybe unsaved, else what is on the disk. */
export class Files {
  readonly #open = new Map<string, { readonly document: TextDocument; readonly change: number }>();
  readonly #disk = new Map<string, DiskText>();
  #changes = 0;

  /** Opened or changed. Versions are the editor's, and begin again when a file is opened again; our count does not. */
  set(document: TextDocument): void {
    this.#changes++;
    this.#open.set(pathOf(document.uri), { document, change: this.#changes });
  }

  close(path: string): void {
    this.#open.delete(path);
    this.#disk.delete(path);
  }

  get openPaths(): string[] {
    return [...this.#open.keys()];
  }

  document(path: string): TextDocument | undefined {
    return this.#open.get(path)?.document;
  }

  /** Differs when the text may. */
  stamp(path: string): string {
    const open = this.#open.get(path);
    if (open !== undefined) return `change ${open.change}`;
    try {
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat === undefined || !stat.isFile() || stat.size > MOST_BYTES) return ABSENT;
      return `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
    } catch {
      // A path below a file, or with a NUL in it.
      return ABSENT;
    }
  }

  read(path: string): string | undefined {
    const open = this.#open.get(path);
    if (open !== undefined) return open.document.getText();
    const stamp = this.stamp(path);
    if (stamp === ABSENT) return undefined;
    const known = this.#disk.get(path);
    if (known?.stamp === stamp) return known.text;
    try {
      const text = readFileSync(path, 'utf8');
      this.#disk.set(path, { stamp, text });
      return text;
    } catch {
      // It went away since, or may not be read: either way there is nothing to show.
      return undefined;
    }
  }

  /** Paths of the programs directly in a directory, in a stable order. */
  programsIn(directory: string): string[] {
    try {
      const names = readdirSync(directory).filter((name) => name.endsWith('.conc'));
      return names.toSorted().map((name) => `${directory}/${name}`);
    } catch {
      return [];
    }
  }
}
