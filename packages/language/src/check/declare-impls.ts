import type { FunctionItem, ImplItem } from '../syntax/item.ts';
import { CODE } from './codes.ts';
import { type CollectedItem, inFile } from './collect-items.ts';
import type { Context, TypeScope } from './context.ts';
import { declareMethod, implParams, type MethodOwner } from './declare-types.ts';
import { openImpl } from './impls.ts';
import type { ModuleScope } from './module-scope.ts';
import { canSee } from './module-scope.ts';
import { didYouMean, namesVisible, reportHidden, resolvePath } from './resolve-path.ts';
import { count, resolveAlias, resolveBounds, resolveTrait, resolveType } from './resolve-type.ts';
import {
  ANY,
  applied,
  CON,
  isCon,
  type MethodInfo,
  prune,
  showType,
  substitute,
  type TraitInfo,
  type Type,
  type TypeCon,
  type TypeParam,
} from './types.ts';
import { assign } from './unify.ts';

/** Gives types their methods and checks that an `impl` of a trait is complete. */
export function declareImpls(cx: Context, collected: readonly CollectedItem[]): void {
  for (const { item, module } of collected) {
    if (item.kind === 'ImplItem') inFile(cx, module.file, () => declareImpl(cx, module, item));
    else if (item.kind === 'TraitItem') queueDefaults(cx, module, item.methods, cx.declaredCons.get(item));
  }
}

function queueDefaults(
  cx: Context,
  module: ModuleScope,
  methods: readonly FunctionItem[],
  con: TypeCon | undefined,
): void {
  const trait = con?.trait;
  if (con === undefined || trait === undefined) return;
  const params = new Map(trait.typeParams.map((param) => [param.name, param]));
  const self: Type = { kind: 'param', param: trait.self };
  for (const item of methods) {
    if (item.body !== undefined)
      cx.functionBodies.push({ item, scope: { module, params, self }, self, kind: 'function' });
  }
}

function declareImpl(cx: Context, module: ModuleScope, item: ImplItem): void {
  const target = implTarget(cx, module, item);
  const trait = item.trait === undefined ? undefined : resolveTrait(cx, module, item.trait);
  const con = target ?? brokenCon;
  const params = implParams(con, item);
  const self = target === undefined ? undefined : selfType(cx, { module, params, self: undefined }, con, item);
  const scope: TypeScope = { module, params, self: self ?? { kind: 'error' } };
  resolveBounds(cx, scope, item.generics, params);
  const traitArgs = traitArguments(cx, scope, trait, item);
  const path = trait === undefined ? con.path : `${con.path}::${trait.name}`;
  const owner: MethodOwner = { con, trait, path, scope };
  const methods = new Map<string, MethodInfo>();
  for (const method of item.methods) {
    const info = declareMethod(cx, owner, method);
    if (methods.has(info.name)) reportTwice(cx, method, con);
    methods.set(info.name, info);
    if (method.body === undefined) {
      cx.report.error(CODE.traitImpl, method.name.span, `method \`${info.name}\` has no body`);
    } else {
      cx.functionBodies.push({ item: method, scope, self: scope.self, kind: 'function' });
    }
  }
  if (target === undefined || (item.trait !== undefined && trait === undefined)) return;
  if (trait === undefined) addOwn(cx, con, methods);
  else implementTrait(cx, item, { con, trait, methods, self: scope.self ?? ANY, traitArgs });
}

const brokenCon: TypeCon = {
  name: '<error>',
  family: 'object',
  params: [],
  fields: undefined,
  variants: undefined,
  path: '<error>',
};

function reportTwice(cx: Context, method: FunctionItem, con: TypeCon): void {
  const name = method.name.text;
  cx.report.error(CODE.duplicate, method.name.span, `method \`${name}\` of \`${con.name}\` is defined twice`);
}

function addOwn(cx: Context, con: TypeCon, methods: ReadonlyMap<string, MethodInfo>): void {
  const own = openImpl(cx, con).methods;
  for (const [name, method] of methods) {
    if (own.has(name) && method.item !== undefined) reportTwice(cx, method.item, con);
    else own.set(name, method);
  }
}

/** The type constructor an `impl` is for. */
function implTarget(cx: Context, module: ModuleScope, item: ImplItem): TypeCon | undefined {
  const { path } = item.target;
  const name = path.segments.map((segment) => segment.text).join('::');
  if (name === '') return undefined;
  const target = resolvePath(cx, module, path);
  if (target.kind !== 'entry') {
    cx.report.error(CODE.undefinedName, path.span, `cannot find type \`${name}\``, {
      help: didYouMean(name, namesVisible(cx, module)),
    });
    return undefined;
  }
  if (!canSee(module, target.entry)) reportHidden(cx, target.entry, path, module.file);
  const { meaning } = target.entry;
  if (meaning.kind === 'type' || meaning.kind === 'resource') return meaning.con;
  if (meaning.kind === 'trait') return meaning.trait.con;
  if (meaning.kind === 'alias') {
    resolveAlias(cx, meaning);
    return meaning.con;
  }
  if (meaning.kind !== 'broken') {
    cx.report.error(CODE.kindOfName, path.span, `\`${name}\` is not a type, so it cannot have an \`impl\``);
  }
  return undefined;
}

