import type {
  ArrayPattern,
  BindingPattern,
  ConstructorPattern,
  OrPattern,
  PathPattern,
  Pattern,
  StructPattern,
  TuplePattern,
} from '../syntax/pattern.ts';
import { bindLiteral, bindRange } from './check-literal-pattern.ts';
import { reportHiddenField, resolveStructHead } from './check-struct.ts';
import { CODE } from './codes.ts';
import type { Body } from './context.ts';
import type { ConstantRef } from './facts.ts';
import { freshType } from './instantiate.ts';
import { type Binder, type Bound, declareName, misfit, type PatternUse, resolvePatternPath } from './pattern-binder.ts';
import { didYouMean, lookupName } from './resolve-path.ts';
import { variantRef } from './resolve-value.ts';
import {
  ANY,
  arrayOf,
  CON,
  ERROR,
  type FieldInfo,
  freshVar,
  isCon,
  isDynamic,
  isNumber,
  optionOf,
  prune,
  resultOf,
  showType,
  substitute,
  type Type,
  tupleOf,
  type VariantInfo,
} from './types.ts';
import { assign } from './unify.ts';

/** Checks a pattern against the type of the value, and declares what it binds. */
export function bindPattern(body: Body, pattern: Pattern, type: Type, use: PatternUse): Bound[] {
  const binder: Binder = { body, use, names: new Map(), shared: undefined };
  bind(binder, pattern, type);
  return [...binder.names.values()];
}

function bind(binder: Binder, pattern: Pattern, type: Type): void {
  switch (pattern.kind) {
    case 'WildcardPattern':
    case 'ErrorPattern':
      return;
    case 'LiteralPattern':
      bindLiteral(binder, pattern, type);
      return;
    case 'RangePattern':
      bindRange(binder, pattern, type);
      return;
    case 'BindingPattern':
      bindName(binder, pattern, type);
      return;
    case 'PathPattern':
      bindPath(binder, pattern, type);
      return;
    case 'ConstructorPattern':
      bindConstructor(binder, pattern, type);
      return;
    case 'StructPattern':
      bindStruct(binder, pattern, type);
      return;
    case 'TuplePattern':
      bindTuple(binder, pattern, type);
      return;
    case 'ArrayPattern':
      bindArray(binder, pattern, type);
      return;
    case 'OrPattern':
      bindAlternatives(binder, pattern, type);
      return;
    case 'RestPattern':
      if (pattern.name !== undefined)
        declareName(binder, { node: pattern, name: pattern.name, type, mutable: binder.use.mutable });
      return;
  }
}

/** A single name is a constant or an imported unit variant when one is in scope under that name, else a new variable. */
function bindName(binder: Binder, pattern: BindingPattern, type: Type): void {
  const { body } = binder;
  if (pattern.pattern === undefined && !pattern.mutable) {
    const entry = binder.use.purpose === 'match' ? lookupName(body.cx, body.module, pattern.name.text) : undefined;
    if (entry?.meaning.kind === 'constant') {
      bindConstant(binder, pattern, entry.meaning.ref, { found: entry.meaning.type, type });
      return;
    }
    if (entry?.meaning.kind === 'variant' && entry.meaning.variant.shape === 'unit') {
      bindVariant(binder, pattern, entry.meaning.variant, { elements: [], type });
      return;
    }
  }
  const local = declareName(binder, {
    node: pattern,
    name: pattern.name,
    type,
    mutable: pattern.mutable || binder.use.mutable,
  });
  body.cx.facts.patterns.set(pattern.id, { kind: 'binding', local });
  if (pattern.pattern !== undefined) bind(binder, pattern.pattern, type);
  // That nothing uses it is no news then.
  else if (looksLikeVariant(binder, pattern, type)) local.used = true;
}

