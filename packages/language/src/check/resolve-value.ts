import type { NameExpression, PathExpression } from '../syntax/expression.ts';
import { localNames, lookupLocal } from './body.ts';
import { associatedBuiltin, type BuiltinFunction } from './builtins.ts';
import { isInTest } from './check-mock.ts';
import { CODE } from './codes.ts';
import type { Body } from './context.ts';
import type { ConstantRef, Local, ModuleVariable, ResolvedName, VariantRef } from './facts.ts';
import { implOf } from './impls.ts';
import {
  canCall,
  canSee,
  type Entry,
  type FunctionMeaning,
  type ModuleScope,
  type ResourceMeaning,
} from './module-scope.ts';
import { constructorElsewhere } from './names-elsewhere.ts';
import {
  didYouMean,
  lookupName,
  memberOf,
  namesVisible,
  type PathTarget,
  reportHidden,
  reportMissing,
  resolvePath,
} from './resolve-path.ts';
import { applied, builtinName, type MethodInfo, type Type, type TypeCon, type VariantInfo } from './types.ts';

/** What a name or path in an expression stands for, before it is called or used as a value. */
export type ResolvedValue =
  | { readonly kind: 'local'; readonly local: Local }
  | { readonly kind: 'variable'; readonly variable: ModuleVariable }
  | { readonly kind: 'function'; readonly meaning: FunctionMeaning }
  | { readonly kind: 'constant'; readonly constant: ConstantRef; readonly type: Type }
  | { readonly kind: 'variant'; readonly variant: VariantInfo }
  | { readonly kind: 'builtin'; readonly builtin: BuiltinFunction }
  | { readonly kind: 'none' }
  | { readonly kind: 'resource'; readonly meaning: ResourceMeaning }
  /** `Session` in a test. */
  | { readonly kind: 'session'; readonly con: TypeCon }
  | { readonly kind: 'schema'; readonly con: TypeCon }
  /** `Type::function`; `resource` when the type is a tool or model. */
  | {
      readonly kind: 'associated';
      readonly con: TypeCon;
      readonly method: MethodInfo;
      readonly resource: ResourceMeaning | undefined;
    }
  /** Already reported. */
  | { readonly kind: 'broken' };

const BROKEN: ResolvedValue = { kind: 'broken' };

export function resolveName(body: Body, node: NameExpression): ResolvedValue {
  const name = node.name.text;
  if (name === '') return BROKEN;
  const value = findName(body, node);
  body.cx.facts.names.set(node.id, describe(value));
  return value;
}

function findName(body: Body, node: NameExpression): ResolvedValue {
  const { cx } = body;
  const name = node.name.text;
  const found = lookupLocal(body, name);
  if (found?.kind === 'local') {
    found.local.used = true;
    return found;
  }
  if (name === 'None') return { kind: 'none' };
  const entry = found?.entry ?? lookupName(cx, body.module, name);
  if (entry === undefined) return unknownName(body, node);
  return valueOfEntry(body, entry, node);
}

function unknownName(body: Body, node: NameExpression): ResolvedValue {
  const { cx } = body;
  const name = node.name.text;
  if (name === 'self') {
    cx.report.error(CODE.undefinedName, node.span, '`self` is not available here', {
      help: 'a method takes it as its first parameter: `fn name(self)`',
    });
    return BROKEN;
  }
  const outer = outerLocal(body, name);
  if (outer !== undefined) {
    outer.used = true;
    cx.report.error(
      CODE.localCapture,
      node.span,
      `an item inside a function cannot use the variable \`${name}\` around it`,
      {
        help: `pass it as a parameter, or write a closure: \`let f = |…| …;\``,
      },
    );
    return BROKEN;
  }
  const candidates = [...localNames(body), ...namesVisible(cx, body.module), ...WORDS];
  const help = FOREIGN_VALUES.get(name) ?? didYouMean(name, candidates);
  cx.report.error(CODE.undefinedName, node.span, `cannot find \`${name}\``, { help });
  return BROKEN;
}

/** What stands where a name could, and may be mistyped. */
const WORDS = ['break', 'continue', 'return', 'true', 'false', 'nil'];

