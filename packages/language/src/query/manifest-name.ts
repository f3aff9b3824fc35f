import { findKeyPlaces } from '../manifest/key-places.ts';
import type { SourceFile } from '../source/source-file.ts';
import type { Span } from '../source/span.ts';
import type { ProgramIndex } from './index-program.ts';
import { nodesAt } from './syntax-node.ts';

/** A word of a program that names a table of the manifest. */
export interface ManifestName {
  readonly table: 'agents' | 'connections';
  readonly name: string;
}

/** `connector: reviewer`, `provider: "openai"`. */
export function manifestNameAt(index: ProgramIndex, file: string, offset: number): ManifestName | undefined {
  const tree = index.program.files.get(file)?.tree;
  if (tree === undefined) return undefined;
  const path = nodesAt(tree, offset);
  const field = path.findLast((node) => node.kind === 'ConfigField');
  if (field?.kind !== 'ConfigField' || !path.includes(field.value)) return undefined;
  const { value } = field;
  const written = value.kind === 'NameExpression' ? value.name.text : undefined;
  const name = value.kind === 'StringLiteral' ? value.value : written;
  if (name === undefined) return undefined;
  if (field.name.text === 'connector') return { table: 'agents', name };
  return field.name.text === 'provider' ? { table: 'connections', name } : undefined;
}

/** Where the manifest has this table, and the text of it. */
export function manifestTable(
  source: SourceFile,
  { table, name }: ManifestName,
): { readonly span: Span; readonly text: string } | undefined {
  // `[hosts.…]` is the old name of `[agents.…]`.
  const tables = table === 'agents' ? ['agents', 'hosts'] : [table];
  const isOwn = (path: readonly string[]) => tables.includes(path[0] ?? '') && path[1] === name;
  const headers = findKeyPlaces(source).filter((place) => place.isHeader);
  const first = headers.findIndex((place) => isOwn(place.path));
  const header = headers[first];
  if (header === undefined) return undefined;
  const next = headers.slice(first).find((place) => !isOwn(place.path));
  const lineStart = (offset: number) => source.text.lastIndexOf('\n', offset - 1) + 1;
  const end = next === undefined ? source.text.length : lineStart(next.span.start);
  return { span: header.span, text: source.text.slice(lineStart(header.span.start), end).trim() };
}
