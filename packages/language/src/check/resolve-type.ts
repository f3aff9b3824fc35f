import type { GenericParameter } from '../syntax/item.ts';
import type { Name } from '../syntax/node.ts';
import type { NamedType, TypeExpression, UnionType } from '../syntax/type-expression.ts';
import { CODE } from './codes.ts';
import type { Context, TypeScope } from './context.ts';
import { type AliasMeaning, canSee, type Entry, type ModuleScope } from './module-scope.ts';
import { didYouMean, lookupName, namesVisible, reportHidden, reportMissing, resolvePath } from './resolve-path.ts';
import { limitType } from './type-size.ts';
import {
  ANY,
  applied,
  CON,
  ERROR,
  functionOf,
  literalUnion,
  NIL,
  prune,
  substitute,
  type TraitInfo,
  type Type,
  type TypeCon,
  type TypeParam,
  tupleOf,
  unionOf,
} from './types.ts';

const MOST_TYPE_DEPTH = 64;

/** A written type as the checker's type; what is unknown is reported once and becomes `error`. */
export function resolveType(cx: Context, scope: TypeScope, node: TypeExpression, depth = 0): Type {
  if (depth > MOST_TYPE_DEPTH) return ERROR;
  return limitType(cx, resolveForm(cx, scope, node, depth), node.span);
}

function resolveForm(cx: Context, scope: TypeScope, node: TypeExpression, depth: number): Type {
  switch (node.kind) {
    case 'NamedType':
      return resolveNamed(cx, scope, node, depth);
    case 'StringLiteralType':
      return literalUnion([node.value]);
    case 'UnionType':
      return resolveUnion(cx, scope, node, depth);
    case 'TupleType':
      if (node.elements.length === 0) return NIL;
      return tupleOf(node.elements.map((element) => resolveType(cx, scope, element, depth + 1)));
    case 'FunctionType': {
      const params = node.parameters.map((parameter) => resolveType(cx, scope, parameter, depth + 1));
      const result = node.result === undefined ? NIL : resolveType(cx, scope, node.result, depth + 1);
      return functionOf(params, result);
    }
    case 'ErrorType':
      return ERROR;
  }
}

function resolveUnion(cx: Context, scope: TypeScope, node: UnionType, depth: number): Type {
  const texts = node.members.map((member) => (member.kind === 'StringLiteralType' ? member.value : undefined));
  const values = texts.filter((text) => text !== undefined);
  if (values.length === texts.length) return literalUnion(values);
  const members = node.members.map((member) => resolveType(cx, scope, member, depth + 1));
  if (members.some((member) => prune(member).kind === 'any')) return ANY;
  return unionOf(members);
}

function resolveNamed(cx: Context, scope: TypeScope, node: NamedType, depth: number): Type {
  const args = node.arguments.map((argument) => resolveType(cx, scope, argument, depth + 1));
  const [first] = node.path.segments;
  if (first === undefined || first.text === '') return ERROR;
  if (node.path.segments.length === 1) {
    const param = scope.params.get(first.text);
    if (param !== undefined) return { kind: 'param', param };
    if (first.text === 'Any') return ANY;
    if (first.text === 'Self' && scope.self !== undefined) return scope.self;
    const entry = lookupName(cx, scope.module, first.text);
    if (entry === undefined) return unknownType(cx, scope, node);
    if (entry.module === undefined) warnOldType(cx, first);
    return typeOfEntry(cx, node, entry, args);
  }
  const target = resolvePath(cx, scope.module, node.path);
  if (target.kind === 'missing') {
    const segments = node.path.segments.map((segment) => segment.text);
    reportMissing(cx, { file: cx.report.file, path: node.path, segments, target, module: scope.module });
    return ERROR;
  }
  if (target.kind === 'associated') {
    cx.report.error(CODE.undefinedName, node.span, `\`${target.name}\` is not a type`);
    return ERROR;
  }
  if (!canSee(scope.module, target.entry)) {
    reportHidden(cx, target.entry, node.path, cx.report.file);
    return ERROR;
  }
  return typeOfEntry(cx, node, target.entry, args);
}

const OLD_TYPES: ReadonlyMap<string, string> = new Map([
  ['HostRef', 'AgentRef'],
  ['Database', 'HashMap'],
]);

function warnOldType(cx: Context, name: Name): void {
  const now = OLD_TYPES.get(name.text);
  if (now === undefined) return;
  cx.report.warning(CODE.oldSpelling, name.span, `\`${name.text}\` is now \`${now}\``, {
    fix: { title: `write ${now}`, edits: [{ span: name.span, text: now }] },
  });
}

function unknownType(cx: Context, scope: TypeScope, node: NamedType): Type {
  const name = node.path.segments[0]?.text ?? '';
  const known = [...scope.params.keys(), 'Any', ...namesVisible(cx, scope.module)];
  const here = FOREIGN_TYPES.get(name.toLowerCase());
  const help = here === undefined ? didYouMean(name, known) : `write \`${here}\``;
  cx.report.error(CODE.undefinedName, node.span, `cannot find type \`${name}\``, { help });
  return ERROR;
}

