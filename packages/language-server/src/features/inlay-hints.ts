import { inlayTypes, type ProgramIndex } from '@concerto/language';
import { type InlayHint, InlayHintKind, type Range } from 'vscode-languageserver/node';
import { toOffset, toPosition } from './positions.ts';

export function inlayHints(index: ProgramIndex, path: string, range: Range): InlayHint[] {
  const source = index.program.files.get(path)?.source;
  if (source === undefined) return [];
  const span = { start: toOffset(source, range.start), end: toOffset(source, range.end) };
  return inlayTypes(index, path, span).map(({ offset, text }) => ({
    position: toPosition(source, offset),
    label: text,
    kind: InlayHintKind.Type,
  }));
}
