import { builtinSpec, isBuiltin } from '@concerto/ir';
import type { Context } from '../check/context.ts';
import { findMethod, methodNames } from '../check/find-method.ts';
import { implOf } from '../check/impls.ts';
import { canSee, type Meaning, type ModuleScope } from '../check/module-scope.ts';
import { lookupInModule } from '../check/resolve-path.ts';
import {
  argumentsOf,
  CON,
  isCon,
  kindOf,
  prune,
  showType,
  substitute,
  type Type,
  type TypeCon,
} from '../check/types.ts';
import type { Completion } from './completion.ts';
import { describeSymbol } from './describe-symbol.ts';
import type { ProgramIndex } from './index-program.ts';

/** Fields and methods of a value, for what follows a dot. */
export function membersOf(index: ProgramIndex, raw: Type): Completion[] {
  const type = prune(raw);
  if (type.kind === 'applied' && isCon(type, CON.Tuple)) {
    return type.args.map((arg, at) => ({ label: String(at), kind: 'field', detail: showType(arg), rank: 1 }));
  }
  const fields = type.kind === 'applied' ? [...(type.con.fields?.values() ?? [])] : [];
  const given = type.kind === 'applied' ? argumentsOf(type) : new Map();
  const found: Completion[] = fields.map((field) => ({
    label: field.name,
    kind: 'field',
    detail: `${field.name}${field.optional ? '?' : ''}: ${showType(substitute(field.type, given))}`,
    rank: 1,
  }));
  const cx = index.checked.context;
  const universal =
    type.kind === 'applied' || type.kind === 'param' ? (cx.builtins.methods.get('Any')?.keys() ?? []) : [];
  for (const name of new Set([...methodNames(cx, type), ...universal])) {
    const method = findMethod(cx, type, name);
    // A tool is the receiver of all its functions.
    if (method === undefined || (method.method.receiver === 'none' && kindOf(type) !== 'Tool')) continue;
    if (method.kind === 'builtin') found.push(builtinCompletion(name, `${method.method.receiverName}.${name}`));
    else found.push(declaredCompletion(index, name, method.method.item?.id));
  }
  return found;
}

function builtinCompletion(label: string, row: string): Completion {
  const spec = isBuiltin(row) ? builtinSpec(row) : undefined;
  const kind = row.includes('.') ? 'method' : 'function';
  return { label, kind, detail: spec?.signature ?? row, doc: spec?.help, rank: 2, isCall: true };
}

function declaredCompletion(index: ProgramIndex, label: string, id: number | undefined): Completion {
  const symbol = id === undefined ? undefined : index.symbols.of(id);
  if (symbol === undefined) return { label, kind: 'method', rank: 1, isCall: true };
  const { code, doc } = describeSymbol(index, symbol);
  return { label, kind: symbol.kind, detail: firstLine(code), doc, rank: 1, isCall: true };
}

/** What follows `container::`. */
export function namesInside(index: ProgramIndex, from: ModuleScope, container: Meaning): Completion[] {
  const cx = index.checked.context;
  switch (container.kind) {
    case 'module': {
      const { module } = container;
      return [...module.entries.keys()].flatMap((name) => {
        const entry = lookupInModule(cx, module, name);
        return entry === undefined || !canSee(from, entry) ? [] : entryCompletion(index, name, entry.meaning);
      });
    }
    case 'std':
      return stdNames(cx, container.path);
    case 'type':
      return associated(index, container.con);
    case 'trait':
      return associated(index, container.trait.con);
    case 'resource':
      return associated(index, container.con);
    case 'alias':
      return container.con === undefined ? [] : associated(index, container.con);
    default:
      return [];
  }
}

function stdNames(cx: Context, path: string): Completion[] {
  const prefix = `${path}::`;
  const found = new Map<string, Completion>();
  for (const name of [...cx.builtins.functions.keys(), ...cx.builtins.modules]) {
    if (!name.startsWith(prefix)) continue;
    const [label, ...further] = name.slice(prefix.length).split('::');
    if (label === undefined || found.has(label)) continue;
    if (further.length > 0) found.set(label, { label, kind: 'type', rank: 1 });
    else if (cx.builtins.modules.has(name)) found.set(label, { label, kind: 'module', rank: 1 });
    else found.set(label, builtinCompletion(label, name));
  }
  if (path === 'std') found.set('tools', { label: 'tools', kind: 'module', rank: 1 });
  return [...found.values()];
}

function associated(index: ProgramIndex, con: TypeCon): Completion[] {
  const variants = [...(con.variants?.values() ?? [])].map((variant): Completion => {
    const symbol = index.symbols.ofVariant(con.declaration, variant.name);
    const described = symbol === undefined ? undefined : describeSymbol(index, symbol);
    const isCall = variant.shape === 'tuple';
    return { label: variant.name, kind: 'variant', detail: described?.code, doc: described?.doc, rank: 0, isCall };
  });
  const cx = index.checked.context;
  const own = implOf(cx, con);
  const methods = [...own.methods, ...own.traitMethods, ...(con.trait?.methods ?? [])].map(([name, method]) =>
    declaredCompletion(index, name, method.item?.id),
  );
  const prefixes = con.declaration === undefined ? [`${con.name}::`, `std::collections::${con.name}::`] : [];
  const builtin = [...cx.builtins.functions.keys()].flatMap((row) => {
    const prefix = prefixes.find((each) => row.startsWith(each));
    return prefix === undefined ? [] : [builtinCompletion(row.slice(prefix.length), row)];
  });
  return [...variants, ...methods, ...builtin];
}

/** A name of a module, with what it stands for. */
export function entryCompletion(index: ProgramIndex, label: string, meaning: Meaning): Completion[] {
  if (meaning.kind === 'broken') return [];
  const symbol = index.symbols.ofMeaning(meaning);
  if (symbol === undefined) return [{ label, kind: meaning.kind === 'module' ? 'module' : 'variable', rank: 1 }];
  const { code, doc } = describeSymbol(index, symbol);
  const isCall = symbol.kind === 'function';
  return [{ label, kind: symbol.kind, detail: firstLine(code), doc, rank: 1, isCall }];
}

function firstLine(code: string): string {
  return code.split('\n')[0] ?? '';
}
