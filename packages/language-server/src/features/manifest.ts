import { completeManifest, describeManifestKey, type SourceFile } from '@concerto/language';
import { type CompletionItem, type Hover, MarkupKind } from 'vscode-languageserver/node';
import { completionItem } from './completion.ts';
import { toRange } from './positions.ts';

export function manifestCompletions(source: SourceFile, offset: number): CompletionItem[] {
  return completeManifest(source, offset).map(completionItem);
}

export function manifestKeyHover(source: SourceFile, offset: number): Hover | undefined {
  const found = describeManifestKey(source, offset);
  if (found === undefined) return undefined;
  return { contents: { kind: MarkupKind.Markdown, value: found.text }, range: toRange(source, found.span) };
}
