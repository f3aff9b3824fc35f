import type { Span } from '../source/span.ts';
import type { Item } from '../syntax/item.ts';
import type { Name } from '../syntax/node.ts';
import type { SourceTree } from '../syntax/tree.ts';
import type { SymbolKind } from './code-symbol.ts';
import { itemSymbol } from './declare-symbols.ts';

export interface OutlineEntry {
  readonly name: string;
  readonly kind: SymbolKind | 'impl';
  readonly span: Span;
  readonly nameSpan: Span;
  readonly children: readonly OutlineEntry[];
}

/** What a file declares, as an editor lists it. */
export function outlineOf(tree: SourceTree): OutlineEntry[] {
  return tree.items.flatMap(itemEntries);
}

function itemEntries(item: Item): OutlineEntry[] {
  if (item.kind === 'ImplItem') {
    const target = lastSegment(item.target.path.segments);
    if (target === undefined) return [];
    const trait = item.trait === undefined ? undefined : lastSegment(item.trait.path.segments);
    const name = trait === undefined ? `impl ${target.text}` : `impl ${trait.text} for ${target.text}`;
    const children = item.methods.flatMap((method) => entry('method', method));
    return [{ name, kind: 'impl', span: item.span, nameSpan: target.span, children }];
  }
  if (item.kind === 'StatementItem') {
    const { statement } = item;
    if (statement.kind !== 'LetStatement' || statement.pattern.kind !== 'BindingPattern') return [];
    return entry('variable', { name: statement.pattern.name, span: item.span });
  }
  const declared = itemSymbol(item);
  if (declared === undefined || !('name' in item)) return [];
  return entry(declared.kind, item, membersOf(item));
}

function lastSegment(segments: readonly Name[]): Name | undefined {
  const last = segments[segments.length - 1];
  return last === undefined || last.text === '' ? undefined : last;
}

function membersOf(item: Item): OutlineEntry[] {
  switch (item.kind) {
    case 'ModuleItem':
      return (item.items ?? []).flatMap(itemEntries);
    case 'SchemaItem':
    case 'StructItem':
      return item.fields.flatMap((field) => entry('field', field));
    case 'EnumItem':
      return item.variants.flatMap((variant) => entry('variant', variant));
    case 'TraitItem':
    case 'McpItem':
      return item.methods.flatMap((method) => entry('method', method));
    case 'ToolItem':
      return [
        ...item.state.flatMap((field) => entry('field', field)),
        ...item.methods.flatMap((method) => entry('method', method)),
      ];
    case 'PipelineItem':
      return item.stages.flatMap((stage) => entry('stage', stage));
    default:
      return [];
  }
}

function entry(
  kind: SymbolKind,
  node: { readonly name: Pick<Name, 'text' | 'span'>; readonly span: Span },
  children: readonly OutlineEntry[] = [],
): OutlineEntry[] {
  const { name, span } = node;
  if (name.text === '') return [];
  // A name that the parser took from elsewhere must not lie outside: editors refuse the whole list for it.
  const whole = { start: Math.min(span.start, name.span.start), end: Math.max(span.end, name.span.end) };
  return [{ name: name.text, kind, span: whole, nameSpan: name.span, children }];
}