function selfType(cx: Context, scope: TypeScope, con: TypeCon, item: ImplItem): Type {
  if (con.family === 'declared') return applied(con);
  const written = item.target.arguments.map((argument) => resolveType(cx, scope, argument));
  if (written.length > 0 && written.length !== con.params.length) {
    cx.report.error(
      CODE.typeArguments,
      item.target.span,
      `\`${con.name}\` takes ${count(con.params.length, 'type argument')}`,
    );
  }
  return applied(
    con,
    con.params.map((param, index): Type => written[index] ?? { kind: 'param', param }),
  );
}

function traitArguments(
  cx: Context,
  scope: TypeScope,
  trait: TraitInfo | undefined,
  item: ImplItem,
): Map<TypeParam, Type> {
  const map = new Map<TypeParam, Type>();
  const written = item.trait?.arguments.map((argument) => resolveType(cx, scope, argument)) ?? [];
  trait?.typeParams.forEach((param, index) => map.set(param, written[index] ?? ANY));
  return map;
}

interface TraitImpl {
  readonly con: TypeCon;
  readonly trait: TraitInfo;
  readonly methods: ReadonlyMap<string, MethodInfo>;
  readonly self: Type;
  readonly traitArgs: ReadonlyMap<TypeParam, Type>;
}

/** Also used for `tool X impl Trait`. */
export function implementTrait(
  cx: Context,
  at: { readonly name?: { span: ImplItem['span'] }; readonly span: ImplItem['span'] },
  impl: TraitImpl,
): void {
  const { con, trait, methods } = impl;
  const span = at.name?.span ?? headSpan(at);
  const { traits, traitMethods, conversions } = openImpl(cx, con);
  if (traits.has(trait) && trait.declared) {
    cx.report.error(CODE.duplicate, span, `\`${trait.name}\` is implemented twice for \`${con.name}\``);
    return;
  }
  const implemented = traits.get(trait) ?? new Map<string, MethodInfo>();
  traits.set(trait, implemented);
  const missing: string[] = [];
  for (const [name, required] of trait.methods) {
    const own = methods.get(name);
    if (own !== undefined) checkAgainstTrait(cx, impl, own, required);
    else if (!required.hasBody) missing.push(name);
    if (own !== undefined) continue;
    implemented.set(name, required);
    if (!traitMethods.has(name)) traitMethods.set(name, required);
  }
  if (missing.length > 0) {
    const list = missing.map((name) => `\`${name}\``).join(', ');
    cx.report.error(CODE.traitImpl, span, `\`${con.name}\` does not implement ${list} of trait \`${trait.name}\``);
  }
  for (const [name, method] of methods) {
    if (trait.declared && !trait.methods.has(name) && method.item !== undefined) {
      cx.report.error(CODE.traitImpl, method.item.name.span, `\`${name}\` is not a method of trait \`${trait.name}\``, {
        help: didYouMean(name, trait.methods.keys()),
      });
    }
    if (trait.name === 'From' && !trait.declared && name === 'from') conversions.push(method);
    implemented.set(name, method);
    const other = traitMethods.get(name);
    if (other === undefined || isDefault(other)) traitMethods.set(name, method);
  }
}

/** Of two traits with a method of one name the first is called; a default only when no `impl` has the method. */
function isDefault(method: MethodInfo): boolean {
  return method.trait?.methods.get(method.name) === method;
}

/** The first line of a declaration, so that the caret stands at its head. */
function headSpan(at: {
  readonly span: ImplItem['span'];
  readonly target?: { readonly span: ImplItem['span'] };
}): ImplItem['span'] {
  return { start: at.span.start, end: at.target?.span.end ?? at.span.end };
}

function checkAgainstTrait(cx: Context, impl: TraitImpl, own: MethodInfo, required: MethodInfo): void {
  const span = own.item?.name.span;
  if (span === undefined) return;
  const say = (what: string) =>
    cx.report.error(CODE.traitImpl, span, `method \`${own.name}\` does not fit trait \`${impl.trait.name}\`: ${what}`);
  if ((own.receiver === 'none') !== (required.receiver === 'none')) {
    say(required.receiver === 'none' ? 'it has no `self` there' : 'it takes `self` there');
    return;
  }
  const wanted = required.signature.params.length;
  if (own.signature.params.length !== wanted) {
    say(`it takes ${count(wanted, 'parameter')} there, and ${own.signature.params.length} here`);
    return;
  }
  const map = new Map<TypeParam, Type>(impl.traitArgs);
  map.set(impl.trait.self, impl.self);
  required.signature.typeParams.forEach((param, index) => {
    const mine = own.signature.typeParams[index];
    if (mine !== undefined) map.set(param, { kind: 'param', param: mine });
  });
  own.signature.params.forEach((param, index) => {
    const type = substitute(required.signature.params[index]?.type ?? ANY, map);
    if (!fits(cx, type, param.type)) say(`parameter \`${param.name}\` is \`${showType(type)}\` there`);
  });
  const result = substitute(required.signature.result, map);
  if (!fits(cx, own.signature.result, result)) say(`it returns \`${showType(result)}\` there`);
}

/** Without conversions: an Int parameter does not stand for a Float one. An Any stands for an Option as it is. */
function fits(cx: Context, from: Type, to: Type): boolean {
  const fit = assign(cx, prune(from), prune(to));
  return fit.ok && (fit.coercion === undefined || (prune(from).kind === 'any' && isCon(prune(to), CON.Option)));
}
