import { nearest } from '@concerto/base';
import type { Path } from '../syntax/node.ts';
import { CODE } from './codes.ts';
import type { Context } from './context.ts';
import { implOf } from './impls.ts';
import { canSee, type Entry, type Meaning, type ModuleScope } from './module-scope.ts';
import type { TraitInfo, TypeCon } from './types.ts';

/** What a path leads to: a name of a module, or a function that belongs to a type (`Rect::square`). */
export type PathTarget =
  | { readonly kind: 'entry'; readonly entry: Entry }
  | {
      readonly kind: 'associated';
      readonly con: TypeCon;
      readonly owner: Entry;
      readonly name: string;
      /** Of `Type::Trait::function`: the trait whose function is meant. */
      readonly trait?: TraitInfo;
    }
  | { readonly kind: 'missing'; readonly index: number; readonly container: Meaning | undefined };

const NOWHERE = { start: 0, end: 0 };

function builtinEntry(name: string, meaning: Meaning): Entry {
  return { name, meaning, isPublic: true, module: undefined, span: NOWHERE, file: '', used: true };
}

/** A name as seen from a module: the module itself, then outward to the root, then what is built in. */
export function lookupName(cx: Context, from: ModuleScope, name: string): Entry | undefined {
  for (let module: ModuleScope | undefined = from; module !== undefined; module = module.parent) {
    const found = lookupInModule(cx, module, name);
    if (found !== undefined) return found;
  }
  return lookupBuiltin(cx, name);
}

function lookupBuiltin(cx: Context, name: string): Entry | undefined {
  const known = cx.builtinEntries.get(name);
  if (known !== undefined) return known;
  const meaning = builtinMeaning(cx, name);
  if (meaning === undefined) return undefined;
  const entry = builtinEntry(name, meaning);
  cx.builtinEntries.set(name, entry);
  return entry;
}

function builtinMeaning(cx: Context, name: string): Meaning | undefined {
  if (cx.builtins.functions.has(name)) return { kind: 'builtin', name };
  const con = cx.builtins.types.get(name);
  if (con !== undefined) return { kind: 'type', con };
  return name === 'std' ? { kind: 'std', path: 'std' } : undefined;
}

/** Only what this module itself declares or imports; imports are followed to what they name. */
export function lookupInModule(cx: Context, module: ModuleScope, name: string): Entry | undefined {
  const own = module.entries.get(name);
  if (own !== undefined) {
    const target = follow(cx, module, own);
    if (target !== undefined) return target;
  }
  return lookupInGlobs(cx, module, name);
}

function lookupInGlobs(cx: Context, module: ModuleScope, name: string): Entry | undefined {
  if (module.globs.length === 0) return undefined;
  // Two modules may import all of each other; what neither has must not be looked for in a circle.
  const searched = cx.globSearches.get(module) ?? new Set<string>();
  if (searched.has(name)) return undefined;
  cx.globSearches.set(module, searched.add(name));
  try {
    return searchGlobs(cx, module, name);
  } finally {
    searched.delete(name);
  }
}

function searchGlobs(cx: Context, module: ModuleScope, name: string): Entry | undefined {
  for (const glob of module.globs) {
    if (glob.entry.meaning.kind !== 'import' || glob.entry.meaning.state === 'resolving') continue;
    const container = follow(cx, module, glob.entry);
    const found = container === undefined ? undefined : memberOf(cx, container, name);
    if (found?.kind !== 'entry' || !canSee(module, found.entry)) continue;
    glob.entry.used = true;
    return { ...found.entry, isPublic: glob.isPublic, module };
  }
  return undefined;
}

/** The declaration behind an import, keeping the import's own visibility; marks the import as used. */
function follow(cx: Context, module: ModuleScope, entry: Entry): Entry | undefined {
  const { meaning } = entry;
  if (meaning.kind !== 'import') return entry;
  if (meaning.state === 'resolving') return undefined;
  if (meaning.state === 'new') {
    meaning.state = 'resolving';
    const target = resolveSegments(cx, module, meaning.segments);
    meaning.target = importTarget(cx, module, entry, target);
    meaning.state = 'done';
  }
  entry.used = true;
  const target = meaning.target;
  if (target === undefined) return undefined;
  return { ...target, isPublic: entry.isPublic, module: entry.module, name: entry.name };
}

