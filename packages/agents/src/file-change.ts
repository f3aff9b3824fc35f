import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { firstOfText } from '@concerto/base';
import type { FileChange } from '@concerto/protocol';
import { createTwoFilesPatch } from 'diff';

/** Larger files are not read for a diff, and a longer patch is cut: it is for reading. */
const fileBytesMax = 256 * 1024;
const patchCharactersMax = 64_000;
/** Of both texts; and how long is looked for their difference. */
const comparedCharactersMax = 4_000_000;
const comparedWithinMs = 500;

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
  const from = before === undefined ? '/dev/null' : headPath(path);
  const to = after === undefined ? '/dev/null' : headPath(path);
  if (isBinary(before) || isBinary(after)) return changeOfPatch(path, kind, `Binary files ${from} and ${to} differ\n`);
  const head = `--- ${from}\n+++ ${to}\n`;
  const hunks = compared(before ?? '', after ?? '');
  if (hunks !== undefined) return changeOfPatch(path, kind, `${head}${hunks}`);
  const counts = { added: lineCount(after), removed: lineCount(before) };
  const note = `[too large to compare: ${counts.removed} lines before, ${counts.added} after]`;
  return { ...changeOfPatch(path, kind, `${head}${note}\n`), ...counts };
}

/** Undefined when finding the difference would take longer than anybody waits. */
function compared(before: string, after: string): string | undefined {
  if (before.length + after.length > comparedCharactersMax) return undefined;
  const limits = { context: 3, timeout: comparedWithinMs };
  // The names are ours to write: this would spread one with a line end over several lines.
  const patch = createTwoFilesPatch('before', 'after', before, after, undefined, undefined, limits);
  return patch?.replace(/^[^@]*/, '');
}

/** As `git` writes it, where a line of its own would be taken for another. */
function headPath(path: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  return /[\u0000-\u001f"\\]/.test(path) ? JSON.stringify(path) : path;
}

function isBinary(text: string | undefined): boolean {
  return text?.includes('\u0000') === true;
}

function lineCount(text: string | undefined): number {
  return text === undefined || text === '' ? 0 : text.split('\n').length;
}

function kindOf(before: string | undefined, after: string | undefined): FileChange['kind'] {
  if (before === undefined) return 'create';
  return after === undefined ? 'delete' : 'edit';
}

/** A patch that an agent has made itself, with or without its head. */
export function changeOfPatch(path: string, kind: FileChange['kind'], patch: string, movedTo?: string): FileChange {
  const body = patch.replace(/^Index: .*\n=+\n/, '');
  const isWhole = /^(?:--- |Binary files |GIT binary patch)/m.test(body);
  const whole = isWhole ? body : `--- ${headPath(path)}\n+++ ${headPath(movedTo ?? path)}\n${body}`;
  return {
    path,
    kind,
    ...(movedTo === undefined ? {} : { movedTo }),
    patch: whole.length <= patchCharactersMax ? whole : `${firstOfText(whole, patchCharactersMax)}\n[cut]`,
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