/** What people write who come from other languages; in lower case. */
const FOREIGN_TYPES: ReadonlyMap<string, string> = new Map([
  ['boolean', 'Bool'],
  ['str', 'String'],
  ['list', 'Array<T>'],
  ['vec', 'Array<T>'],
  ['dict', 'Map<String, T>'],
  ['hashmap', 'Map<String, T>'],
  ['record', 'Map<String, T>'],
  ['number', 'Int` or `Float'],
  ['double', 'Float'],
  ['f64', 'Float'],
  ['i32', 'Int'],
  ['i64', 'Int'],
  ['long', 'Int'],
  ['void', 'Nil'],
  ['null', 'Nil'],
  ['unknown', 'Any'],
  ['object', 'Any'],
]);

function typeOfEntry(cx: Context, node: NamedType, entry: Entry, args: readonly Type[]): Type {
  const { meaning } = entry;
  switch (meaning.kind) {
    case 'type':
      return applyCon(cx, node, meaning.con, args);
    case 'trait':
      return applyCon(cx, node, meaning.trait.con, args);
    case 'alias':
      return applyAlias(cx, node, meaning, args);
    case 'resource':
      return meaning.type;
    case 'broken':
      return ERROR;
    default:
      cx.report.error(CODE.kindOfName, node.span, `\`${entry.name}\` is not a type`);
      return ERROR;
  }
}

function applyCon(cx: Context, node: NamedType, con: TypeCon, args: readonly Type[]): Type {
  if (con.family === 'object' && con.name === 'Any') return ANY;
  if (args.length === 0)
    return con.params.length === 0
      ? applied(con)
      : applied(
          con,
          con.params.map(() => ANY),
        );
  // `Result<T>` leaves the error open.
  if (con === CON.Result && args.length === 1) return applied(con, [args[0] ?? ANY, ANY]);
  if (args.length === con.params.length) return applied(con, args);
  cx.report.error(
    CODE.typeArguments,
    node.span,
    `\`${con.name}\` takes ${count(con.params.length, 'type argument')}, but ${args.length} ${args.length === 1 ? 'is' : 'are'} given`,
  );
  return applied(
    con,
    con.params.map((_, index) => args[index] ?? ERROR),
  );
}

export function count(amount: number, noun: string): string {
  if (amount === 0) return `no ${noun}s`;
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

function applyAlias(cx: Context, node: NamedType, meaning: AliasMeaning, args: readonly Type[]): Type {
  const type = resolveAlias(cx, meaning);
  const { params } = meaning;
  if (args.length !== params.length && args.length > 0) {
    const name = meaning.item.name.text;
    cx.report.error(CODE.typeArguments, node.span, `\`${name}\` takes ${count(params.length, 'type argument')}`);
  }
  return substitute(type, new Map(params.map((param, index) => [param, args[index] ?? ANY])));
}

/** An alias is read when it is first needed, so the order of declarations does not matter. */
export function resolveAlias(cx: Context, meaning: AliasMeaning): Type {
  if (meaning.type !== undefined) return meaning.type;
  const { item, module } = meaning;
  if (meaning.state === 'resolving') {
    cx.report.error(CODE.cycle, item.name.span, `type \`${item.name.text}\` refers to itself`, { file: module.file });
    meaning.type = ERROR;
    return ERROR;
  }
  meaning.state = 'resolving';
  const params = genericParams(item.generics);
  meaning.params = [...params.values()];
  const before = cx.report.file;
  cx.report.file = module.file;
  const type = resolveType(cx, { module, params, self: undefined }, item.type);
  cx.report.file = before;
  meaning.state = 'done';
  meaning.type ??= type;
  const target = prune(meaning.type);
  if (target.kind === 'applied') meaning.con = target.con;
  return meaning.type;
}

const NO_PARAMS: ReadonlyMap<string, TypeParam> = new Map();

/** Fresh parameters by name; bounds come later, when traits are known. */
export function genericParams(generics: readonly GenericParameter[]): ReadonlyMap<string, TypeParam> {
  if (generics.length === 0) return NO_PARAMS;
  return new Map(generics.map((generic) => [generic.name.text, { name: generic.name.text, bounds: [] }]));
}

export function resolveBounds(
  cx: Context,
  scope: TypeScope,
  generics: readonly GenericParameter[],
  params: ReadonlyMap<string, TypeParam>,
): void {
  for (const generic of generics) {
    const param = params.get(generic.name.text);
    if (param === undefined || generic.bounds.length === 0) continue;
    const traits: TraitInfo[] = [];
    for (const bound of generic.bounds) {
      const trait = resolveTrait(cx, scope.module, bound);
      if (trait !== undefined) traits.push(trait);
    }
    param.bounds = traits;
  }
}

/** The trait a name stands for; reports when it is none. */
export function resolveTrait(cx: Context, module: ModuleScope, node: NamedType): TraitInfo | undefined {
  const target = resolvePath(cx, module, node.path);
  const name = node.path.segments.map((segment) => segment.text).join('::');
  if (name === '') return undefined;
  if (target.kind === 'entry') {
    const { meaning } = target.entry;
    if (meaning.kind === 'trait') return meaning.trait;
    if (meaning.kind === 'type' && meaning.con.trait !== undefined) return meaning.con.trait;
    if (meaning.kind === 'broken') return undefined;
    cx.report.error(CODE.kindOfName, node.span, `\`${name}\` is not a trait`);
    return undefined;
  }
  cx.report.error(CODE.undefinedName, node.span, `cannot find trait \`${name}\``, {
    help: didYouMean(name, namesVisible(cx, module)),
  });
  return undefined;
}
