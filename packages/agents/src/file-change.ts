import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import type { FileChange } from '@concerto/protocol';
import { createTwoFilesPatch } from 'diff';

/** Larger files are not read for a diff, and a longer patch is cut: it is for reading. */
const fileBytesMax = 256 * 1024;
const patchCharactersMax = 64_000;

export type Hunk = {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
};

/** What becomes of a file: without `before` it is made, without `after` it is gone. */
export function changeOf(path: string, before: string | undefined, after: string | undefined): FileChange {
  const kind = kindOf(before, after);
  const [from, to] = [before === undefined ? '/dev/null' : path, after === undefined ? '/dev/null' : path];
  const patch = createTwoFilesPatch(from, to, before ?? '', after ?? '', undefined, undefined, { context: 3 });
  // Its first line is a rule, which says nothing.
  return changeOfPatch(path, kind, patch.replace(/^=+\n/, ''));
}

function kindOf(before: string | undefined, after: string | undefined): FileChange['kind'] {
  if (before === undefined) return 'create';
  return after === undefined ? 'delete' : 'edit';
}

/** A patch that an agent has made itself, with or without its head. */
export function changeOfPatch(path: string, kind: FileChange['kind'], patch: string, movedTo?: string): FileChange {
  const body = patch.replace(/^Index: .*\n=+\n/, '');
  const whole = /^--- /m.test(body) ? body : `--- ${path}\n+++ ${movedTo ?? path}\n${body}`;
  return {
    path,
    kind,
    ...(movedTo === undefined ? {} : { movedTo }),
    patch: whole.length <= patchCharactersMax ? whole : `${whole.slice(0, patchCharactersMax)}\n[cut]`,
    added: countLines(whole, '+'),
    removed: countLines(whole, '-'),
  };
}

export function changeOfHunks(path: string, kind: FileChange['kind'], hunks: readonly Hunk[]): FileChange {
  const text = hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) =>
    [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines].join('\n'),
  );
  return changeOfPatch(path, kind, `${text.join('\n')}\n`);
}

/** As our own wire spells it. */
export function wireChange({ movedTo, ...change }: FileChange) {
  return { ...change, ...(movedTo === undefined ? {} : { moved_to: movedTo }) };
}

/** The text of a file as it stands, if it is there, is a text and is not large. */
export function textOfFile(folder: string, path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(resolve(folder, path), 'r');
    const bytes = Buffer.alloc(fileBytesMax + 1);
    const length = readSync(file, bytes, 0, bytes.length, 0);
    if (length > fileBytesMax || bytes.subarray(0, length).includes(0)) return undefined;
    return bytes.toString('utf8', 0, length);
  } catch {
    // It is not there, or not ours to read: the change is then shown without what was before.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Lines of a unified diff that begin so; its head (`+++`, `---`) is none of them. */
function countLines(patch: string, sign: '+' | '-'): number {
  const [, ...hunks] = patch.split(/^@@/m);
  return hunks.reduce((sum, hunk) => sum + hunk.split('\n').filter((line) => line.startsWith(sign)).length, 0);
}
