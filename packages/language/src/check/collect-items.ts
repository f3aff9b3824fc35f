import type { Span } from '../source/span.ts';
import type {
  ConstItem,
  EnumItem,
  FunctionItem,
  Item,
  ItemNode,
  ModuleItem,
  SchemaItem,
  StructItem,
  TraitItem,
  UseItem,
  UseTree,
} from '../syntax/item.ts';
import type { Name } from '../syntax/node.ts';
import { CODE } from './codes.ts';
import type { Context } from './context.ts';
import type { FunctionRef, ResourceKind, ResourceRef } from './facts.ts';
import { createModule, type Entry, join, type Meaning, type ModuleScope } from './module-scope.ts';
import { ANY, applied, NIL, type Signature, type TraitInfo, typeCon, typeParam } from './types.ts';

/** A declared name before its types are known. */
const UNKNOWN_SIGNATURE: Signature = { typeParams: [], params: [], result: NIL, isAsync: false };

/** An item together with the module it is in, in the order of the source; inner modules come before the rest. */
export interface CollectedItem {
  readonly item: Item;
  readonly module: ModuleScope;
}

/** Enters the names of all items into their modules, going into inline modules and module files. */
export function collectItems(cx: Context, module: ModuleScope, items: readonly Item[]): CollectedItem[] {
  const collected: CollectedItem[] = [];
  for (const item of items) {
    if (item.kind === 'ModuleItem') collected.push(...collectModule(cx, module, item));
  }
  for (const item of items) {
    collectItem(cx, module, item);
    collected.push({ item, module });
  }
  return collected;
}

function collectModule(cx: Context, parent: ModuleScope, item: ModuleItem): CollectedItem[] {
  const name = item.name.text;
  if (name === '') return [];
  if (item.items !== undefined) {
    const module = createModule(name, parent, parent.file);
    declare(cx, parent, item, { kind: 'module', module });
    return collectItems(cx, module, item.items);
  }
  const file = cx.program.moduleFiles.get(item.id);
  const parsed = file === undefined ? undefined : cx.program.files.get(file);
  if (file === undefined || parsed === undefined) {
    declare(cx, parent, item, { kind: 'broken' });
    return [];
  }
  const known = cx.fileModules.get(file);
  const module = known ?? createModule(name, parent, file);
  declare(cx, parent, item, { kind: 'module', module });
  if (known !== undefined) return [];
  cx.fileModules.set(file, module);
  return inFile(cx, file, () => collectItems(cx, module, parsed.tree.items));
}

export function inFile<T>(cx: Context, file: string, run: () => T): T {
  const before = cx.report.file;
  cx.report.file = file;
  try {
    return run();
  } finally {
    cx.report.file = before;
  }
}

type NamedItem = ItemNode & { readonly name: Name };

/** A path that nothing else in the program has. */
export function uniquePath(cx: Context, path: string): string {
  let unique = path;
  for (let count = 2; cx.paths.has(unique); count++) unique = `${path}#${count}`;
  cx.paths.add(unique);
  return unique;
}

function declare(cx: Context, module: ModuleScope, node: NamedItem, meaning: Meaning): Entry {
  const { name } = node;
  const entry: Entry = {
    name: name.text,
    meaning,
    isPublic: node.isPublic,
    module,
    span: name.span,
    file: module.file,
    used: false,
  };
  if (name.text === '') return entry;
  const first = module.entries.get(name.text);
  if (first === undefined) module.entries.set(name.text, entry);
  else reportDuplicate(cx, name.text, name.span, first);
  return entry;
}

function reportDuplicate(cx: Context, name: string, span: Span, first: Entry): void {
  cx.report.error(CODE.duplicate, span, `\`${name}\` is defined twice`, {
    labels: [{ span: first.span, message: 'first defined here', file: first.file }],
    help: 'give one of them another name',
  });
}

function collectItem(cx: Context, module: ModuleScope, item: Item): void {
  switch (item.kind) {
    case 'FunctionItem':
      collectFunction(cx, module, item);
      return;
    case 'StructItem':
    case 'SchemaItem':
    case 'EnumItem':
      collectType(cx, module, item);
      return;
    case 'TraitItem':
      collectTrait(cx, module, item);
      return;
    case 'ConstItem':
      collectConstant(cx, module, item);
      return;
    case 'TypeAliasItem':
      declare(cx, module, item, {
        kind: 'alias',
        item,
        module,
        params: [],
        state: 'new',
        con: undefined,
        type: undefined,
      });
      return;
    case 'UseItem':
      collectUse(cx, module, { item, tree: item.tree, prefix: [] });
      return;
    case 'ModelItem':
      collectResource(cx, module, item, 'model');
      return;
    case 'AgentItem':
      collectResource(cx, module, item, 'agent');
      return;
    case 'ToolItem':
      collectResource(cx, module, item, 'tool');
      return;
    case 'McpItem':
      collectResource(cx, module, item, 'mcp');
      return;
    case 'PipelineItem':
      collectResource(cx, module, item, 'pipeline');
      return;
    case 'StoreItem':
      collectResource(cx, module, item, item.store);
      return;
    case 'ConnectionItem':
      cx.connections.add(item.name.text);
      cx.facts.resources.push({ kind: 'connection', path: item.name.text, item, file: module.file });
      return;
    case 'ModuleItem':
    case 'ImplItem':
    case 'StatementItem':
    case 'ErrorItem':
      return;
  }
}

