import { type OutlineEntry, outlineOf, type ProgramIndex, type SourceFile, type SymbolKind } from '@concerto/language';
import {
  CompletionItemKind,
  type DocumentSymbol,
  SymbolKind as LspSymbolKind,
  type SymbolInformation,
} from 'vscode-languageserver/node';
import { uriOf } from '../workspace/file-path.ts';
import { toRange } from './positions.ts';

const SYMBOL_KINDS: Readonly<Record<OutlineEntry['kind'], LspSymbolKind>> = {
  function: LspSymbolKind.Function,
  method: LspSymbolKind.Method,
  struct: LspSymbolKind.Struct,
  schema: LspSymbolKind.Struct,
  enum: LspSymbolKind.Enum,
  variant: LspSymbolKind.EnumMember,
  trait: LspSymbolKind.Interface,
  type: LspSymbolKind.Class,
  'type parameter': LspSymbolKind.TypeParameter,
  field: LspSymbolKind.Field,
  constant: LspSymbolKind.Constant,
  variable: LspSymbolKind.Variable,
  parameter: LspSymbolKind.Variable,
  self: LspSymbolKind.Variable,
  label: LspSymbolKind.Key,
  model: LspSymbolKind.Object,
  agent: LspSymbolKind.Object,
  connection: LspSymbolKind.Object,
  tool: LspSymbolKind.Class,
  mcp: LspSymbolKind.Class,
  store: LspSymbolKind.Variable,
  pipeline: LspSymbolKind.Function,
  stage: LspSymbolKind.Function,
  module: LspSymbolKind.Module,
  impl: LspSymbolKind.Class,
};

export const COMPLETION_KINDS: Readonly<Record<SymbolKind | 'keyword' | 'text' | 'property', CompletionItemKind>> = {
  function: CompletionItemKind.Function,
  method: CompletionItemKind.Method,
  struct: CompletionItemKind.Struct,
  schema: CompletionItemKind.Struct,
  enum: CompletionItemKind.Enum,
  variant: CompletionItemKind.EnumMember,
  trait: CompletionItemKind.Interface,
  type: CompletionItemKind.Class,
  'type parameter': CompletionItemKind.TypeParameter,
  field: CompletionItemKind.Field,
  constant: CompletionItemKind.Constant,
  variable: CompletionItemKind.Variable,
  parameter: CompletionItemKind.Variable,
  self: CompletionItemKind.Keyword,
  label: CompletionItemKind.Reference,
  model: CompletionItemKind.Value,
  agent: CompletionItemKind.Value,
  connection: CompletionItemKind.Value,
  tool: CompletionItemKind.Class,
  mcp: CompletionItemKind.Class,
  store: CompletionItemKind.Variable,
  pipeline: CompletionItemKind.Function,
  stage: CompletionItemKind.Function,
  module: CompletionItemKind.Module,
  keyword: CompletionItemKind.Keyword,
  text: CompletionItemKind.Text,
  property: CompletionItemKind.Property,
};

export function documentSymbols(index: ProgramIndex, path: string): DocumentSymbol[] {
  const file = index.program.files.get(path);
  if (file === undefined) return [];
  const convert = (entry: OutlineEntry, source: SourceFile): DocumentSymbol => ({
    name: entry.name,
    detail: entry.kind,
    kind: SYMBOL_KINDS[entry.kind],
    range: toRange(source, entry.span),
    selectionRange: toRange(source, entry.nameSpan),
    children: entry.children.map((child) => convert(child, source)),
  });
  return outlineOf(file.tree).map((entry) => convert(entry, file.source));
}

/** An editor filters a long list itself; it need not have it all. */
const MOST_SYMBOLS = 1000;

/** What the programs declare and the query could mean: its letters in this order. */
export function workspaceSymbols(indexes: readonly ProgramIndex[], query: string): SymbolInformation[] {
  const letters = query.toLowerCase().split('');
  const found = new Map<string, SymbolInformation>();
  const add = (entry: OutlineEntry, source: SourceFile, container: string | undefined): void => {
    const uri = uriOf(source.path);
    if (uri !== undefined && found.size < MOST_SYMBOLS && hasInOrder(entry.name.toLowerCase(), letters)) {
      const location = { uri, range: toRange(source, entry.nameSpan) };
      const symbol = { name: entry.name, kind: SYMBOL_KINDS[entry.kind], location };
      const key = `${source.path} ${entry.nameSpan.start} ${entry.kind}`;
      found.set(key, container === undefined ? symbol : { ...symbol, containerName: container });
    }
    for (const child of entry.children) add(child, source, entry.name);
  };
  for (const { program } of indexes) {
    for (const { source, tree } of program.files.values()) {
      for (const entry of outlineOf(tree)) add(entry, source, undefined);
    }
  }
  return [...found.values()];
}

function hasInOrder(name: string, letters: readonly string[]): boolean {
  let from = 0;
  for (const letter of letters) {
    const at = name.indexOf(letter, from);
    if (at === -1) return false;
    from = at + 1;
  }
  return true;
}
