import {
  BUILTIN_STRUCTS,
  BUILTIN_TYPES,
  type BuiltinStruct,
  builtinSpec,
  isBuiltin,
  MESSAGE_TYPES,
  type MessageType,
} from '@concerto/ir';
import { ANY, showType } from '../check/types.ts';
import type { Item } from '../syntax/item.ts';
import type { CodeSymbol } from './code-symbol.ts';
import type { ProgramIndex } from './index-program.ts';
import type { SyntaxNode } from './syntax-node.ts';

export interface Description {
  /** In the language: what the declaration looks like. */
  readonly code: string;
  readonly doc: string | undefined;
}

/** A longer declaration is shown by its first line. */
const MOST_LINES = 24;

export function describeSymbol(index: ProgramIndex, symbol: CodeSymbol): Description {
  const { declaration, builtin } = symbol;
  if (declaration === undefined) return describeBuiltin(symbol, builtin ?? symbol.name);
  const text = index.program.files.get(declaration.file)?.source.text ?? '';
  const { node } = declaration;
  const own = 'doc' in node ? node.doc : undefined;
  const doc = own ?? (symbol.implements === undefined ? undefined : docOf(symbol.implements));
  return { code: codeOf(symbol, node, text), doc };
}

function docOf(symbol: CodeSymbol): string | undefined {
  const node = symbol.declaration?.node;
  return node !== undefined && 'doc' in node ? node.doc : undefined;
}

function codeOf(symbol: CodeSymbol, node: SyntaxNode, text: string): string {
  const type = symbol.type === undefined ? '' : `: ${showType(symbol.type)}`;
  switch (node.kind) {
    case 'FunctionItem':
      return signatureText(text.slice(afterDecorators(node), node.body?.span.start ?? node.span.end));
    case 'FunctionStage':
      return signatureText(text.slice(afterDecorators(node), node.body.span.start));
    case 'PipelineItem': {
      const end = node.returnType?.span.end ?? node.parameter?.span.end ?? node.name.span.end;
      return `pipeline ${oneLine(text.slice(node.name.span.start, end))}`;
    }
    case 'ModuleItem':
      return `mod ${symbol.name}`;
    case 'BindingPattern':
    case 'RestPattern':
    case 'CatchClause':
      return `let ${symbol.name}${type}`;
    case 'Parameter':
      if (node.type === undefined) return `${symbol.name}${type}`;
      return oneLine(text.slice(node.name.span.start, node.span.end));
    case 'SelfParameter':
      return `${node.mutable ? 'mut ' : ''}self${type}`;
    case 'ValueStage':
      return `stage ${symbol.name}${type}`;
    case 'FieldDeclaration':
    case 'EnumVariant':
      return oneLine(text.slice(node.name.span.start, node.span.end)).replace(/,$/, '');
    case 'GenericParameter':
      return oneLine(text.slice(node.span.start, node.span.end));
    case 'ForExpression':
    case 'WhileExpression':
    case 'LoopExpression':
      return `'${symbol.name}`;
    default:
      return 'decorators' in node ? wholeOrHead(text.slice(afterDecorators(node), node.span.end)) : symbol.name;
  }
}

/** Where the declaration itself begins. */
function afterDecorators(node: Pick<Item, 'decorators' | 'span'>): number {
  return node.decorators.reduce((start, decorator) => Math.max(start, decorator.span.end), node.span.start);
}

function signatureText(slice: string): string {
  return oneLine(withoutComments(slice)).replace(/[;,]$/, '');
}

function withoutComments(slice: string): string {
  return slice.replace(/^(\s*\/\/[^\n]*\n)+/, '');
}

function oneLine(slice: string): string {
  return slice.replaceAll(/\s+/g, ' ').replaceAll(/\( /g, '(').replaceAll(/,? \)/g, ')').trim();
}

function wholeOrHead(slice: string): string {
  const trimmed = withoutComments(slice).trim();
  const lines = trimmed.split('\n');
  return lines.length <= MOST_LINES ? trimmed : `${(lines[0] ?? '').trim()} … }`;
}

function describeBuiltin(symbol: CodeSymbol, row: string): Description {
  if (symbol.kind === 'module') return { code: `mod ${row}`, doc: 'A module of the standard library' };
  if (symbol.kind === 'field') return { code: `${row}: ${showType(symbol.type ?? ANY)}`, doc: undefined };
  if (symbol.kind === 'type') return describeBuiltinType(row);
  if (!isBuiltin(row)) return { code: row === 'None' ? 'None: Option<T>' : row, doc: undefined };
  const { signature, help } = builtinSpec(row);
  return { code: `fn ${row}${signature.slice('fn'.length)}`, doc: help };
}

function structCode(name: string, fields: Readonly<Record<string, string>>): string {
  return [`struct ${name} {`, ...Object.entries(fields).map(([field, type]) => `    ${field}: ${type},`), '}'].join(
    '\n',
  );
}

function describeBuiltinType(name: string): Description {
  const structs: Readonly<Record<string, BuiltinStruct>> = BUILTIN_STRUCTS;
  const struct = Object.hasOwn(structs, name) ? structs[name] : undefined;
  if (struct !== undefined) {
    return { code: structCode(name, struct.fields), doc: struct.help };
  }
  const message = Object.values<MessageType>(MESSAGE_TYPES).find(({ type }) => type === name);
  if (message !== undefined) return { code: structCode(name, message.fields), doc: message.help };
  const arities: Readonly<Record<string, number>> = BUILTIN_TYPES;
  const arity = Object.hasOwn(arities, name) ? (arities[name] ?? 0) : 0;
  const params = arity === 0 ? '' : `<${['T', 'U', 'V'].slice(0, arity).join(', ')}>`;
  return { code: `type ${name}${params}`, doc: undefined };
}
