import {
  manifestNameAt,
  manifestTable,
  type ProgramIndex,
  type Reference,
  referenceAt,
  referencesTo,
} from '@concerto/language';
import { type DocumentHighlight, DocumentHighlightKind, type Location } from 'vscode-languageserver/node';
import { uriOf } from '../workspace/file-path.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { AskedPlace } from './asked-place.ts';
import { toRange } from './positions.ts';

/** Where it is declared; the file itself for a module that has one. Nothing for what is built in. */
export function definitionAt(place: AskedPlace): Location[] {
  const { index, path, offset } = place;
  const reference = referenceAt(index, path, offset);
  const inManifest = reference === undefined ? manifestLocation(place) : [];
  const declaration = reference?.symbol.declaration;
  if (declaration === undefined) return inManifest;
  const { target, file, span } = declaration;
  return location(index, target === undefined ? { file, span } : { file: target, span: { start: 0, end: 0 } });
}

/** The table of the agent or connection that is named here. */
function manifestLocation({ index, path, offset, manifest }: AskedPlace): Location[] {
  const named = manifestNameAt(index, path, offset);
  const table = named === undefined || manifest === undefined ? undefined : manifestTable(manifest, named);
  const uri = manifest === undefined ? undefined : uriOf(manifest.path);
  if (manifest === undefined || table === undefined || uri === undefined) return [];
  return [{ uri, range: toRange(manifest, table.span) }];
}

function location(index: ProgramIndex, place: Pick<Reference, 'file' | 'span'>): Location[] {
  const source = index.program.files.get(place.file)?.source;
  const uri = uriOf(place.file);
  return source === undefined || uri === undefined ? [] : [{ uri, range: toRange(source, place.span) }];
}

/** In every program that has the file of its declaration. */
export function referencesAt(
  workspace: Workspace,
  path: string,
  offset: number,
  includeDeclaration: boolean,
): Location[] {
  const found = new Map<string, Location>();
  for (const { index, reference } of everywhere(workspace, path, offset)) {
    for (const each of referencesTo(index, reference.symbol)) {
      if (each.isDeclaration && !includeDeclaration) continue;
      for (const place of location(index, each)) found.set(JSON.stringify(place), place);
    }
  }
  return [...found.values()];
}

export interface FoundReference {
  readonly entry: string;
  readonly index: ProgramIndex;
  readonly reference: Reference;
}

/** What is named here, as each program that knows it sees it; first the program of this file. */
export function everywhere(workspace: Workspace, path: string, offset: number): FoundReference[] {
  const [root] = workspace.rootsOf(path);
  if (root === undefined) return [];
  const index = workspace.index(root);
  const reference = referenceAt(index, path, offset);
  if (reference === undefined) return [];
  const { declaration } = reference.symbol;
  const found: FoundReference[] = [{ entry: root, index, reference }];
  if (declaration === undefined || uriOf(declaration.file) === undefined) return found;
  for (const entry of workspace.rootsOf(declaration.file)) {
    if (entry === root) continue;
    const other = workspace.index(entry);
    // The same place there, so that a shared module is seen with the uses of both.
    const same = referenceAt(other, path, offset) ?? referenceAt(other, declaration.file, declaration.span.start);
    if (same !== undefined) found.push({ entry, index: other, reference: { ...same, text: reference.text } });
  }
  return found;
}

export function highlightsAt({ index, path, offset }: AskedPlace): DocumentHighlight[] {
  const source = index.program.files.get(path)?.source;
  const reference = referenceAt(index, path, offset);
  if (source === undefined || reference === undefined) return [];
  return referencesTo(index, reference.symbol)
    .filter(({ file }) => file === path)
    .map(({ span, isDeclaration }) => ({
      range: toRange(source, span),
      kind: isDeclaration ? DocumentHighlightKind.Write : DocumentHighlightKind.Read,
    }));
}
