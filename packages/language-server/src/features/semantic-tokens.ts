import { colorTokens, type ProgramIndex, type TokenColor } from '@concerto/language';
import { type SemanticTokens, SemanticTokensBuilder } from 'vscode-languageserver/node';

const TYPES = [
  'comment',
  'keyword',
  'string',
  'number',
  'operator',
  'function',
  'method',
  'struct',
  'enum',
  'enumMember',
  'interface',
  'type',
  'typeParameter',
  'property',
  'variable',
  'parameter',
  'class',
  'namespace',
] as const;

const MODIFIERS = ['declaration', 'readonly', 'defaultLibrary'] as const;

export const SEMANTIC_LEGEND = { tokenTypes: [...TYPES], tokenModifiers: [...MODIFIERS] };

const COLORS: Readonly<Record<TokenColor, (typeof TYPES)[number]>> = {
  comment: 'comment',
  keyword: 'keyword',
  string: 'string',
  number: 'number',
  operator: 'operator',
  label: 'keyword',
  function: 'function',
  method: 'method',
  struct: 'struct',
  schema: 'struct',
  enum: 'enum',
  variant: 'enumMember',
  trait: 'interface',
  type: 'type',
  'type parameter': 'typeParameter',
  field: 'property',
  constant: 'variable',
  variable: 'variable',
  parameter: 'parameter',
  self: 'keyword',
  model: 'class',
  agent: 'class',
  connection: 'class',
  tool: 'class',
  mcp: 'class',
  store: 'variable',
  pipeline: 'function',
  stage: 'function',
  module: 'namespace',
};

export function semanticTokens(index: ProgramIndex, path: string): SemanticTokens {
  const builder = new SemanticTokensBuilder();
  const source = index.program.files.get(path)?.source;
  if (source === undefined) return builder.build();
  let line = 0;
  for (const token of colorTokens(source, index.references.get(path) ?? [])) {
    const type = TYPES.indexOf(COLORS[token.color]);
    const flags = [token.isDeclaration, token.color === 'constant', token.isBuiltin];
    const modifiers = flags.reduce((bits, isSet, at) => (isSet ? bits | (1 << at) : bits), 0);
    // Editors take tokens that stay within a line; a text over several lines is one token on each.
    let { start } = token.span;
    while (start < token.span.end) {
      while ((source.lineStarts[line + 1] ?? Number.POSITIVE_INFINITY) <= start) line++;
      const lineStart = source.lineStarts[line] ?? 0;
      const next = source.lineStarts[line + 1] ?? source.text.length;
      const end = Math.min(token.span.end, next);
      const length = source.text.slice(start, end).replace(/[\r\n]+$/, '').length;
      if (length > 0) builder.push(line, start - lineStart, length, type, modifiers);
      start = end;
    }
  }
  return builder.build();
}