function importTarget(cx: Context, module: ModuleScope, entry: Entry, target: PathTarget): Entry {
  const broken = builtinEntry(entry.name, { kind: 'broken' });
  if (entry.meaning.kind !== 'import') return broken;
  const { path, segments } = entry.meaning;
  if (target.kind === 'missing') {
    reportMissing(cx, { file: entry.file, path, segments, target, module });
    return broken;
  }
  if (target.kind === 'associated') {
    const { con, name } = target;
    const span = (path.segments[path.segments.length - 1] ?? path).span;
    cx.report.error(CODE.undefinedName, span, `\`${name}\` cannot be imported from the type \`${con.name}\``, {
      help: `import the type, and write \`${con.name}::${name}\``,
      file: entry.file,
    });
    return broken;
  }
  if (!canSee(module, target.entry)) {
    reportHidden(cx, target.entry, path, entry.file);
    return broken;
  }
  return target.entry;
}

export function resolvePath(cx: Context, module: ModuleScope, path: Path): PathTarget {
  return resolveSegments(
    cx,
    module,
    path.segments.map((segment) => segment.text),
  );
}

/** Follows a path segment by segment; the first is looked up outward, the others inside what came before. */
function resolveSegments(cx: Context, module: ModuleScope, segments: readonly string[]): PathTarget {
  let current = firstSegment(cx, module, segments[0] ?? '');
  if (current === undefined) return { kind: 'missing', index: 0, container: undefined };
  for (let index = 1; index < segments.length; index++) {
    const next = stepInto(cx, current, segments[index] ?? '');
    if (next === undefined) return { kind: 'missing', index, container: current.meaning };
    if (next.kind !== 'entry') {
      if (index === segments.length - 1) return next;
      return (
        functionOfTrait(cx, module, next, segments.slice(index)) ?? {
          kind: 'missing',
          index: index + 1,
          container: undefined,
        }
      );
    }
    // A private module in the middle hides all behind it, unless one stands inside it.
    if (index < segments.length - 1 && !canSee(module, next.entry)) return next;
    current = next.entry;
  }
  return { kind: 'entry', entry: current };
}

/** `Type::Trait::function`: the function as this trait has it, where several traits of a type have one of the name. */
function functionOfTrait(
  cx: Context,
  module: ModuleScope,
  target: Extract<PathTarget, { kind: 'associated' }>,
  [traitName = '', name = '', ...rest]: readonly string[],
): PathTarget | undefined {
  const trait = implementedTrait(cx, module, target.con, traitName);
  return trait === undefined || rest.length > 0 ? undefined : { ...target, name, trait };
}

/** The trait of this name, if the type implements it. */
export function implementedTrait(cx: Context, module: ModuleScope, con: TypeCon, name: string): TraitInfo | undefined {
  const meaning = lookupName(cx, module, name)?.meaning;
  return meaning?.kind === 'trait' && implOf(cx, con).traits.has(meaning.trait) ? meaning.trait : undefined;
}

function firstSegment(cx: Context, module: ModuleScope, name: string): Entry | undefined {
  if (name === 'crate') return moduleEntry(cx.root);
  if (name === 'self') return moduleEntry(module);
  if (name === 'super') return moduleEntry(module.parent ?? module);
  const found = lookupName(cx, module, name);
  if (found !== undefined) return found;
  const std = `std::${name}`;
  return cx.builtins.modules.has(std) ? builtinEntry(name, { kind: 'std', path: std }) : undefined;
}

function moduleEntry(module: ModuleScope): Entry {
  return builtinEntry(module.name, { kind: 'module', module });
}

function stepInto(cx: Context, current: Entry, name: string): Exclude<PathTarget, { kind: 'missing' }> | undefined {
  if (current.meaning.kind === 'module' && name === 'super') {
    const parent = current.meaning.module.parent;
    return parent === undefined ? undefined : { kind: 'entry', entry: moduleEntry(parent) };
  }
  return memberOf(cx, current, name);
}

/** `container::name`. */
export function memberOf(
  cx: Context,
  container: Entry,
  name: string,
): Exclude<PathTarget, { kind: 'missing' }> | undefined {
  const { meaning } = container;
  switch (meaning.kind) {
    case 'module': {
      const entry = lookupInModule(cx, meaning.module, name);
      return entry === undefined ? undefined : { kind: 'entry', entry };
    }
    case 'std':
      return stdMember(cx, meaning.path, name);
    case 'type': {
      const variant = meaning.con.variants?.get(name);
      if (variant !== undefined) {
        variant.entry ??= builtinEntry(name, { kind: 'variant', variant });
        return { kind: 'entry', entry: variant.entry };
      }
      return { kind: 'associated', con: meaning.con, owner: container, name };
    }
    case 'alias':
      return meaning.con === undefined ? undefined : memberOf(cx, typeEntry(meaning.con), name);
    case 'trait':
      return { kind: 'associated', con: meaning.trait.con, owner: container, name };
    case 'resource':
      return { kind: 'associated', con: meaning.con, owner: container, name };
    case 'broken':
      return { kind: 'entry', entry: builtinEntry(name, { kind: 'broken' }) };
    case 'builtin':
    case 'function':
    case 'constant':
    case 'variable':
    case 'variant':
    case 'import':
      return undefined;
  }
}

