import { harmlessLine } from '@concerto/base';
import type { FileChange } from '@concerto/protocol';
import { paint } from '../terminal/paint.ts';

/** A screen of it, unless somebody wants to read all. */
const linesMax = 40;

const verbs = { create: 'new', edit: 'edit', delete: 'delete', move: 'move' } as const;

/** What an agent wants to change or has changed, as the diff that its driver made, in colours. */
export function changeText(changes: readonly FileChange[], most = linesMax): string {
  return changes
    .map(({ path, kind, movedTo, patch, added, removed }) => {
      const place = [path, ...(movedTo === undefined ? [] : [movedTo])].map(harmlessLine).join(' → ');
      const head = paint('bold', `  ${verbs[kind]} ${place}`) + paint('dim', `  +${added} -${removed}`);
      const lines = linesOf(patch);
      const more = lines.length > most ? [paint('dim', `    … ${lines.length - most} more lines`)] : [];
      return [head, ...lines.slice(0, most).map((line) => `    ${patchLine(line)}`), ...more].join('\n');
    })
    .join('\n');
}

/** Whether there is more of it than is shown at once. */
export function isLong(changes: readonly FileChange[]): boolean {
  return changes.some(({ patch }) => linesOf(patch).length > linesMax);
}

/** Without what names the files, which stands above the first part: a line below that is taken away may begin with `--`. */
function linesOf(patch: string): readonly string[] {
  const lines = patch.split('\n').filter((line) => line !== '');
  const first = lines.findIndex((line) => line.startsWith('@@'));
  return lines.filter((line, index) => index >= first || !/^(---|\+\+\+|diff |index )/.test(line));
}

function patchLine(line: string): string {
  if (line.startsWith('+')) return paint('green', line);
  if (line.startsWith('-')) return paint('red', line);
  return line.startsWith('@@') ? paint('cyan', line) : line;
}
