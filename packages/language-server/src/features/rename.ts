import { err, ok, type Result } from '@concerto/base';
import {
  applyFixes,
  cannotRename,
  type ProgramIndex,
  type Reference,
  type RenameEdit,
  referenceAt,
  referencesTo,
  renameSymbol,
} from '@concerto/language';
import type { Range, TextEdit, WorkspaceEdit } from 'vscode-languageserver/node';
import { uriOf } from '../workspace/file-path.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { AskedPlace } from './asked-place.ts';
import { everywhere, type FoundReference } from './navigation.ts';
import { toRange } from './positions.ts';

export function prepareRename({
  index,
  path,
  offset,
}: AskedPlace): Result<{ range: Range; placeholder: string }, string> {
  const source = index.program.files.get(path)?.source;
  const reference = referenceAt(index, path, offset);
  if (source === undefined || reference === undefined) return err('there is nothing to rename here');
  const refused = cannotRename(reference);
  return refused === undefined
    ? ok({ range: toRange(source, reference.span), placeholder: reference.text })
    : err(refused);
}

/** Refuses a name that would clash, be hidden, or hide another: the programs are checked with it first. */
export function rename(
  workspace: Workspace,
  place: { readonly path: string; readonly offset: number },
  name: string,
): Result<WorkspaceEdit, string> {
  const found = everywhere(workspace, place.path, place.offset);
  if (found.length === 0) return err('there is nothing to rename here');
  const edits = new Map<string, RenameEdit>();
  for (const { index, reference } of found) {
    const renamed = renameSymbol(index, reference, name);
    if (!renamed.ok) return renamed;
    for (const edit of renamed.value) edits.set(JSON.stringify([edit.file, edit.span]), edit);
  }
  const byFile = new Map<string, RenameEdit[]>();
  for (const edit of edits.values()) byFile.set(edit.file, [...(byFile.get(edit.file) ?? []), edit]);
  for (const each of found) {
    const problem = wouldBreak(workspace, each, byFile, name);
    if (problem !== undefined) return err(problem);
  }
  const changes: { [uri: string]: TextEdit[] } = {};
  for (const [file, own] of byFile) {
    const uri = uriOf(file);
    const source = found.map(({ index }) => index.program.files.get(file)?.source).find((each) => each !== undefined);
    if (uri === undefined || source === undefined) return err(`\`${file}\` is not a file that can be changed`);
    changes[uri] = own.map(({ span, text }) => ({ range: toRange(source, span), newText: text }));
  }
  return ok({ changes });
}

type EditsByFile = ReadonlyMap<string, readonly RenameEdit[]>;

function wouldBreak(workspace: Workspace, found: FoundReference, edits: EditsByFile, name: string): string | undefined {
  const { entry, index, reference } = found;
  const before = workspace.analysis(entry);
  const overlays = [...edits].flatMap(([path, own]) => {
    const source = index.program.files.get(path)?.source;
    return source === undefined ? [] : [{ path, text: applyFixes(source.text, [{ title: '', edits: own }]).text }];
  });
  const after = workspace.suppose(entry, overlays);
  const errors = before.diagnostics.filter(({ severity }) => severity === 'error');
  const errorsAfter = after.analysis.diagnostics.filter(({ severity }) => severity === 'error');
  if (errorsAfter.length > errors.length) {
    const known = new Set(errors.map(({ message }) => message));
    const first = errorsAfter.find(({ message }) => !known.has(message));
    return `\`${name}\` does not fit here: ${first?.message ?? 'it would be an error'}`;
  }
  return sameUses(index, after.index, reference, edits) ? undefined : `\`${name}\` already means something else here`;
}

/** After the renaming every name still means what it meant, at the place to which it has moved. */
function sameUses(before: ProgramIndex, after: ProgramIndex, reference: Reference, edits: EditsByFile): boolean {
  const { file, span, text, shorthand } = reference;
  // `x` has become `x: name`.
  const behindField = shorthand === 'value' ? `${text}: `.length : 0;
  const first = referenceAt(after, file, moved(edits, file, span.start) + behindField);
  if (first === undefined) return false;
  return referencesTo(before, reference.symbol).length === referencesTo(after, first.symbol).length;
}

function moved(edits: EditsByFile, file: string, offset: number): number {
  let at = offset;
  for (const { span, text } of edits.get(file) ?? []) {
    if (span.start < offset) at += text.length - (span.end - span.start);
  }
  return at;
}