/** What people write who come from other languages. */
const FOREIGN_VALUES: ReadonlyMap<string, string> = new Map([
  ['null', 'nothing is `nil`, or `None` of an `Option`'],
  ['undefined', 'nothing is `nil`, or `None` of an `Option`'],
  ['console', 'write `print(value)` or `emit("channel", value)`'],
  ['Vec', 'a list is written `[a, b]`, an empty one `[]`'],
  ['List', 'a list is written `[a, b]`, an empty one `[]`'],
  ['Dict', 'a map is written `{"key": value}`, an empty one `{}`'],
  ['range', 'a range is written `0..n`'],
  ['printf', 'write `print("…${value}")`'],
  ['not', 'write `!value`'],
  ['this', 'write `self`, the first parameter of a method'],
]);

/** A variable of the function around a local item. */
function outerLocal(body: Body, name: string): Local | undefined {
  for (let module: ModuleScope | undefined = body.module; module !== undefined; module = module.parent) {
    for (let scope = body.cx.enclosing.get(module); scope !== undefined; scope = scope.parent) {
      const local = scope.locals?.get(name);
      if (local !== undefined) return local;
    }
  }
  return undefined;
}

function valueOfEntry(body: Body, entry: Entry, node: NameExpression | PathExpression): ResolvedValue {
  const { meaning } = entry;
  switch (meaning.kind) {
    case 'function':
      return { kind: 'function', meaning };
    case 'constant':
      return { kind: 'constant', constant: meaning.ref, type: meaning.type };
    case 'variable':
      meaning.variable.used = true;
      return { kind: 'variable', variable: meaning.variable };
    case 'variant':
      return { kind: 'variant', variant: meaning.variant };
    case 'resource':
      return { kind: 'resource', meaning };
    case 'builtin': {
      const builtin = body.cx.builtins.functions.get(meaning.name);
      return builtin === undefined ? BROKEN : { kind: 'builtin', builtin };
    }
    case 'type':
      if (meaning.con.family === 'schema') return { kind: 'schema', con: meaning.con };
      if (builtinName(applied(meaning.con)) === 'Session' && isInTest(body))
        return { kind: 'session', con: meaning.con };
      return notAValue(body, node, { name: entry.name, what: 'a type', help: howToMake(meaning.con) });
    case 'alias':
      return notAValue(body, node, { name: entry.name, what: 'a type' });
    case 'trait':
      return notAValue(body, node, { name: entry.name, what: 'a trait' });
    case 'module':
    case 'std':
      return notAValue(body, node, { name: entry.name, what: 'a module' });
    case 'import':
    case 'broken':
      return BROKEN;
  }
}

function notAValue(
  body: Body,
  node: NameExpression | PathExpression,
  { name, what, help }: { readonly name: string; readonly what: string; readonly help?: string | undefined },
): ResolvedValue {
  body.cx.report.error(CODE.kindOfName, node.span, `\`${name}\` is ${what}, not a value`, { help });
  return BROKEN;
}

/** `Point(1, 2)` and `Color.Red` of other languages. */
function howToMake(con: TypeCon): string | undefined {
  if (con.variants !== undefined) {
    const [first] = con.variants.keys();
    return first === undefined ? undefined : `a variant is written with \`::\`: \`${con.name}::${first}\``;
  }
  if (con.family !== 'struct' || con.fields === undefined) return undefined;
  const fields = [...con.fields.keys()].slice(0, 3).map((name) => `${name}: …`);
  return `a value is written \`${con.name} { ${fields.join(', ')}${con.fields.size > 3 ? ', …' : ''} }\``;
}

export function resolvePathValue(body: Body, node: PathExpression): ResolvedValue {
  const value = findPath(body, node);
  body.cx.facts.names.set(node.id, describe(value));
  return value;
}

function findPath(body: Body, node: PathExpression): ResolvedValue {
  const { cx } = body;
  const target = pathTarget(body, node);
  if (target === undefined) return BROKEN;
  if (target.kind === 'missing') {
    const segments = node.path.segments.map((segment) => segment.text);
    reportMissing(cx, { file: cx.report.file, path: node.path, segments, target, module: body.module });
    return BROKEN;
  }
  if (target.kind === 'entry') {
    if (!canSee(body.module, target.entry)) {
      reportHidden(cx, target.entry, node.path, cx.report.file);
      return BROKEN;
    }
    return valueOfEntry(body, target.entry, node);
  }
  return associatedValue(body, node, target);
}

