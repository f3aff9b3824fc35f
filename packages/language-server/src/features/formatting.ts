import { formatSource, type SourceFile } from '@concerto/language';
import type { TextEdit } from 'vscode-languageserver/node';
import { toRange } from './positions.ts';

/** What `concerto fmt` would change, as one edit of the lines between the first and the last that differ. */
export function formatDocument(source: SourceFile): TextEdit[] {
  const formatted = formatSource(source.text, source.path);
  if (!formatted.ok || formatted.value === source.text) return [];
  const { start, end, text } = changedLines(source.text, formatted.value);
  return [{ range: toRange(source, { start, end }), newText: text }];
}

/** Only whole lines, so that neither a CRLF nor a surrogate pair is cut in two. */
function changedLines(before: string, after: string): { start: number; end: number; text: string } {
  let start = 0;
  for (let at = 0; at < before.length && before[at] === after[at]; at++) if (before[at] === '\n') start = at + 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - start;
  for (let at = 1; at <= most && before.at(-at) === after.at(-at); at++) if (before.at(-at - 1) === '\n') tail = at;
  tail = Math.min(tail, most);
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) };
}