/** Warns of it. */
function looksLikeVariant(binder: Binder, pattern: BindingPattern, raw: Type): boolean {
  const type = prune(raw);
  if (type.kind !== 'applied' || type.con.variants?.has(pattern.name.text) !== true) return false;
  const name = pattern.name.text;
  binder.body.cx.report.warning(
    CODE.unreachableArm,
    pattern.span,
    `\`${name}\` is a new variable here, not the variant`,
    {
      help: `write \`${type.con.name}::${name}\``,
    },
  );
  return true;
}

function bindConstant(
  binder: Binder,
  pattern: BindingPattern | PathPattern,
  constant: ConstantRef,
  types: { readonly found: Type; readonly type: Type },
): void {
  binder.body.cx.facts.patterns.set(pattern.id, { kind: 'constant', constant });
  const value = prune(types.type);
  const found = prune(types.found);
  if (isDynamic(value) || (isNumber(value) && isNumber(found))) return;
  if (!assign(binder.body.cx, found, value).ok) misfit(binder, pattern, value, showType(found));
}

function bindPath(binder: Binder, pattern: PathPattern, raw: Type): void {
  const { cx } = binder.body;
  const type = prune(raw);
  const [only, second] = pattern.path.segments;
  if (only?.text === 'None' && second === undefined) {
    cx.facts.patterns.set(pattern.id, { kind: 'none' });
    if (!isDynamic(type) && !isCon(type, CON.Option) && !isCon(type, CON.Nil)) misfit(binder, pattern, type, 'Option');
    else if (type.kind === 'var') assign(binder.body.cx, optionOf(freshVar()), type);
    return;
  }
  const meaning = resolvePatternPath(binder, pattern.path);
  if (meaning?.kind === 'variant') bindVariant(binder, pattern, meaning.variant, { elements: undefined, type });
  else if (meaning?.kind === 'constant') {
    bindConstant(binder, pattern, meaning.ref, { found: meaning.type, type });
  } else if (meaning !== undefined) {
    cx.facts.patterns.set(pattern.id, { kind: 'unresolved' });
    if (meaning.kind !== 'broken') {
      cx.report.error(CODE.pattern, pattern.span, 'a pattern names a variant or a constant here');
    }
  }
}

const WRAPPERS: Readonly<Record<string, 'ok' | 'err' | 'some'>> = { Ok: 'ok', Err: 'err', Some: 'some' };

function bindConstructor(binder: Binder, pattern: ConstructorPattern, raw: Type): void {
  const { cx } = binder.body;
  const type = prune(raw);
  const [only, second] = pattern.path.segments;
  const wrapper = second === undefined && only !== undefined ? WRAPPERS[only.text] : undefined;
  if (wrapper !== undefined) {
    const inner = wrappedType(binder, pattern, wrapper, type);
    cx.facts.patterns.set(pattern.id, { kind: wrapper, known: !isDynamic(prune(type)) });
    if (pattern.elements.length > 1) {
      cx.report.error(CODE.pattern, pattern.span, `\`${only?.text ?? ''}\` has one value`);
    }
    for (const element of pattern.elements) bind(binder, element, inner);
    return;
  }
  const meaning = resolvePatternPath(binder, pattern.path);
  if (meaning?.kind === 'variant') {
    bindVariant(binder, pattern, meaning.variant, { elements: pattern.elements, type });
    return;
  }
  cx.facts.patterns.set(pattern.id, { kind: 'unresolved' });
  if (meaning !== undefined && meaning.kind !== 'broken') {
    cx.report.error(
      CODE.pattern,
      pattern.path.span,
      'only `Ok`, `Err`, `Some` and tuple variants take a pattern in parentheses',
    );
  }
  for (const element of pattern.elements) bind(binder, element, ERROR);
}

