import type { BuiltinMethod } from './builtins.ts';
import type { Context } from './context.ts';
import { implOf } from './impls.ts';
import { builtinName, CON, type MethodInfo, prune, STRING, type TraitInfo, type Type } from './types.ts';

export type FoundMethod =
  | { readonly kind: 'declared'; readonly method: MethodInfo }
  | { readonly kind: 'builtin'; readonly method: BuiltinMethod }
  | { readonly kind: 'trait'; readonly method: MethodInfo; readonly trait: TraitInfo };

/** Own methods first, then those of traits, then what is built in for the type, then what every value has. */
export function findMethod(cx: Context, raw: Type, name: string): FoundMethod | undefined {
  const type = prune(raw);
  if (type.kind === 'param') {
    for (const trait of type.param.bounds) {
      const method = trait.methods.get(name);
      if (method !== undefined) return { kind: 'trait', method, trait };
    }
    return universal(cx, name);
  }
  if (type.kind !== 'applied') return undefined;
  const { con } = type;
  const { methods, traitMethods } = implOf(cx, con);
  const own = methods.get(name);
  if (own !== undefined) return { kind: 'declared', method: own };
  const viaTrait = traitMethods.get(name);
  if (viaTrait !== undefined) return { kind: 'declared', method: viaTrait };
  if (con.family === 'trait' && con.trait !== undefined) {
    const method = con.trait.methods.get(name);
    if (method !== undefined) return { kind: 'trait', method, trait: con.trait };
  }
  const builtin = cx.builtins.methods.get(builtinReceiver(type))?.get(name);
  if (builtin !== undefined) return { kind: 'builtin', method: builtin };
  // An error is its message wherever a text is wanted.
  if (con.family === 'failure') return findMethod(cx, STRING, name);
  if (con.base !== undefined) return findMethod(cx, con.base, name);
  return universal(cx, name);
}

function universal(cx: Context, name: string): FoundMethod | undefined {
  const method = cx.builtins.methods.get('Any')?.get(name);
  return method === undefined ? undefined : { kind: 'builtin', method };
}

function builtinReceiver(type: Extract<Type, { kind: 'applied' }>): string {
  if (type.con.family === 'literals') return 'String';
  if (type.con.family === 'failure') return 'Error';
  if (type.con === CON.Tuple) return 'Array';
  return builtinName(type);
}

/** Names a caller could have meant. */
export function methodNames(cx: Context, raw: Type): string[] {
  const type = prune(raw);
  if (type.kind === 'param') return type.param.bounds.flatMap((trait) => [...trait.methods.keys()]);
  if (type.kind !== 'applied') return [];
  const { con } = type;
  const { methods, traitMethods } = implOf(cx, con);
  return [
    ...methods.keys(),
    ...traitMethods.keys(),
    ...(con.trait?.methods.keys() ?? []),
    ...(cx.builtins.methods.get(builtinReceiver(type))?.keys() ?? []),
    ...(con.base === undefined ? [] : methodNames(cx, con.base)),
    ...(con.family === 'failure' ? methodNames(cx, STRING) : []),
  ];
}

/** Does some type of the program have a method of this name that changes its receiver? For dynamic receivers. */
export function mayMutate(cx: Context, name: string): boolean {
  for (const table of cx.builtins.methods.values()) if (table.get(name)?.receiver === 'mut-self') return true;
  return cx.mutatingMethods.has(name);
}
