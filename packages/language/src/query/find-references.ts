import type { CheckResult } from '../check/check-program.ts';
import { type ResolvedName, type ResolvedPattern, typeOf, type VariantRef } from '../check/facts.ts';
import { findMethod } from '../check/find-method.ts';
import type { Meaning, ModuleScope } from '../check/module-scope.ts';
import { resolvePath } from '../check/resolve-path.ts';
import type { Span } from '../source/span.ts';
import type { Argument, Expression, MethodCallExpression, StructExpression } from '../syntax/expression.ts';
import type { FunctionItem, GenericParameter, ImplItem, ToolItem, UseTree } from '../syntax/item.ts';
import type { Name, NodeId, Path } from '../syntax/node.ts';
import type { Pattern, StructPattern } from '../syntax/pattern.ts';
import type { SourceTree } from '../syntax/tree.ts';
import type { NamedType } from '../syntax/type-expression.ts';
import type { CodeSymbol, Reference } from './code-symbol.ts';
import type { SymbolTable } from './symbol-table.ts';
import { childrenOf, type SyntaxNode } from './syntax-node.ts';

interface Search {
  readonly file: string;
  readonly tree: SourceTree;
  readonly checked: CheckResult;
  readonly symbols: SymbolTable;
}

/** What names mean at a place of the tree beyond what the checker wrote down. */
interface Around {
  readonly module: ModuleScope;
  readonly generics: ReadonlyMap<string, CodeSymbol>;
  readonly self: CodeSymbol | undefined;
  readonly labels: ReadonlyMap<string, CodeSymbol>;
}

/** Walks one file and says of every name what it refers to; names that could not be resolved are left out. */
export function findReferences(search: Search): Reference[] {
  const { context } = search.checked;
  const module = context.fileModules.get(search.file);
  if (module === undefined) return [];
  const walk = new Walk(search);
  walk.visit(search.tree, { module, generics: new Map(), self: undefined, labels: new Map() });
  return walk.found;
}

const WRAPPERS = { ok: 'Ok', err: 'Err', some: 'Some', none: 'None' } as const;

class Walk {
  readonly found: Reference[] = [];
  readonly #search: Search;

  constructor(search: Search) {
    this.#search = search;
  }

  visit(node: SyntaxNode, around: Around): void {
    this.#declaration(node);
    this.#uses(node, around);
    if (node.kind === 'FieldInitializer' && node.shorthand) return;
    if (node.kind === 'FieldPattern' && node.shorthand) {
      this.#pattern(node.pattern, around, { shorthand: 'value' });
      return;
    }
    const inside = this.#inside(node, around);
    for (const child of childrenOf(node)) this.visit(child, inside);
  }

  #add(name: { readonly text: string; readonly span: Span }, symbol: CodeSymbol | undefined, more = {}): void {
    if (symbol === undefined || name.text === '') return;
    const { span, text } = name;
    this.found.push({ file: this.#search.file, span, text, symbol, isDeclaration: false, ...more });
  }

  #declaration(node: SyntaxNode): void {
    const symbol = this.#search.symbols.of(node.id);
    if (symbol?.declaration === undefined || symbol.declaration.node !== node) return;
    // A name in a pattern may be a constant or a variant, or belong to another alternative of the same pattern.
    if (node.kind === 'BindingPattern') return;
    this.#add({ text: symbol.name, span: symbol.declaration.span }, symbol, { isDeclaration: true });
  }

