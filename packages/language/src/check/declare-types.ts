import type {
  EnumItem,
  FieldDeclaration,
  FunctionItem,
  GenericParameter,
  ImplItem,
  SchemaItem,
  StructItem,
  TraitItem,
} from '../syntax/item.ts';
import { CODE } from './codes.ts';
import { type CollectedItem, inFile, uniquePath } from './collect-items.ts';
import type { Context, TypeScope } from './context.ts';
import type { FunctionRef } from './facts.ts';
import type { ModuleScope } from './module-scope.ts';
import { genericParams, resolveAlias, resolveBounds, resolveType } from './resolve-type.ts';
import {
  ANY,
  applied,
  CON,
  type FieldInfo,
  isCon,
  type MethodInfo,
  NIL,
  optionOf,
  type ParamInfo,
  prune,
  type Signature,
  showType,
  type TraitInfo,
  type Type,
  type TypeCon,
  type TypeParam,
  type VariantInfo,
} from './types.ts';

/** Fills in what the collected names mean: fields, variants, signatures of functions and traits. */
export function declareTypes(cx: Context, collected: readonly CollectedItem[]): void {
  for (const { item, module } of collected) {
    if (item.kind === 'TypeAliasItem') {
      const meaning = module.entries.get(item.name.text)?.meaning;
      if (meaning?.kind === 'alias' && meaning.item === item) resolveAlias(cx, meaning);
    }
  }
  for (const { item, module } of collected) {
    if (item.kind === 'StructItem' || item.kind === 'SchemaItem' || item.kind === 'EnumItem') {
      inFile(cx, module.file, () => declareType(cx, module, item));
    } else if (item.kind === 'TraitItem') inFile(cx, module.file, () => declareTrait(cx, module, item));
  }
  for (const { item, module } of collected) {
    if (item.kind === 'FunctionItem') inFile(cx, module.file, () => declareFunction(cx, module, item));
    else if (item.kind === 'ConstItem') {
      inFile(cx, module.file, () => {
        const meaning = module.entries.get(item.name.text)?.meaning;
        const type = item.type === undefined ? ANY : resolveType(cx, plainScope(module), item.type);
        if (meaning?.kind === 'constant' && meaning.item === item) meaning.type = type;
      });
    }
  }
}

const NO_PARAMS: ReadonlyMap<string, TypeParam> = new Map();

export function plainScope(module: ModuleScope): TypeScope {
  return { module, params: NO_PARAMS, self: undefined };
}

function declareType(cx: Context, module: ModuleScope, item: StructItem | SchemaItem | EnumItem): void {
  const con = cx.declaredCons.get(item);
  if (con === undefined) return;
  const params = new Map(con.params.map((param) => [param.name, param]));
  const self = applied(
    con,
    con.params.map((param): Type => ({ kind: 'param', param })),
  );
  const scope: TypeScope = { module, params, self };
  resolveBounds(cx, scope, item.generics, params);
  if (item.kind === 'EnumItem') declareVariants(cx, scope, item, con);
  else con.fields = declareFields(cx, scope, declaredFields(item), item.name.text);
  if (item.kind === 'SchemaItem') checkSchemaFields(cx, item, con);
}

/** Every field of a schema with `@partial` may be missing. */
export function declaredFields(item: StructItem | SchemaItem): readonly FieldDeclaration[] {
  const isPartial =
    item.kind === 'SchemaItem' && item.decorators.some((decorator) => decorator.name.text === 'partial');
  return isPartial ? item.fields.map((field) => ({ ...field, optional: true })) : item.fields;
}

/** A schema describes JSON: a function or a model cannot come out of it. */
function checkSchemaFields(cx: Context, item: SchemaItem, con: TypeCon): void {
  for (const field of item.fields) {
    const type = con.fields?.get(field.name.text)?.type;
    const odd = type === undefined ? undefined : notJson(type);
    if (odd === undefined) continue;
    cx.report.error(CODE.schemaField, field.type.span, `a field of a schema cannot be \`${showType(odd)}\``, {
      help: 'a schema describes JSON: texts, numbers, arrays, maps, structs and other schemas',
    });
  }
}

function notJson(raw: Type): Type | undefined {
  const type = prune(raw);
  if (type.kind !== 'applied') return undefined;
  const { con } = type;
  if (con === CON.Function || con === CON.Range || con.family === 'declared' || con.name.endsWith('Ref')) return type;
  for (const arg of type.args) {
    const odd = notJson(arg);
    if (odd !== undefined) return odd;
  }
  return undefined;
}

function declareVariants(cx: Context, scope: TypeScope, item: EnumItem, con: TypeCon): void {
  const variants = new Map<string, VariantInfo>();
  for (const variant of item.variants) {
    const name = variant.name.text;
    if (name === '') continue;
    if (variants.has(name)) {
      cx.report.error(CODE.duplicateField, variant.name.span, `variant \`${name}\` is declared twice`);
      continue;
    }
    const { payload } = variant;
    const base = { name, owner: con, index: variants.size };
    if (payload.kind === 'UnitPayload') variants.set(name, { ...base, shape: 'unit', fields: new Map() });
    else if (payload.kind === 'StructPayload') {
      const fields = declareFields(cx, scope, payload.fields, `${item.name.text}::${name}`);
      variants.set(name, { ...base, shape: 'struct', fields });
    } else {
      const fields = new Map<string, FieldInfo>();
      payload.types.forEach((type, index) => {
        const field = String(index);
        fields.set(field, { name: field, type: resolveType(cx, scope, type), optional: false, hasDefault: false });
      });
      variants.set(name, { ...base, shape: 'tuple', fields });
    }
  }
  con.variants = variants;
}

