import { unreachable } from '@concerto/base';
import type { FieldDeclaration, FunctionItem, Item, ToolItem, UseTree } from '../syntax/item.ts';
import type { TypeExpression } from '../syntax/type-expression.ts';
import type { Doc } from './doc.ts';
import { formatDecorators, formatField, formatFunction, formatGenerics } from './format-function.ts';
import { formatPipeline } from './format-pipeline.ts';
import { formatConfig, formatConfigField, formatStatement } from './format-statement.ts';
import type { Formatter, Member } from './formatter.ts';

export function formatItem(f: Formatter, item: Item): Doc {
  if (item.kind === 'StatementItem') {
    return [item.isPublic ? [f.cursor.token('pub'), ' '] : '', formatStatement(f, item.statement)];
  }
  // The old `test "…" { }` has its decorator in the middle of its text.
  if (item.kind === 'FunctionItem' && item.oldSpelling === 'test') return formatOldTest(f, item);
  return [
    formatDecorators(f, item.decorators),
    item.isPublic ? [f.cursor.token('pub'), ' '] : '',
    formatDeclaration(f, item),
  ];
}

function formatDeclaration(f: Formatter, item: Exclude<Item, { kind: 'StatementItem' }>): Doc {
  const { cursor } = f;
  switch (item.kind) {
    case 'FunctionItem':
      return formatFunction(f, item);
    case 'ModelItem':
    case 'AgentItem':
    case 'ConnectionItem':
      return [cursor.next(), ' ', cursor.next(), ' ', formatConfig(f, item.fields)];
    case 'ToolItem':
    case 'McpItem':
      return formatTool(f, item);
    case 'SchemaItem':
    case 'StructItem':
      return [cursor.next(), ' ', cursor.next(), formatGenerics(f, item.generics), ' ', formatFields(f, item.fields)];
    case 'EnumItem':
      return [
        cursor.next(),
        ' ',
        cursor.next(),
        formatGenerics(f, item.generics),
        ' ',
        formatVariants(f, item.variants),
      ];
    case 'TraitItem':
      return [cursor.next(), ' ', cursor.next(), formatGenerics(f, item.generics), ' ', formatMethods(f, item.methods)];
    case 'ImplItem':
      return [
        cursor.next(),
        formatGenerics(f, item.generics),
        ' ',
        item.trait === undefined ? '' : [f.run(item.trait.span), ' ', cursor.token('for'), ' '],
        f.run(item.target.span),
        ' ',
        formatMethods(f, item.methods),
      ];
    case 'PipelineItem':
      return formatPipeline(f, item);
    case 'UseItem':
      return [cursor.token('use'), ' ', formatUseTree(f, item.tree), cursor.token(';')];
    case 'ModuleItem':
      return [cursor.token('mod'), ' ', cursor.next(), formatModuleBody(f, item.items)];
    case 'ConstItem':
    case 'StoreItem':
      return [formatBindingHead(f, item.type), f.expression(item.value), cursor.token(';')];
    case 'TypeAliasItem':
      return [
        cursor.next(),
        ' ',
        cursor.next(),
        formatGenerics(f, item.generics),
        ' ',
        cursor.token('='),
        ' ',
        f.run(item.type.span),
        cursor.token(';'),
      ];
    case 'ErrorItem':
      return '';
    default:
      return unreachable(item);
  }
}

/** `const NAME: Type = `. */
function formatBindingHead(f: Formatter, type: TypeExpression | undefined): Doc {
  const head = [f.cursor.next(), ' ', f.cursor.next()];
  const annotation = type === undefined ? '' : [f.cursor.token(':'), ' ', f.run(type.span)];
  return [head, annotation, ' ', f.cursor.token('='), ' '];
}

function formatOldTest(f: Formatter, item: FunctionItem): Doc {
  const decorators = formatDecorators(f, item.decorators.slice(0, -1));
  const head = [f.cursor.next(), ' ', f.cursor.next()];
  return [decorators, head, item.body === undefined ? '' : [' ', f.block(item.body)]];
}

function formatFields(f: Formatter, fields: readonly FieldDeclaration[]): Doc {
  const members = fields.map((field) => ({ comma: true, layout: () => formatField(f, field) }));
  return f.braces(members, { padding: ' ', forceBreak: false });
}

function formatVariants(f: Formatter, variants: Extract<Item, { kind: 'EnumItem' }>['variants']): Doc {
  const members = variants.map((variant) => ({
    comma: true,
    layout: (): Doc => {
      const name = [
        formatDecorators(f, variant.decorators),
        variant.isPublic ? [f.cursor.token('pub'), ' '] : '',
        f.cursor.next(),
      ];
      switch (variant.payload.kind) {
        case 'UnitPayload':
          return name;
        case 'TuplePayload':
          return [
            name,
            f.list(
              '(',
              ')',
              variant.payload.types.map((type) => () => f.run(type.span)),
            ),
          ];
        case 'StructPayload':
          return [name, ' ', formatFields(f, variant.payload.fields)];
        default:
          return unreachable(variant.payload);
      }
    },
  }));
  return f.braces(members, { padding: ' ', forceBreak: false });
}

/** A single method may stay on the line of its `impl`. */
function formatMethods(f: Formatter, methods: readonly FunctionItem[]): Doc {
  const members = methods.map((method) => ({ comma: false, layout: () => formatItem(f, method) }));
  return f.braces(members, { padding: ' ', forceBreak: methods.length > 1 });
}

function formatTool(f: Formatter, item: ToolItem | Extract<Item, { kind: 'McpItem' }>): Doc {
  const { cursor } = f;
  const head: Doc[] = [cursor.next(), ' ', cursor.next()];
  if (item.kind === 'ToolItem' && item.trait !== undefined) {
    head.push(' ', cursor.token('impl'), ' ', f.run(item.trait.span));
  }
  const state = item.kind === 'ToolItem' ? item.state : [];
  const members: (Member & { readonly start: number })[] = [
    ...item.fields.map((field) => ({
      start: field.span.start,
      comma: true,
      layout: () => formatConfigField(f, field),
    })),
    ...state.map((field) => ({ start: field.span.start, comma: true, layout: () => formatField(f, field) })),
    ...item.methods.map((method) => ({ start: method.span.start, comma: false, layout: () => formatItem(f, method) })),
  ];
  members.sort((a, b) => a.start - b.start);
  return [head, ' ', f.braces(members, { padding: ' ', forceBreak: true })];
}

function formatUseTree(f: Formatter, tree: UseTree): Doc {
  switch (tree.kind) {
    case 'UseName':
      return [f.run(tree.path.span), tree.alias === undefined ? '' : [' ', f.cursor.token('as'), ' ', f.cursor.next()]];
    case 'UseGlob':
      return [f.run(tree.prefix.span), f.cursor.token('::'), f.cursor.token('*')];
    case 'UseGroup':
      return [
        f.run(tree.prefix.span),
        f.cursor.token('::'),
        f.list(
          '{',
          '}',
          tree.trees.map((inner) => () => formatUseTree(f, inner)),
        ),
      ];
    default:
      return unreachable(tree);
  }
}

function formatModuleBody(f: Formatter, items: readonly Item[] | undefined): Doc {
  if (items === undefined) return f.cursor.token(';');
  const members = items.map((item) => ({ comma: false, layout: () => formatItem(f, item) }));
  return [' ', f.braces(members, { padding: ' ', forceBreak: true })];
}