  /** What the children of a node see. */
  #inside(node: SyntaxNode, around: Around): Around {
    const { symbols, checked } = this.#search;
    switch (node.kind) {
      case 'ModuleItem': {
        const meaning = around.module.entries.get(node.name.text)?.meaning;
        return meaning?.kind === 'module' && node.items !== undefined ? { ...around, module: meaning.module } : around;
      }
      case 'Block': {
        const first = node.statements.find((statement) => statement.kind === 'ItemStatement');
        const module = first === undefined ? undefined : checked.context.blockModules.get(first.item);
        return module === undefined ? around : { ...around, module };
      }
      case 'FunctionItem':
      case 'TypeAliasItem':
        return this.#withGenerics(node.generics, around);
      case 'SchemaItem':
      case 'StructItem':
      case 'EnumItem':
      case 'TraitItem':
        return { ...this.#withGenerics(node.generics, around), self: symbols.of(node.id) };
      case 'ToolItem':
        return { ...around, self: symbols.of(node.id) };
      case 'ImplItem': {
        const inside = this.#withGenerics(node.generics, around);
        return { ...inside, self: this.#symbolOfPath(node.target.path, inside) };
      }
      case 'ForExpression':
      case 'WhileExpression':
      case 'LoopExpression': {
        const label = node.label === undefined ? undefined : symbols.of(node.id);
        return label === undefined ? around : { ...around, labels: new Map(around.labels).set(label.name, label) };
      }
      default:
        return around;
    }
  }

  #withGenerics(generics: readonly GenericParameter[], around: Around): Around {
    if (generics.length === 0) return around;
    const known = new Map(around.generics);
    for (const generic of generics) {
      const symbol = this.#search.symbols.of(generic.id);
      if (symbol !== undefined) known.set(generic.name.text, symbol);
    }
    return { ...around, generics: known };
  }

