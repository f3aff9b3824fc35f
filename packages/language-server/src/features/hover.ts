import { describeSymbol, type ProgramIndex, referenceAt } from '@concerto/language';
import { type Hover, type MarkupContent, MarkupKind } from 'vscode-languageserver/node';
import { toRange } from './positions.ts';

export function hoverAt(
  index: ProgramIndex,
  path: string,
  offset: number,
  kind: MarkupKind = MarkupKind.Markdown,
): Hover | undefined {
  const source = index.program.files.get(path)?.source;
  const reference = referenceAt(index, path, offset);
  if (source === undefined || reference === undefined) return undefined;
  const { code, doc } = describeSymbol(index, reference.symbol);
  return { contents: content(code, doc, kind), range: toRange(source, reference.span) };
}

function content(code: string, doc: string | undefined, kind: MarkupKind): MarkupContent {
  const shown = kind === MarkupKind.Markdown ? `\`\`\`concerto\n${code}\n\`\`\`` : code;
  return { kind, value: doc === undefined ? shown : `${shown}\n\n${doc}` };
}
