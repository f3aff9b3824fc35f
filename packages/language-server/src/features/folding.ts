import { foldsOf, type ProgramIndex, positionAt } from '@concerto/language';
import type { FoldingRange } from 'vscode-languageserver/node';

/** The last line, with the closing bracket, stays visible. */
export function foldingRanges(index: ProgramIndex, path: string): FoldingRange[] {
  const file = index.program.files.get(path);
  if (file === undefined) return [];
  const { source, tree } = file;
  const lines = new Map<number, number>();
  for (const span of foldsOf(tree)) {
    const start = positionAt(source, span.start).line - 1;
    const end = positionAt(source, span.end).line - 2;
    if (end > start) lines.set(start, Math.max(end, lines.get(start) ?? 0));
  }
  return [...lines].toSorted(([a], [b]) => a - b).map(([startLine, endLine]) => ({ startLine, endLine }));
}