function typeEntry(con: TypeCon): Entry {
  return builtinEntry(con.name, { kind: 'type', con });
}

function stdMember(cx: Context, path: string, name: string): Exclude<PathTarget, { kind: 'missing' }> | undefined {
  const full = `${path}::${name}`;
  const written = cx.fileModules.get(full);
  if (written !== undefined) return { kind: 'entry', entry: moduleEntry(written) };
  if (cx.builtins.functions.has(full)) {
    return { kind: 'entry', entry: builtinEntry(name, { kind: 'builtin', name: full }) };
  }
  if (cx.builtins.modules.has(full)) return { kind: 'entry', entry: builtinEntry(name, { kind: 'std', path: full }) };
  const con = path === 'std::collections' ? cx.builtins.types.get(name) : undefined;
  return con === undefined ? undefined : { kind: 'entry', entry: typeEntry(con) };
}

/** Names one could have meant inside a container, for "did you mean". */
function namesIn(cx: Context, container: Meaning): Iterable<string> {
  switch (container.kind) {
    case 'module':
      return container.module.entries.keys();
    case 'std': {
      const prefix = `${container.path}::`;
      const inside = [...cx.builtins.functions.keys(), ...cx.builtins.modules].filter((name) =>
        name.startsWith(prefix),
      );
      return inside.map((name) => name.slice(prefix.length).split('::')[0] ?? '');
    }
    case 'type':
      return [...(container.con.variants?.keys() ?? []), ...implOf(cx, container.con).methods.keys()];
    default:
      return [];
  }
}

/** Comparing names takes time: in a large program with many mistakes only the first get suggestions. */
const MOST_COMPARED = 30_000;

/** All names visible from a module, for "did you mean". */
export function namesVisible(cx: Context, from: ModuleScope): string[] {
  if (cx.compared.names > MOST_COMPARED) return [];
  const names: string[] = [];
  for (let module: ModuleScope | undefined = from; module !== undefined; module = module.parent) {
    names.push(...module.entries.keys());
  }
  for (const name of cx.builtins.functions.keys()) if (!name.includes('::')) names.push(name);
  names.push(...cx.builtins.types.keys());
  cx.compared.names += names.length;
  return names;
}

export function didYouMean(name: string, candidates: Iterable<string>): string | undefined {
  const suggestion = nearest(name, candidates);
  return suggestion === undefined || suggestion === name ? undefined : `did you mean \`${suggestion}\`?`;
}

export interface MissingPath {
  readonly file: string;
  readonly path: Path;
  readonly segments: readonly string[];
  readonly target: Extract<PathTarget, { kind: 'missing' }>;
  readonly module: ModuleScope;
}

export function reportMissing(cx: Context, missing: MissingPath): void {
  const { target, path, segments, module } = missing;
  const name = segments[target.index] ?? '';
  if (name === '') return;
  // Inside a `use` group the path in the tree is shorter than the whole path.
  const offset = segments.length - path.segments.length;
  const node = path.segments[target.index - offset] ?? path;
  const candidates = target.container === undefined ? namesVisible(cx, module) : namesIn(cx, target.container);
  const where = target.index === 0 ? '' : ` in \`${segments.slice(0, target.index).join('::')}\``;
  cx.report.error(CODE.undefinedName, node.span, `cannot find \`${name}\`${where}`, {
    help: didYouMean(name, candidates),
    file: missing.file,
  });
}

export function reportHidden(cx: Context, entry: Entry, path: Path, file: string): void {
  const last = path.segments.find((segment) => segment.text === entry.name) ?? path.segments[path.segments.length - 1];
  cx.report.error(CODE.notVisible, (last ?? path).span, `\`${entry.name}\` is private`, {
    help: `write \`pub\` before its declaration to use it outside its module`,
    labels: entry.file === '' ? [] : [{ span: entry.span, message: 'declared here', file: entry.file }],
    file,
  });
}
