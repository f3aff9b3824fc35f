import { type Completion, CURSOR_MARK, completeAt, signatureAt } from '@concerto/language';
import { type CompletionItem, MarkupKind, type SignatureHelp } from 'vscode-languageserver/node';
import type { Workspace } from '../workspace/workspace.ts';
import { COMPLETION_KINDS } from './symbols.ts';

export interface CursorPlace {
  readonly workspace: Workspace;
  readonly path: string;
  /** Of the file as it is now. */
  readonly text: string;
  readonly offset: number;
}

/** The program is read once more with a mark at the cursor: what is being typed is rarely whole. */
function withMark({ workspace, path, text, offset }: CursorPlace) {
  const [root] = workspace.rootsOf(path);
  const marked = `${text.slice(0, offset)}${CURSOR_MARK}${text.slice(offset)}`;
  return workspace.suppose(root ?? path, [{ path, text: marked }]);
}

export function completions(place: CursorPlace): CompletionItem[] {
  const { analysis, index } = withMark(place);
  const { path, offset } = place;
  return completeAt({ index, file: path, offset, manifest: analysis.manifest?.manifest }).map(completionItem);
}

export function completionItem({ label, kind, detail, doc, rank, insert }: Completion): CompletionItem {
  return {
    label,
    kind: COMPLETION_KINDS[kind],
    sortText: `${rank} ${label}`,
    ...(detail === undefined ? {} : { detail }),
    ...(doc === undefined ? {} : { documentation: { kind: MarkupKind.Markdown, value: doc } }),
    ...(insert === undefined ? {} : { insertText: insert }),
  };
}

export function signatureHelp(place: CursorPlace): SignatureHelp | undefined {
  const { index } = withMark(place);
  const found = signatureAt(index, place.path, place.offset);
  if (found === undefined) return undefined;
  const { name, parameters, result, doc, active } = found;
  const arrow = result === undefined ? '' : ` -> ${result}`;
  const texts = parameters.map(({ text }) => text);
  let at = name.length + 1;
  const labels = texts.map((text): { label: [number, number] } => {
    const label: [number, number] = [at, at + text.length];
    at = label[1] + ', '.length;
    return { label };
  });
  const signature = {
    label: `${name}(${texts.join(', ')})${arrow}`,
    parameters: labels,
    ...(doc === undefined ? {} : { documentation: { kind: MarkupKind.Markdown, value: doc } }),
  };
  return { signatures: [signature], activeSignature: 0, activeParameter: active };
}