/** The type inside `Ok(p)`, `Err(p)` or `Some(p)`. */
function wrappedType(binder: Binder, pattern: Pattern, wrapper: 'ok' | 'err' | 'some', type: Type): Type {
  if (type.kind === 'var')
    assign(binder.body.cx, wrapper === 'some' ? optionOf(freshVar()) : resultOf(freshVar(), freshVar()), type);
  const known = prune(type);
  if (isDynamic(known)) return known.kind === 'error' ? ERROR : ANY;
  const con = wrapper === 'some' ? CON.Option : CON.Result;
  if (isCon(known, con)) return known.args[wrapper === 'err' ? 1 : 0] ?? ANY;
  misfit(binder, pattern, known, con.name);
  return ERROR;
}

function bindVariant(
  binder: Binder,
  pattern: BindingPattern | PathPattern | ConstructorPattern,
  variant: VariantInfo,
  options: { readonly elements: readonly Pattern[] | undefined; readonly type: Type },
): void {
  const { cx } = binder.body;
  cx.facts.patterns.set(pattern.id, { kind: 'variant', variant: variantRef(variant) });
  const { type: owner, instance } = freshType(variant.owner);
  if (!isDynamic(prune(options.type)) || prune(options.type).kind === 'var') {
    if (!assign(binder.body.cx, owner, options.type).ok && !assign(binder.body.cx, options.type, owner).ok)
      misfit(binder, pattern, options.type, variant.owner.name);
  }
  const name = `${variant.owner.name}::${variant.name}`;
  if (variant.shape === 'struct') {
    cx.report.error(CODE.pattern, pattern.span, `\`${name}\` has named fields`, { help: `write \`${name} { … }\`` });
  } else if (variant.shape === 'tuple' && options.elements === undefined) {
    cx.report.error(CODE.pattern, pattern.span, `\`${name}\` has values`, { help: `write \`${name}(…)\`` });
  } else if (variant.shape === 'unit' && options.elements !== undefined && options.elements.length > 0) {
    cx.report.error(CODE.pattern, pattern.span, `\`${name}\` has no values`);
  }
  const types = [...variant.fields.values()].map((field) => substitute(field.type, instance));
  if (options.elements === undefined) return;
  if (variant.shape === 'tuple') bindSequence(binder, pattern, options.elements, types);
  else for (const element of options.elements) bind(binder, element, ERROR);
}

/** Elements of a tuple or variant: as many as there are, unless `..` stands for the rest. */
function bindSequence(binder: Binder, pattern: Pattern, elements: readonly Pattern[], types: readonly Type[]): void {
  const restAt = elements.findIndex((element) => element.kind === 'RestPattern');
  const given = restAt === -1 ? elements.length : elements.length - 1;
  if (restAt === -1 ? given !== types.length : given > types.length) {
    binder.body.cx.report.error(
      CODE.pattern,
      pattern.span,
      `this pattern has ${given} elements, the value has ${types.length}`,
    );
    for (const element of elements) bind(binder, element, ERROR);
    return;
  }
  const skipped = types.length - given;
  elements.forEach((element, index) => {
    if (index === restAt) bind(binder, element, tupleOf(types.slice(restAt, restAt + skipped)));
    else bind(binder, element, types[restAt !== -1 && index > restAt ? index - 1 + skipped : index] ?? ERROR);
  });
}

function bindTuple(binder: Binder, pattern: TuplePattern, type: Type): void {
  const known = prune(type);
  if (known.kind === 'var') {
    const hasRest = pattern.elements.some((element) => element.kind === 'RestPattern');
    if (!hasRest) assign(binder.body.cx, tupleOf(pattern.elements.map(() => freshVar())), known);
  }
  const value = prune(type);
  if (isCon(value, CON.Tuple)) {
    bindSequence(binder, pattern, pattern.elements, value.args);
    return;
  }
  const dynamic = isDynamic(value) || isCon(value, CON.Array);
  if (!dynamic) misfit(binder, pattern, value, 'a tuple');
  const unknown = dynamic ? ANY : ERROR;
  const element = isCon(value, CON.Array) ? (value.args[0] ?? ANY) : unknown;
  for (const part of pattern.elements) bind(binder, part, part.kind === 'RestPattern' ? arrayOf(element) : element);
}

