import { diffWordsWithSpace, parsePatch } from 'diff';

/** A part of a line, and whether it is what differs from the other side. */
type Piece = { readonly text: string; readonly isChanged: boolean };
export type DiffLine = {
  readonly kind: 'context' | 'added' | 'removed';
  readonly before: number | undefined;
  readonly after: number | undefined;
  readonly pieces: readonly Piece[];
};
export type DiffHunk = { readonly title: string; readonly lines: readonly DiffLine[] };
export type ParsedPatch =
  | { readonly kind: 'text'; readonly hunks: readonly DiffHunk[]; readonly lineCount: number }
  | { readonly kind: 'binary' }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'empty' };

const binaryMark = /^(Binary files .* differ|GIT binary patch)/m;
const hunkMark = /^@@ /m;
/** Longer lines are compared as wholes: a minified file would hold up the page. */
const wordsMax = 2000;

/** A unified diff of one file as lines with their numbers, changed words marked. */
export function parseChange(patch: string): ParsedPatch {
  if (binaryMark.test(patch) && !hunkMark.test(patch)) return { kind: 'binary' };
  if (patch.trim() === '') return { kind: 'empty' };
  try {
    const hunks = parsePatch(patch).flatMap((file) => file.hunks.map(hunkOf));
    if (hunks.length === 0) return { kind: 'unreadable' };
    return { kind: 'text', hunks, lineCount: hunks.reduce((sum, { lines }) => sum + lines.length, 0) };
  } catch {
    return { kind: 'unreadable' }; // Not what a patch looks like: shown as the text that it is.
  }
}

type Hunk = ReturnType<typeof parsePatch>[number]['hunks'][number];

function hunkOf(hunk: Hunk): DiffHunk {
  let before = hunk.oldStart;
  let after = hunk.newStart;
  const lines: DiffLine[] = [];
  for (const line of hunk.lines) {
    const pieces = [{ text: line.slice(1), isChanged: false }];
    if (line.startsWith('+')) lines.push({ kind: 'added', before: undefined, after: after++, pieces });
    else if (line.startsWith('-')) lines.push({ kind: 'removed', before: before++, after: undefined, pieces });
    else if (!line.startsWith('\\')) lines.push({ kind: 'context', before: before++, after: after++, pieces });
  }
  return { title: `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`, lines: marked(lines) };
}

/** A run of removed lines and the run of added ones after it, line by line: what differs inside of them. */
function marked(lines: readonly DiffLine[]): readonly DiffLine[] {
  const result = [...lines];
  for (let at = 0; at < lines.length; ) {
    const removed = runLength(lines, at, 'removed');
    const added = runLength(lines, at + removed, 'added');
    for (let n = 0; n < Math.min(removed, added); n++) markPair(result, at + n, at + removed + n);
    at += Math.max(1, removed + added);
  }
  return result;
}

function runLength(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): number {
  let length = 0;
  while (lines[from + length]?.kind === kind) length++;
  return length;
}

function markPair(lines: DiffLine[], removedAt: number, addedAt: number): void {
  const removed = lines[removedAt];
  const added = lines[addedAt];
  if (removed === undefined || added === undefined) return;
  const before = textOfLine(removed);
  const after = textOfLine(added);
  if (before.length + after.length > wordsMax) return;
  const changes = diffWordsWithSpace(before, after);
  const same = changes.reduce((sum, { value, added: a, removed: r }) => (a || r ? sum : sum + value.trim().length), 0);
  // Two lines that share next to nothing are two lines, not one that changed.
  if (same * 3 < Math.max(before.trim().length, after.trim().length)) return;
  const piecesWithout = (other: 'added' | 'removed'): readonly Piece[] =>
    changes
      .filter((change) => !change[other])
      .map(({ value, added: isAdded, removed: isRemoved }) => ({ text: value, isChanged: isAdded || isRemoved }));
  lines[removedAt] = { ...removed, pieces: piecesWithout('added') };
  lines[addedAt] = { ...added, pieces: piecesWithout('removed') };
}

export function textOfLine({ pieces }: DiffLine): string {
  return pieces.map(({ text }) => text).join('');
}

/** Lines that face each other, for two columns. */
export type DiffPair = { readonly left: DiffLine | undefined; readonly right: DiffLine | undefined };

export function pairsOf(lines: readonly DiffLine[]): readonly DiffPair[] {
  const pairs: DiffPair[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    if (line?.kind === 'context') {
      pairs.push({ left: line, right: line });
      at += 1;
      continue;
    }
    const removed = runLength(lines, at, 'removed');
    const added = runLength(lines, at + removed, 'added');
    for (let n = 0; n < Math.max(removed, added); n++) {
      pairs.push({
        left: n < removed ? lines[at + n] : undefined,
        right: n < added ? lines[at + removed + n] : undefined,
      });
    }
    at += removed + added;
  }
  return pairs;
}