  #uses(node: SyntaxNode, around: Around): void {
    switch (node.kind) {
      case 'NameExpression':
        this.#add(node.name, this.#resolved(node.id));
        return;
      case 'PathExpression':
        this.#path(node.path, around, this.#resolved(node.id));
        return;
      case 'StructExpression':
        this.#struct(node, around);
        return;
      case 'FieldExpression':
        this.#member(node.receiver, node.name);
        return;
      case 'MethodCallExpression':
        this.#method(node);
        return;
      case 'CallExpression':
        this.#labels(node.arguments, this.#search.symbols, this.#calledFunction(node.callee));
        return;
      case 'FunctionItem':
        this.#describedParameters(node);
        return;
      case 'MockStatement':
        this.#add(node.target, this.#resolved(node.id));
        return;
      case 'BreakExpression':
      case 'ContinueExpression':
        if (node.label !== undefined) this.#add(node.label, around.labels.get(node.label.text));
        return;
      case 'NamedType':
        this.#namedType(node, around);
        return;
      case 'UseItem':
        this.#useTree(node.tree, [], around);
        return;
      case 'ImplItem':
      case 'ToolItem':
        this.#linkToTrait(node, around);
        return;
      case 'BindingPattern':
      case 'PathPattern':
      case 'ConstructorPattern':
      case 'StructPattern':
        this.#pattern(node, around);
        return;
      default:
        return;
    }
  }

  #resolved(id: NodeId): CodeSymbol | undefined {
    const resolved = this.#search.checked.facts.names.get(id);
    return resolved === undefined ? undefined : this.#ofResolved(resolved);
  }

  #ofResolved(resolved: ResolvedName): CodeSymbol | undefined {
    const { symbols } = this.#search;
    switch (resolved.kind) {
      case 'local':
        return symbols.of(resolved.local.id);
      case 'module-variable':
        return symbols.of(resolved.variable.id);
      case 'function':
      case 'trait-method':
        return symbols.of(resolved.function.item.id);
      case 'constant':
        return symbols.of(resolved.constant.item.id);
      case 'variant':
        return this.#ofVariant(resolved.variant);
      case 'struct':
      case 'schema': {
        const item = symbols.typeItem(resolved.path);
        return item === undefined ? symbols.builtin('type', resolved.name) : symbols.of(item.id);
      }
      case 'builtin':
        return symbols.builtin('function', resolved.name);
      case 'resource':
        return symbols.of(resolved.resource.item.id);
      case 'session':
      case 'external':
      case 'unresolved':
        return undefined;
    }
  }

  #ofVariant(variant: VariantRef): CodeSymbol | undefined {
    return this.#search.symbols.ofVariant(this.#search.symbols.typeItem(variant.enum), variant.name);
  }

  /** The segments before the last are modules and types; the last one is what the checker found. */
  #path(path: Path, around: Around, last: CodeSymbol | undefined): void {
    const end = path.segments.length - 1;
    path.segments.forEach((segment, at) => {
      if (at === end) this.#add(segment, last);
      else this.#add(segment, this.#symbolOfPath(path, around, at + 1));
    });
  }

  /** Of the first `length` segments. */
  #symbolOfPath(path: Path, around: Around, length = path.segments.length): CodeSymbol | undefined {
    const segments = path.segments.slice(0, length);
    const [first, ...others] = segments;
    if (first === undefined || segments.some((segment) => segment.text === '')) return undefined;
    if (others.length === 0) {
      const generic = around.generics.get(first.text);
      if (generic !== undefined) return generic;
      if (first.text === 'Self') return around.self;
    }
    const meaning = this.#meaning({ ...path, segments }, around);
    return meaning === undefined ? undefined : this.#search.symbols.ofMeaning(meaning);
  }

  #meaning(path: Path, around: Around): Meaning | undefined {
    const target = resolvePath(this.#search.checked.context, around.module, path);
    return target.kind === 'entry' ? target.entry.meaning : undefined;
  }

  #namedType(node: NamedType, around: Around): void {
    this.#path(node.path, around, this.#symbolOfPath(node.path, around));
  }

  #struct(node: StructExpression, around: Around): void {
    const resolved = this.#search.checked.facts.names.get(node.id);
    this.#path(node.path, around, resolved === undefined ? undefined : this.#ofResolved(resolved));
    for (const field of node.fields) {
      const symbol = resolved === undefined ? undefined : this.#fieldOf(resolved, field.name.text);
      this.#add(field.name, symbol, field.shorthand ? { shorthand: 'field' } : {});
      if (field.shorthand && field.value.kind === 'NameExpression') {
        this.#add(field.name, this.#resolved(field.value.id), { shorthand: 'value' });
      }
    }
  }

  #fieldOf(
    head: { readonly kind: string; readonly path?: string; readonly variant?: VariantRef },
    name: string,
  ): CodeSymbol | undefined {
    const { symbols } = this.#search;
    if (head.variant !== undefined)
      return symbols.ofField(symbols.typeItem(head.variant.enum), head.variant.name, name);
    return head.path === undefined ? undefined : symbols.ofField(symbols.typeItem(head.path), undefined, name);
  }

  #pattern(node: Pattern, around: Around, more: Pick<Reference, 'shorthand'> = {}): void {
    const { symbols, checked } = this.#search;
    const resolved = checked.facts.patterns.get(node.id);
    if (resolved === undefined) return;
    if (node.kind === 'BindingPattern') {
      if (resolved.kind === 'binding') {
        const symbol = symbols.of(resolved.local.id);
        this.#add(node.name, symbol, { isDeclaration: resolved.local.id === node.id, ...more });
      } else if (resolved.kind === 'constant') this.#add(node.name, symbols.of(resolved.constant.item.id));
      else if (resolved.kind === 'variant') this.#add(node.name, this.#ofVariant(resolved.variant));
      return;
    }
    if (!('path' in node)) return;
    this.#path(node.path, around, this.#ofPattern(resolved));
    if (node.kind === 'StructPattern') this.#fieldPatterns(node, resolved);
  }

  #ofPattern(resolved: ResolvedPattern): CodeSymbol | undefined {
    const { symbols } = this.#search;
    switch (resolved.kind) {
      case 'variant':
        return this.#ofVariant(resolved.variant);
      case 'constant':
        return symbols.of(resolved.constant.item.id);
      case 'struct': {
        const item = symbols.typeItem(resolved.path);
        return item === undefined ? symbols.builtin('type', resolved.name) : symbols.of(item.id);
      }
      case 'failure':
        return symbols.builtin('type', resolved.name);
      case 'ok':
      case 'err':
      case 'some':
      case 'none':
        return symbols.builtin('function', WRAPPERS[resolved.kind]);
      case 'binding':
      case 'unresolved':
        return undefined;
    }
  }

  #fieldPatterns(node: StructPattern, resolved: ResolvedPattern): void {
    for (const field of node.fields) {
      this.#add(field.name, this.#fieldOf(resolved, field.name.text), field.shorthand ? { shorthand: 'field' } : {});
    }
  }

  /** `value.name` without a call: a field, or a method that is meant as one. */
  #member(receiver: Expression, name: Name): void {
    const { checked, symbols } = this.#search;
    const type = typeOf(checked.facts, receiver);
    if (type.kind !== 'applied') return;
    const declared = symbols.ofField(type.con.declaration, undefined, name.text);
    const field = type.con.declaration === undefined ? type.con.fields?.get(name.text) : undefined;
    const builtin =
      field === undefined ? undefined : symbols.builtin('field', `${type.con.name}.${name.text}`, field.type);
    this.#add(name, declared ?? builtin ?? this.#methodOf(receiver, name));
  }

  #methodOf(receiver: Expression, name: Name): CodeSymbol | undefined {
    const { checked, symbols } = this.#search;
    const found = findMethod(checked.context, typeOf(checked.facts, receiver), name.text);
    if (found === undefined) return undefined;
    if (found.kind === 'builtin') {
      return symbols.builtin('method', `${found.method.receiverName}.${found.method.name}`);
    }
    return found.method.item === undefined ? undefined : symbols.of(found.method.item.id);
  }

  #method(node: MethodCallExpression): void {
    const symbol = this.#methodOf(node.receiver, node.method);
    if (symbol === undefined) this.#member(node.receiver, node.method);
    else this.#add(node.method, symbol);
    const declared = symbol?.declaration?.node;
    this.#labels(node.arguments, this.#search.symbols, declared?.kind === 'FunctionItem' ? declared : undefined);
  }

  #calledFunction(callee: Expression): FunctionItem | undefined {
    const resolved = this.#search.checked.facts.names.get(callee.id);
    return resolved !== undefined && 'function' in resolved ? resolved.function.item : undefined;
  }

  #labels(args: readonly Argument[], symbols: SymbolTable, called: FunctionItem | undefined): void {
    if (called === undefined) return;
    for (const { label } of args) {
      const parameter = called.parameters.find((each) => each.name.text === label?.text);
      if (label !== undefined && parameter !== undefined) this.#add(label, symbols.of(parameter.id));
    }
  }

  /** `@param("name", "…")` names a parameter in a text. */
  #describedParameters(node: FunctionItem): void {
    for (const { name, arguments: args } of node.decorators) {
      const named = args.find(({ label }) => label === undefined || label.text === 'name')?.value;
      if (name.text !== 'param' || named?.kind !== 'StringLiteral') continue;
      const { start, end } = named.span;
      const parameter = node.parameters.find((each) => each.name.text === named.value);
      // Only between plain quotes does the text have the place that it seems to have.
      if (parameter === undefined || end - start !== named.value.length + 2) continue;
      const span = { start: start + 1, end: end - 1 };
      this.#add({ text: named.value, span }, this.#search.symbols.of(parameter.id));
    }
  }

  #useTree(tree: UseTree, prefix: readonly Name[], around: Around): void {
    const own = tree.kind === 'UseName' ? tree.path : tree.prefix;
    const whole = { ...own, segments: [...prefix, ...own.segments] };
    own.segments.forEach((segment, at) => {
      if (segment.text === 'self') return;
      this.#add(segment, this.#symbolOfPath(whole, around, prefix.length + at + 1));
    });
    if (tree.kind === 'UseName' && tree.alias !== undefined) {
      this.#add(tree.alias, this.#symbolOfPath(whole, around));
    }
    if (tree.kind === 'UseGroup') for (const inner of tree.trees) this.#useTree(inner, whole.segments, around);
  }

  /** A method that implements one of a trait belongs to it. */
  #linkToTrait(item: ImplItem | ToolItem, around: Around): void {
    if (item.trait === undefined) return;
    const { symbols } = this.#search;
    const trait = this.#symbolOfPath(item.trait.path, around)?.declaration?.node;
    if (trait?.kind !== 'TraitItem') return;
    for (const method of item.methods) {
      const required = trait.methods.find((each) => each.name.text === method.name.text);
      const symbol = symbols.of(method.id);
      if (symbol !== undefined && required !== undefined) symbol.implements = symbols.of(required.id);
    }
  }
}