export function isTest(item: FunctionItem): boolean {
  return item.decorators.some((decorator) => decorator.name.text === 'test');
}

export function isSupervisor(item: FunctionItem): boolean {
  return item.decorators.some((decorator) => decorator.name.text === 'supervisor');
}

function collectFunction(cx: Context, module: ModuleScope, item: FunctionItem): void {
  const ref: FunctionRef = {
    path: uniquePath(cx, join(module.path, item.name.text)),
    item,
    file: module.file,
    owner: undefined,
    isAsync: item.isAsync,
    receiver: 'none',
  };
  const test = isTest(item);
  (test ? cx.facts.tests : cx.facts.declaredFunctions).push(ref);
  if (module === cx.root && item.name.text === 'main' && !test) cx.facts.main ??= ref;
  if (isSupervisor(item) && !test) cx.facts.supervisors.push(ref);
  declare(cx, module, item, { kind: 'function', ref, item, isTest: test, signature: UNKNOWN_SIGNATURE });
}

const TYPE_FAMILY = { StructItem: 'struct', SchemaItem: 'schema', EnumItem: 'enum' } as const;

function collectType(cx: Context, module: ModuleScope, item: StructItem | SchemaItem | EnumItem): void {
  const family = TYPE_FAMILY[item.kind];
  const path = uniquePath(cx, join(module.path, item.name.text));
  const con = typeCon(item.name.text, family, { path, declaration: item });
  con.params = item.generics.map((generic) => typeParam(generic.name.text));
  if (item.kind === 'EnumItem') con.variants = new Map();
  else con.fields = new Map();
  cx.facts.declaredTypes.push({ kind: family, path, name: item.name.text, con, item, file: module.file });
  cx.declaredCons.set(item, con);
  declare(cx, module, item, { kind: 'type', con });
}

function collectTrait(cx: Context, module: ModuleScope, item: TraitItem): void {
  const path = uniquePath(cx, join(module.path, item.name.text));
  const con = typeCon(item.name.text, 'trait', { path, declaration: item });
  const typeParams = item.generics.map((generic) => typeParam(generic.name.text));
  const trait: TraitInfo = {
    name: item.name.text,
    path,
    methods: new Map(),
    con,
    typeParams,
    self: typeParam('Self'),
    declared: true,
  };
  trait.self.bounds = [trait];
  con.params = typeParams;
  con.trait = trait;
  cx.declaredCons.set(item, con);
  cx.facts.declaredTypes.push({ kind: 'trait', path, name: item.name.text, con, item, file: module.file });
  declare(cx, module, item, { kind: 'trait', trait });
}

function collectConstant(cx: Context, module: ModuleScope, item: ConstItem): void {
  const ref = { path: uniquePath(cx, join(module.path, item.name.text)), item, file: module.file };
  cx.facts.declaredConstants.push(ref);
  declare(cx, module, item, { kind: 'constant', ref, item, type: ANY });
}

function collectResource(cx: Context, module: ModuleScope, item: ResourceRef['item'], kind: ResourceKind): void {
  const path = uniquePath(cx, join(module.path, item.name.text));
  const ref: ResourceRef = { kind, path, item, file: module.file };
  cx.facts.resources.push(ref);
  const con = typeCon(item.name.text, 'declared', { path, declaration: item });
  cx.declaredCons.set(item, con);
  declare(cx, module, item, { kind: 'resource', ref, con, type: applied(con) });
}

function collectUse(
  cx: Context,
  module: ModuleScope,
  use: { readonly item: UseItem; readonly tree: UseTree; readonly prefix: readonly string[] },
): void {
  const { item, tree, prefix } = use;
  if (tree.kind === 'UseGroup') {
    const inner = [...prefix, ...tree.prefix.segments.map((segment) => segment.text)];
    for (const part of tree.trees) collectUse(cx, module, { item, tree: part, prefix: inner });
    return;
  }
  const path = tree.kind === 'UseGlob' ? tree.prefix : tree.path;
  let segments = [...prefix, ...path.segments.map((segment) => segment.text)];
  // `use a::{self}` is `a` itself.
  if (segments.length > 1 && segments[segments.length - 1] === 'self') segments = segments.slice(0, -1);
  const meaning: Meaning = { kind: 'import', path, segments, state: 'new', target: undefined };
  const last = segments[segments.length - 1] ?? '';
  if (tree.kind === 'UseGlob') {
    const entry: Entry = { ...blankEntry(item, module), name: last, meaning, span: tree.span };
    module.globs.push({ isPublic: item.isPublic, entry });
    return;
  }
  const alias = tree.alias ?? path.segments[path.segments.length - 1];
  if (last === '' || alias === undefined) return;
  const name = tree.alias?.text ?? last;
  const first = module.entries.get(name);
  if (first !== undefined) reportDuplicate(cx, name, alias.span, first);
  else module.entries.set(name, { ...blankEntry(item, module), name, meaning, span: alias.span });
}

function blankEntry(item: UseItem, module: ModuleScope): Omit<Entry, 'name' | 'meaning' | 'span'> {
  return { isPublic: item.isPublic, module, file: module.file, used: false };
}
