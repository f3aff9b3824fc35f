import { describeSymbol, manifestNameAt, manifestTable, referenceAt } from '@concerto/language';
import { type Hover, type MarkupContent, MarkupKind } from 'vscode-languageserver/node';
import type { AskedPlace } from './asked-place.ts';
import { toRange } from './positions.ts';

export function hoverAt(place: AskedPlace, kind: MarkupKind): Hover | undefined {
  const { index, path, offset } = place;
  const source = index.program.files.get(path)?.source;
  if (source === undefined) return undefined;
  const reference = referenceAt(index, path, offset);
  if (reference === undefined) return manifestHover(place, kind);
  const { code, doc } = describeSymbol(index, reference.symbol);
  return { contents: content({ language: 'concerto', code }, doc, kind), range: toRange(source, reference.span) };
}

/** What `Concerto.toml` says of the agent or connection that is named here. */
function manifestHover({ index, path, offset, manifest }: AskedPlace, kind: MarkupKind): Hover | undefined {
  const named = manifestNameAt(index, path, offset);
  const table = named === undefined || manifest === undefined ? undefined : manifestTable(manifest, named);
  return table === undefined
    ? undefined
    : { contents: content({ language: 'toml', code: table.text }, undefined, kind) };
}

function content(
  shown: { readonly language: string; readonly code: string },
  doc: string | undefined,
  kind: MarkupKind,
): MarkupContent {
  const { language, code } = shown;
  const block = kind === MarkupKind.Markdown ? `\`\`\`${language}\n${code}\n\`\`\`` : code;
  return { kind, value: doc === undefined ? block : `${block}\n\n${doc}` };
}