/** Local types and `Self` come before what the modules declare; a variable never does. */
function pathTarget(body: Body, node: PathExpression): PathTarget | undefined {
  const [first, second] = node.path.segments;
  if (first === undefined || second === undefined || first.text === '' || second.text === '') return undefined;
  const { self } = body.types;
  if (first.text === 'Self' && self !== undefined) {
    const trait = self.kind === 'param' ? self.param.bounds[0]?.con : undefined;
    const con = self.kind === 'applied' ? self.con : trait;
    if (con === undefined || node.path.segments.length !== 2) return undefined;
    return memberOf(body.cx, { ...selfEntry, meaning: { kind: 'type', con } }, second.text);
  }
  return resolvePath(body.cx, body.module, node.path);
}

const selfEntry = {
  name: 'Self',
  isPublic: true,
  module: undefined,
  span: { start: 0, end: 0 },
  file: '',
  used: true,
} as const;

function associatedValue(
  body: Body,
  node: PathExpression,
  target: Extract<PathTarget, { kind: 'associated' }>,
): ResolvedValue {
  const { con, name, owner, trait } = target;
  const resource = owner.meaning.kind === 'resource' ? owner.meaning : undefined;
  const { methods, traitMethods, traits } = implOf(body.cx, con);
  const method =
    trait === undefined
      ? (methods.get(name) ?? traitMethods.get(name) ?? con.trait?.methods.get(name))
      : traits.get(trait)?.get(name);
  if (method !== undefined) {
    if (!canCall(body.cx, body.module, method)) {
      const last = node.path.segments[node.path.segments.length - 1] ?? node;
      body.cx.report.error(CODE.notVisible, last.span, `\`${con.name}::${name}\` is private`);
    }
    return { kind: 'associated', con, method, resource };
  }
  const builtin = trait === undefined ? associatedBuiltin(body.cx.builtins, con.name, name) : undefined;
  if (builtin !== undefined && con.declaration === undefined) return { kind: 'builtin', builtin };
  const last = node.path.segments[node.path.segments.length - 1] ?? node;
  const what = con.family === 'enum' ? 'variant or function' : 'function';
  const known =
    trait === undefined
      ? [...(con.variants?.keys() ?? []), ...methods.keys(), ...traitMethods.keys()]
      : trait.methods.keys();
  const where = trait === undefined ? con.name : `${con.name}::${trait.name}`;
  body.cx.report.error(CODE.undefinedName, last.span, `no ${what} \`${name}\` in \`${where}\``, {
    help: constructorElsewhere(con, name) ?? didYouMean(name, known),
  });
  return BROKEN;
}

export function variantRef(variant: VariantInfo): VariantRef {
  variant.ref ??= {
    enum: variant.owner.path,
    name: variant.name,
    shape: variant.shape,
    fields: [...variant.fields.keys()],
    index: variant.index,
  };
  return variant.ref;
}

function describe(value: ResolvedValue): ResolvedName {
  switch (value.kind) {
    case 'local':
      return value;
    case 'variable':
      return { kind: 'module-variable', variable: value.variable };
    case 'function':
      return { kind: 'function', function: value.meaning.ref };
    case 'constant':
      return { kind: 'constant', constant: value.constant };
    case 'variant':
      return { kind: 'variant', variant: variantRef(value.variant) };
    case 'builtin':
      return { kind: 'builtin', name: value.builtin.name };
    case 'none':
      return { kind: 'builtin', name: 'None' };
    case 'resource':
      return { kind: 'resource', resource: value.meaning.ref };
    case 'schema':
      return {
        kind: 'schema',
        path: value.con.path,
        name: value.con.name,
        fields: [...(value.con.fields?.keys() ?? [])],
      };
    case 'session':
      return { kind: 'session' };
    case 'associated':
      return describeAssociated(value);
    case 'broken':
      return { kind: 'unresolved' };
  }
}

function describeAssociated({ con, method }: Extract<ResolvedValue, { kind: 'associated' }>): ResolvedName {
  const { item, ref, receiver, trait } = method;
  if (con.family === 'trait' && receiver !== 'none' && trait !== undefined && item !== undefined)
    return { kind: 'trait-method', trait: trait.path, function: { item } };
  return ref === undefined ? { kind: 'unresolved' } : { kind: 'function', function: ref };
}
