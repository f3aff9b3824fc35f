import type { Context } from '../check/context.ts';
import type { Meaning, ModuleScope } from '../check/module-scope.ts';
import type { Type, TypeCon } from '../check/types.ts';
import type { FieldDeclaration, Item } from '../syntax/item.ts';
import type { NodeId } from '../syntax/node.ts';
import type { CodeSymbol } from './code-symbol.ts';
import type { DeclaredSymbols } from './declare-symbols.ts';

/** The symbol of every declaration, and of what is built in and was asked for. */
export class SymbolTable {
  readonly #declared: DeclaredSymbols;
  readonly #builtin = new Map<string, CodeSymbol>();
  readonly #modules = new Map<ModuleScope, CodeSymbol>();
  readonly #typesByPath = new Map<string, Item>();

  constructor(declared: DeclaredSymbols, cx: Context) {
    this.#declared = declared;
    for (const { path, item } of cx.facts.declaredTypes) this.#typesByPath.set(path, item);
  }

  /** Declared by this node. */
  of(id: NodeId): CodeSymbol | undefined {
    return this.#declared.get(id);
  }

  /** `print`, `Array.push`, `std::json::parse`. */
  builtin(kind: 'function' | 'method' | 'type' | 'module' | 'field', row: string, type?: Type): CodeSymbol {
    const key = `${kind} ${row}`;
    const known = this.#builtin.get(key);
    if (known !== undefined) return known;
    const name = row.slice(Math.max(row.lastIndexOf('::') + 1, row.lastIndexOf('.')) + 1);
    const symbol: CodeSymbol = { kind, name, declaration: undefined, builtin: row, type, implements: undefined };
    this.#builtin.set(key, symbol);
    return symbol;
  }

  setModule(scope: ModuleScope, item: Item): void {
    const symbol = this.of(item.id);
    if (symbol !== undefined) this.#modules.set(scope, symbol);
  }

  /** A struct, schema, enum or trait by its unique path. */
  typeItem(path: string): Item | undefined {
    return this.#typesByPath.get(path);
  }

  ofCon(con: TypeCon): CodeSymbol | undefined {
    if (con.declaration !== undefined) return this.of(con.declaration.id);
    return con.family === 'literals' ? undefined : this.builtin('type', con.name);
  }

  ofVariant(item: Item | undefined, name: string): CodeSymbol | undefined {
    const variant = item?.kind === 'EnumItem' ? item.variants.find((each) => each.name.text === name) : undefined;
    return variant === undefined ? undefined : this.of(variant.id);
  }

  ofField(item: Item | undefined, variant: string | undefined, name: string): CodeSymbol | undefined {
    const field = fieldsOf(item, variant).find((each) => each.name.text === name);
    return field === undefined ? undefined : this.of(field.id);
  }

  ofMeaning(meaning: Meaning): CodeSymbol | undefined {
    switch (meaning.kind) {
      case 'function':
      case 'alias':
      case 'constant':
        return this.of(meaning.item.id);
      case 'resource':
        return this.of(meaning.ref.item.id);
      case 'type':
        return this.ofCon(meaning.con);
      case 'trait':
        return this.ofCon(meaning.trait.con);
      case 'module':
        return this.#modules.get(meaning.module);
      case 'variable':
        return this.of(meaning.variable.id);
      case 'variant':
        return this.ofVariant(meaning.variant.owner.declaration, meaning.variant.name);
      case 'builtin':
        return this.builtin('function', meaning.name);
      case 'std':
        return this.builtin('module', meaning.path);
      case 'import':
        return meaning.target === undefined ? undefined : this.ofMeaning(meaning.target.meaning);
      case 'broken':
        return undefined;
    }
  }
}

function fieldsOf(item: Item | undefined, variant: string | undefined): readonly FieldDeclaration[] {
  switch (item?.kind) {
    case 'StructItem':
    case 'SchemaItem':
      return item.fields;
    case 'ToolItem':
      return item.state;
    case 'EnumItem': {
      const payload = item.variants.find((each) => each.name.text === variant)?.payload;
      return payload?.kind === 'StructPayload' ? payload.fields : [];
    }
    default:
      return [];
  }
}
