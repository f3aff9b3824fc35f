import type { CheckResult } from '../check/check-program.ts';
import type { ModuleScope } from '../check/module-scope.ts';
import type { Item } from '../syntax/item.ts';
import type { NodeId } from '../syntax/node.ts';
import type { Pattern } from '../syntax/pattern.ts';
import { childrenOf, type SyntaxNode } from './syntax-node.ts';

export interface ScopeAt {
  /** Nodes that introduce the variables in sight, innermost first. */
  readonly variables: readonly NodeId[];
  readonly generics: readonly NodeId[];
  /** The module whose names are in sight, with those of the modules around it. */
  readonly module: ModuleScope | undefined;
}

/** What is in scope at an offset; `path` leads from the tree to the innermost node there. */
export function scopeAt(checked: CheckResult, file: string, path: readonly SyntaxNode[], offset: number): ScopeAt {
  const variables: NodeId[] = [];
  const generics: NodeId[] = [];
  let module = checked.context.fileModules.get(file);
  for (const node of path) {
    module = moduleInside(checked, node, module);
    if (isItemOfItsOwn(node)) variables.length = 0;
    variables.unshift(...variablesOf(node, offset).toReversed());
    if ('generics' in node) generics.push(...node.generics.map((generic) => generic.id));
  }
  return { variables, generics, module };
}

function moduleInside(
  checked: CheckResult,
  node: SyntaxNode,
  module: ModuleScope | undefined,
): ModuleScope | undefined {
  if (node.kind === 'ModuleItem' && node.items !== undefined) {
    const meaning = module?.entries.get(node.name.text)?.meaning;
    return meaning?.kind === 'module' ? meaning.module : module;
  }
  if (node.kind !== 'Block') return module;
  const first = node.statements.find((statement) => statement.kind === 'ItemStatement');
  return (first === undefined ? undefined : checked.context.blockModules.get(first.item)) ?? module;
}

const OWN_ITEMS = new Set<Item['kind']>(['FunctionItem', 'ToolItem', 'ImplItem', 'TraitItem', 'PipelineItem']);

/** An item does not see the variables of the function around it. */
function isItemOfItsOwn(node: SyntaxNode): boolean {
  const kinds: ReadonlySet<string> = OWN_ITEMS;
  return kinds.has(node.kind);
}

function variablesOf(node: SyntaxNode, offset: number): NodeId[] {
  switch (node.kind) {
    case 'FunctionItem':
      return [...(node.self === undefined ? [] : [node.self.id]), ...node.parameters.map((each) => each.id)];
    case 'FunctionStage':
    case 'ClosureExpression':
      return node.parameters.map((each) => each.id);
    case 'ListenHandler':
      return node.parameter === undefined ? [] : [node.parameter.id];
    case 'PipelineItem': {
      const earlier = node.stages.filter((stage) => stage.kind === 'ValueStage' && stage.span.end < offset);
      return [...(node.parameter === undefined ? [] : [node.parameter.id]), ...earlier.map((stage) => stage.id)];
    }
    case 'Block':
      return node.statements.flatMap((statement) =>
        statement.kind === 'LetStatement' && statement.span.end <= offset ? boundBy(statement.pattern) : [],
      );
    case 'MatchArm':
      return offset > node.pattern.span.end ? boundBy(node.pattern) : [];
    case 'ForExpression':
      return offset >= node.body.span.start ? boundBy(node.pattern) : [];
    case 'CatchClause':
      return node.binding === undefined ? [] : [node.id];
    default:
      return [];
  }
}

/** Nodes of a pattern that introduce a name. */
export function boundBy(pattern: Pattern): NodeId[] {
  const own = pattern.kind === 'BindingPattern' || pattern.kind === 'RestPattern' ? [pattern.id] : [];
  const inner = childrenOf(pattern).flatMap((child) => (isPattern(child) ? boundBy(child) : fieldBound(child)));
  return [...own, ...inner];
}

function fieldBound(node: SyntaxNode): NodeId[] {
  return node.kind === 'FieldPattern' ? boundBy(node.pattern) : [];
}

function isPattern(node: SyntaxNode): node is Pattern {
  return node.kind.endsWith('Pattern') && node.kind !== 'FieldPattern';
}