function bindArray(binder: Binder, pattern: ArrayPattern, type: Type): void {
  const known = prune(type);
  if (known.kind === 'var') assign(binder.body.cx, arrayOf(freshVar()), known);
  const value = prune(type);
  if (isCon(value, CON.Tuple)) {
    bindSequence(binder, pattern, pattern.elements, value.args);
    return;
  }
  const isArray = isCon(value, CON.Array);
  if (!isArray && !isDynamic(value)) misfit(binder, pattern, value, 'Array');
  const unknown = isDynamic(value) ? ANY : ERROR;
  const element = isArray ? (value.args[0] ?? ANY) : unknown;
  for (const part of pattern.elements) bind(binder, part, part.kind === 'RestPattern' ? arrayOf(element) : element);
}

function bindStruct(binder: Binder, pattern: StructPattern, raw: Type): void {
  const { body } = binder;
  const { cx } = body;
  const type = prune(raw);
  const head = resolveStructHead(body, pattern.path);
  if (head === undefined) {
    cx.facts.patterns.set(pattern.id, { kind: 'unresolved' });
    for (const field of pattern.fields) bind(binder, field.pattern, ERROR);
    return;
  }
  const con = head.kind === 'struct' ? head.con : head.variant.owner;
  const { type: owner, instance } = freshType(con);
  if (head.kind === 'variant')
    cx.facts.patterns.set(pattern.id, { kind: 'variant', variant: variantRef(head.variant) });
  else if (con.family === 'failure') cx.facts.patterns.set(pattern.id, { kind: 'failure', name: con.name });
  else cx.facts.patterns.set(pattern.id, { kind: 'struct', path: con.path, name: con.name });
  if (!assign(binder.body.cx, type, owner).ok && !isDynamic(type) && !canBe(binder, type, owner))
    misfit(binder, pattern, type, con.name);
  const fields = (head.kind === 'struct' ? con.fields : head.variant.fields) ?? new Map<string, FieldInfo>();
  for (const field of pattern.fields) {
    const info = fields.get(field.name.text);
    if (info !== undefined) {
      const hidden = reportHiddenField(binder.body, field.name.span, info);
      bind(binder, field.pattern, hidden ? ERROR : substitute(info.type, instance));
    } else {
      if (field.name.text !== '') {
        cx.report.error(CODE.unknownField, field.name.span, `\`${con.name}\` has no field \`${field.name.text}\``, {
          help: didYouMean(field.name.text, fields.keys()),
        });
      }
      bind(binder, field.pattern, ERROR);
    }
  }
}

/** A value known only by its trait may be any struct that implements it. */
function canBe(binder: Binder, type: Type, owner: Type): boolean {
  return assign(binder.body.cx, owner, type).ok && !isCon(type, CON.Option);
}

/** Every alternative binds the same names. */
function bindAlternatives(binder: Binder, pattern: OrPattern, type: Type): void {
  const [first, ...others] = pattern.alternatives;
  if (first === undefined) return;
  const before = new Set(binder.names.keys());
  bind(binder, first, type);
  const shared = new Map([...binder.names].filter(([name]) => !before.has(name)));
  for (const [name, local] of binder.shared ?? []) if (!shared.has(name)) shared.set(name, local);
  for (const alternative of others) {
    const names = new Map<string, Bound>();
    bind({ ...binder, names, shared }, alternative, type);
    const missing = [...shared.keys()].filter((name) => !names.has(name) && binder.shared?.has(name) !== true);
    const extra = [...names.keys()].filter((name) => !shared.has(name));
    for (const name of [...missing, ...extra]) {
      binder.body.cx.report.error(CODE.pattern, alternative.span, `\`${name}\` is not bound in every alternative`, {
        help: 'all alternatives of a pattern bind the same names',
      });
    }
  }
}
