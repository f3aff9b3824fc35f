import { COLLECTION_METHODS } from './builtins-collections.ts';
import { FUNCTIONS } from './builtins-functions.ts';
import { SCALAR_METHODS } from './builtins-scalars.ts';
import { STD } from './builtins-std.ts';
import { WORLD_METHODS } from './builtins-world.ts';
import { parseSignature, type Signature } from './signature.ts';

/**
 * One built-in. The row's name says what it is: `len` a function, `std::math::abs` a function of a module, `Array.push` a
 * method (first parameter `self`; `mut self` when it changes the receiver), `ToolError::new` a function in the namespace
 * of a type.
 */
export interface BuiltinSpec {
  readonly signature: string;
  /** It needs the world: the fiber waits for an answer, or something leaves the program. */
  readonly effect?: boolean;
  /** Its type arguments are passed before the arguments, as type constants. */
  readonly typeArguments?: boolean;
  readonly help: string;
}

/** Every built-in function, std function and built-in method. The checker, the VM, completion and the docs read it. */
export const BUILTINS = {
  ...FUNCTIONS,
  ...STD,
  ...SCALAR_METHODS,
  ...COLLECTION_METHODS,
  ...WORLD_METHODS,
} as const satisfies Record<string, BuiltinSpec>;

export type BuiltinName = keyof typeof BUILTINS;

export const BUILTIN_NAMES: readonly BuiltinName[] = Object.keys(BUILTINS).filter(isBuiltin);

export function isBuiltin(name: string): name is BuiltinName {
  return Object.hasOwn(BUILTINS, name);
}

export function builtinSpec(name: BuiltinName): BuiltinSpec {
  return BUILTINS[name];
}

const parsed = new Map<BuiltinName, Signature>();

export function builtinSignature(name: BuiltinName): Signature {
  const known = parsed.get(name);
  if (known !== undefined) return known;
  const signature = parseSignature(BUILTINS[name].signature);
  parsed.set(name, signature);
  return signature;
}

const methodNames = new Map<string, Map<string, BuiltinName>>();
for (const name of BUILTIN_NAMES) {
  const dot = name.indexOf('.');
  if (dot === -1) continue;
  const type = name.slice(0, dot);
  const table = methodNames.get(type) ?? new Map<string, BuiltinName>();
  table.set(name.slice(dot + 1), name);
  methodNames.set(type, table);
}

/** The built-in methods of a type (`Array`), method name to row name. */
export function builtinMethods(type: string): ReadonlyMap<string, BuiltinName> {
  return methodNames.get(type) ?? new Map();
}

/** The functions of `std::math` and the like: short name to row name. Collections have `Set::new` among theirs. */
export function stdModule(path: string): ReadonlyMap<string, BuiltinName> {
  const prefix = `${path}::`;
  return new Map(
    BUILTIN_NAMES.filter((name) => name.startsWith(prefix)).map((name) => [name.slice(prefix.length), name]),
  );
}

/** `std::math`, `std::json` … */
export const STD_MODULES: readonly string[] = [
  ...new Set(
    BUILTIN_NAMES.filter((name) => name.startsWith('std::')).map((name) => name.split('::').slice(0, 2).join('::')),
  ),
];
