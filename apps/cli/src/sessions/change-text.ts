import { harmlessLine } from '@concerto/base';
import type { FileChange } from '@concerto/protocol';
import { paint } from '../terminal/paint.ts';

/** A screen of it; the whole is on the page and in `--json`. */
const linesMax = 40;

const verbs = { create: 'new', edit: 'edit', delete: 'delete', move: 'move' } as const;

/** What an agent wants to change or has changed, as the diff that its driver made, in colours. */
export function changeText(changes: readonly FileChange[]): string {
  return changes
    .map(({ path, kind, movedTo, patch, added, removed }) => {
      const place = [path, ...(movedTo === undefined ? [] : [movedTo])].map(harmlessLine).join(' → ');
      const head = paint('bold', `  ${verbs[kind]} ${place}`) + paint('dim', `  +${added} -${removed}`);
      const lines = patch.split('\n').filter((line) => line !== '' && !/^(---|\+\+\+|diff |index )/.test(line));
      const more = lines.length > linesMax ? [paint('dim', `    … ${lines.length - linesMax} more lines`)] : [];
      return [head, ...lines.slice(0, linesMax).map((line) => `    ${patchLine(line)}`), ...more].join('\n');
    })
    .join('\n');
}

function patchLine(line: string): string {
  if (line.startsWith('+')) return paint('green', line);
  if (line.startsWith('-')) return paint('red', line);
  return line.startsWith('@@') ? paint('cyan', line) : line;
}
