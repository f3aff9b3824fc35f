import type { FileChange } from './agent-event.ts';

/** A change whose patch has several files, as one of each; any other as it is. */
export function filesOfChange(change: FileChange): readonly FileChange[] {
  const files = sectionsOf(change.patch).map(fileOf);
  const known = files.filter((file) => file !== undefined);
  const isSeveral = new Set(known.map(({ path }) => path)).size > 1;
  return isSeveral && known.length === files.length ? known : [change];
}

type Touching = Pick<FileChange, 'path' | 'movedTo' | 'patch'>;

/** Every file that is touched: where one goes to, and all that a patch has, whichever of them it is said to be of. */
export function pathsOfChanges(changes: readonly Touching[]): readonly string[] {
  const files = changes.flatMap((change): Pick<FileChange, 'path' | 'movedTo'>[] => {
    const named = sectionsOf(change.patch).flatMap((section) => fileOf(section) ?? []);
    // The one file of a patch is the change's own, however the patch spells it.
    return named.length > 1 ? [change, ...named] : [change];
  });
  return [...new Set(files.flatMap(({ path, movedTo }) => (movedTo === undefined ? [path] : [path, movedTo])))];
}

type Section = { readonly lines: string[]; hasNames: boolean; added: number; removed: number };

/** The lines of each file. Within a hunk, whose head says how long it is, a line `--- x` is one that was removed. */
function sectionsOf(patch: string): readonly Section[] {
  const lines = patch.split('\n');
  const sections: Section[] = [];
  let before = 0;
  let after = 0;
  for (const [at, line] of lines.entries()) {
    const isInHunk = before > 0 || after > 0;
    const isNames = !isInHunk && line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ') === true;
    const last = sections.at(-1);
    const begins = !isInHunk && (line.startsWith('diff --git ') || (isNames && last?.hasNames === true));
    const section = last === undefined || begins ? { lines: [], hasNames: false, added: 0, removed: 0 } : last;
    if (section !== last) sections.push(section);
    section.lines.push(line);
    if (isNames) section.hasNames = true;
    if (isInHunk) {
      if (line.startsWith('+')) section.added += 1;
      if (line.startsWith('-')) section.removed += 1;
      if (!/^[+\\]/.test(line)) before -= 1;
      if (!/^[-\\]/.test(line)) after -= 1;
    } else {
      const [, old, fresh] = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line) ?? [line];
      if (line.startsWith('@@ ')) [before, after] = [Number(old ?? 1), Number(fresh ?? 1)];
    }
  }
  return sections;
}

const nothing = '/dev/null';

function fileOf({ lines, added, removed }: Section): FileChange | undefined {
  const names = namesOf(lines);
  if (names === undefined) return undefined;
  const { old, fresh } = names;
  const rest = { patch: lines.join('\n'), added, removed };
  const isNew = old === nothing || lines.some((line) => line.startsWith('new file mode '));
  if (isNew) return { ...rest, kind: 'create', path: fresh };
  const isGone = fresh === nothing || lines.some((line) => line.startsWith('deleted file mode '));
  if (isGone || old === fresh) return { ...rest, kind: isGone ? 'delete' : 'edit', path: old };
  // What was moved as it is has no lines to show.
  return { ...rest, patch: added + removed === 0 ? '' : rest.patch, kind: 'move', path: old, movedTo: fresh };
}

function namesOf(lines: readonly string[]): { readonly old: string; readonly fresh: string } | undefined {
  const named = (mark: string): string | undefined => {
    const line = lines.find((candidate) => candidate.startsWith(mark));
    return line?.slice(mark.length).split('\t', 1)[0]?.trimEnd();
  };
  const [, oldOfGit, freshOfGit] = /^a\/(.+) b\/(.+)$/.exec(named('diff --git ') ?? '') ?? [];
  const old = withoutSide(named('--- '), 'a/') ?? named('rename from ') ?? oldOfGit;
  const fresh = withoutSide(named('+++ '), 'b/') ?? named('rename to ') ?? freshOfGit;
  return old === undefined || fresh === undefined ? undefined : { old, fresh };
}

function withoutSide(name: string | undefined, side: string): string | undefined {
  return name?.startsWith(side) ? name.slice(side.length) : name;
}
