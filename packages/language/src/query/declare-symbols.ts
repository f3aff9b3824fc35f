import type { CheckResult } from '../check/check-program.ts';
import type { Program } from '../modules/program.ts';
import type { FunctionItem, Item, StoreItem } from '../syntax/item.ts';
import type { Name, NodeId } from '../syntax/node.ts';
import type { CodeSymbol, SymbolKind } from './code-symbol.ts';
import { childrenOf, type SyntaxNode } from './syntax-node.ts';

/** What each node declares, by its id. */
export type DeclaredSymbols = ReadonlyMap<NodeId, CodeSymbol>;

export function declareSymbols(program: Program, checked: CheckResult): DeclaredSymbols {
  const symbols = new Map<NodeId, CodeSymbol>();
  for (const [file, { tree }] of program.files) {
    const visit = (node: SyntaxNode, parent: SyntaxNode): void => {
      const declared = declaredBy(node, parent);
      if (declared !== undefined && declared.name.text !== '') {
        const { name, kind } = declared;
        const target = node.kind === 'ModuleItem' ? program.moduleFiles.get(node.id) : undefined;
        symbols.set(node.id, {
          kind,
          name: name.text,
          declaration: { file, span: name.span, node, target },
          builtin: undefined,
          type: checked.facts.locals.get(node.id)?.type,
          implements: undefined,
        });
      }
      for (const child of childrenOf(node)) visit(child, node);
    };
    visit(tree, tree);
  }
  for (const variable of checked.facts.moduleVariables) {
    const symbol = symbols.get(variable.id);
    if (symbol !== undefined) symbols.set(variable.id, { ...symbol, type: variable.type });
  }
  return symbols;
}

interface Declared {
  readonly kind: SymbolKind;
  readonly name: Pick<Name, 'text' | 'span'>;
}

const ITEM_KINDS: { readonly [Kind in Exclude<Item, StoreItem | FunctionItem>['kind']]?: SymbolKind } = {
  ModelItem: 'model',
  AgentItem: 'agent',
  ConnectionItem: 'connection',
  ToolItem: 'tool',
  McpItem: 'mcp',
  SchemaItem: 'schema',
  StructItem: 'struct',
  EnumItem: 'enum',
  TraitItem: 'trait',
  PipelineItem: 'pipeline',
  ModuleItem: 'module',
  ConstItem: 'constant',
  TypeAliasItem: 'type',
};

const METHOD_OWNERS = new Set(['ToolItem', 'McpItem', 'TraitItem', 'ImplItem']);

/** The symbol an item of a file or block declares; none for `impl`, `use` and statements. */
export function itemSymbol(item: Item): Declared | undefined {
  switch (item.kind) {
    case 'FunctionItem':
      return { kind: 'function', name: item.name };
    case 'StoreItem':
      return { kind: 'store', name: item.name };
    case 'ImplItem':
    case 'UseItem':
    case 'StatementItem':
    case 'ErrorItem':
      return undefined;
    default: {
      const kind = ITEM_KINDS[item.kind];
      return kind === undefined ? undefined : { kind, name: item.name };
    }
  }
}

function declaredBy(node: SyntaxNode, parent: SyntaxNode): Declared | undefined {
  switch (node.kind) {
    case 'FunctionItem':
      return { kind: METHOD_OWNERS.has(parent.kind) ? 'method' : 'function', name: node.name };
    case 'StoreItem':
    case 'ModelItem':
    case 'AgentItem':
    case 'ConnectionItem':
    case 'ToolItem':
    case 'McpItem':
    case 'SchemaItem':
    case 'StructItem':
    case 'EnumItem':
    case 'TraitItem':
    case 'PipelineItem':
    case 'ModuleItem':
    case 'ConstItem':
    case 'TypeAliasItem':
      return itemSymbol(node);
    case 'EnumVariant':
      return { kind: 'variant', name: node.name };
    case 'FieldDeclaration':
      return { kind: 'field', name: node.name };
    case 'GenericParameter':
      return { kind: 'type parameter', name: node.name };
    case 'Parameter':
      return { kind: 'parameter', name: node.name };
    case 'SelfParameter':
      return { kind: 'self', name: { text: 'self', span: { start: node.span.end - 4, end: node.span.end } } };
    case 'FunctionStage':
    case 'ValueStage':
      return { kind: 'stage', name: node.name };
    case 'BindingPattern':
      return { kind: 'variable', name: node.name };
    case 'RestPattern':
      return node.name === undefined ? undefined : { kind: 'variable', name: node.name };
    case 'CatchClause':
      return node.binding === undefined ? undefined : { kind: 'variable', name: node.binding };
    case 'ForExpression':
    case 'WhileExpression':
    case 'LoopExpression':
      return node.label === undefined ? undefined : { kind: 'label', name: node.label };
    default:
      return undefined;
  }
}