export function declareFields(
  cx: Context,
  scope: TypeScope,
  declarations: readonly FieldDeclaration[],
  owner: string,
): Map<string, FieldInfo> {
  const fields = new Map<string, FieldInfo>();
  const spans = new Map<string, FieldDeclaration>();
  // As with methods: who writes `pub` on one field means the others to be hidden.
  const hides = declarations.some((declaration) => declaration.isPublic);
  for (const declaration of declarations) {
    const name = declaration.name.text;
    const written = resolveType(cx, scope, declaration.type);
    if (name === '') continue;
    const first = spans.get(name);
    if (first !== undefined) {
      cx.report.error(
        CODE.duplicateField,
        declaration.name.span,
        `field \`${name}\` of \`${owner}\` is declared twice`,
        {
          labels: [{ span: first.name.span, message: 'first declared here' }],
        },
      );
      continue;
    }
    spans.set(name, declaration);
    const optional = declaration.optional;
    const type = optional && !isOption(written) ? optionOf(written) : written;
    const info = { name, type, optional, hasDefault: declaration.defaultValue !== undefined || optional };
    fields.set(name, hides && !declaration.isPublic ? { ...info, hiddenIn: scope.module } : info);
  }
  return fields;
}

function isOption(type: Type): boolean {
  return isCon(type, CON.Option);
}

function declareFunction(cx: Context, module: ModuleScope, item: FunctionItem): void {
  const meaning = module.entries.get(item.name.text)?.meaning;
  const signature = declareSignature(cx, plainScope(module), item);
  cx.signatures.set(item, signature);
  if (meaning?.kind === 'function' && meaning.item === item) meaning.signature = signature;
  if (item.self !== undefined) {
    cx.report.error(CODE.kindOfName, item.self.span, '`self` is only for methods', {
      help: 'write the function inside an `impl` block',
    });
  }
}

/** Parameters and result of a function or method; its own generic parameters are added to the scope's. */
function declareSignature(cx: Context, outer: TypeScope, item: FunctionItem): Signature {
  const own = genericParams(item.generics);
  const scope: TypeScope = own.size === 0 ? outer : { ...outer, params: new Map([...outer.params, ...own]) };
  resolveBounds(cx, scope, item.generics, own);
  return {
    typeParams: [...own.values()],
    params: item.parameters.map((parameter): ParamInfo => {
      const type = parameter.type === undefined ? ANY : resolveType(cx, scope, parameter.type);
      return { name: parameter.name.text, type, hasDefault: parameter.defaultValue !== undefined, node: parameter };
    }),
    result: item.returnType === undefined ? NIL : resolveType(cx, scope, item.returnType),
    isAsync: item.isAsync,
  };
}

export interface MethodOwner {
  readonly con: TypeCon;
  readonly trait: TraitInfo | undefined;
  /** `Rect`, `Rect::Shape`, `Shape`: what the function's path begins with. */
  readonly path: string;
  readonly scope: TypeScope;
}

export function declareMethod(cx: Context, owner: MethodOwner, item: FunctionItem): MethodInfo {
  const signature = declareSignature(cx, owner.scope, item);
  cx.signatures.set(item, signature);
  const receiver = receiverOf(item);
  const ref: FunctionRef | undefined =
    item.body === undefined
      ? undefined
      : {
          path: uniquePath(cx, `${owner.path}::${item.name.text}`),
          item,
          file: owner.scope.module.file,
          owner: owner.con.path,
          isAsync: item.isAsync,
          receiver,
        };
  if (ref !== undefined) cx.facts.declaredFunctions.push(ref);
  if (receiver === 'mut-self') cx.mutatingMethods.add(item.name.text);
  return {
    name: item.name.text,
    signature,
    receiver,
    owner: owner.con,
    hasBody: item.body !== undefined,
    ref,
    item,
    module: owner.scope.module,
    ...(owner.trait === undefined ? {} : { trait: owner.trait }),
  };
}

function receiverOf(item: FunctionItem): MethodInfo['receiver'] {
  if (item.self === undefined) return 'none';
  return item.self.mutable ? 'mut-self' : 'self';
}

function declareTrait(cx: Context, module: ModuleScope, item: TraitItem): void {
  const con = cx.declaredCons.get(item);
  const trait = con?.trait;
  if (con === undefined || trait === undefined) return;
  const params = new Map(trait.typeParams.map((param) => [param.name, param]));
  const self: Type = { kind: 'param', param: trait.self };
  const scope: TypeScope = { module, params, self };
  resolveBounds(cx, scope, item.generics, params);
  for (const method of item.methods) {
    if (trait.methods.has(method.name.text)) {
      cx.report.error(CODE.duplicate, method.name.span, `method \`${method.name.text}\` is declared twice`);
      continue;
    }
    trait.methods.set(method.name.text, declareMethod(cx, { con, trait, path: con.path, scope }, method));
  }
}

/** Parameters of an `impl` by the names its methods use: the type's own names, or those written in the `impl`. */
export function implParams(con: TypeCon, item: ImplItem): ReadonlyMap<string, TypeParam> {
  if (con.params.length === 0 && item.generics.length === 0) return NO_PARAMS;
  const params = new Map(con.params.map((param) => [param.name, param]));
  item.target.arguments.forEach((argument, index) => {
    const param = con.params[index];
    const name = argument.kind === 'NamedType' ? argument.path.segments[0]?.text : undefined;
    if (param !== undefined && name !== undefined && hasGeneric(item.generics, name)) params.set(name, param);
  });
  for (const [name, param] of genericParams(item.generics)) if (!params.has(name)) params.set(name, param);
  return params;
}

function hasGeneric(generics: readonly GenericParameter[], name: string): boolean {
  return generics.some((generic) => generic.name.text === name);
}
