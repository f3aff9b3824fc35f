import type { TypeTag } from './facts.ts';
import { type HasImpls, implOf } from './impls.ts';
import { typeTag } from './type-tag.ts';
import {
  ANY,
  type AppliedType,
  CON,
  isCon,
  isStringLike,
  prune,
  type Type,
  type TypeCon,
  type VarType,
} from './types.ts';

/** How a value has to change on its way into a place of another type. */
export type Coercion =
  /** An Int becomes a Float; anything else stays. */
  | { readonly kind: 'float' }
  /** An error becomes its message. */
  | { readonly kind: 'text' }
  /** The value (after `inner`) is wrapped in `Some`; of an Any, nil becomes None and an Option stays. */
  | { readonly kind: 'some'; readonly inner: Coercion | undefined }
  /** nil becomes None. */
  | { readonly kind: 'none' }
  /** Of an Any, whatever is a container of that type has its parts changed. */
  | { readonly kind: 'fit'; readonly to: TypeTag }
  /** A bare value becomes `Ok(value)`: results of pipeline stages only. */
  | { readonly kind: 'ok'; readonly inner: Coercion | undefined }
  /** Every element of an array, value of a map, or payload of an Option / Ok changes. */
  | { readonly kind: 'each'; readonly of: Converted; readonly inner: Coercion }
  | { readonly kind: 'tuple'; readonly items: readonly (Coercion | undefined)[] }
  /** Of a function, what it is given changes on the way in, and what it gives on the way out. */
  | {
      readonly kind: 'function';
      readonly params: readonly (Coercion | undefined)[];
      readonly result: Coercion | undefined;
    };

export type Converted = 'Array' | 'Map' | 'Option' | 'Result';

export type Fit = { readonly ok: true; readonly coercion: Coercion | undefined } | { readonly ok: false };

const FITS: Fit = { ok: true, coercion: undefined };
const MISFIT: Fit = { ok: false };
const TO_FLOAT: Coercion = { kind: 'float' };
const TO_TEXT: Coercion = { kind: 'text' };
const TO_NONE: Coercion = { kind: 'none' };
const TO_OPTION: Coercion = { kind: 'some', inner: undefined };

/**
 * Does a value of type `from` fit a place of type `to`, and what must happen to it? Binds inference variables on the
 * way. Directed: `to` is the side that may be widened (a soft variable) and that says which conversions apply.
 */
export function assign(cx: HasImpls, rawFrom: Type, rawTo: Type): Fit {
  const soft = softTarget(rawTo);
  const from = prune(rawFrom);
  const to = prune(rawTo);
  if (from === to) return FITS;
  const fit = assignPruned(cx, from, to);
  if (!fit.ok && soft !== undefined) {
    soft.bound = ANY;
    return FITS;
  }
  return fit;
}

/** The soft variable whose binding decides what `type` is, when there is one. */
function softTarget(type: Type): VarType | undefined {
  let current = type;
  while (current.kind === 'var' && current.bound !== undefined) {
    if (current.soft) return current;
    current = current.bound;
  }
  return undefined;
}

function assignPruned(cx: HasImpls, from: Type, to: Type): Fit {
  if (from.kind === 'error' || to.kind === 'error' || from.kind === 'never') return FITS;
  if (to.kind === 'var') return bind(to, from) ? FITS : MISFIT;
  if (from.kind === 'any') return assignAny(cx, from, to);
  if (to.kind === 'any') return FITS;
  if (from.kind === 'var') return assignVariable(from, to);
  if (to.kind === 'never') return MISFIT;
  if (to.kind === 'param' || from.kind === 'param') return assignParam(cx, from, to);
  return assignApplied(cx, from, to);
}

/** What the value is shows only when it runs: one that has the form of its place already stays as it is. */
function assignAny(cx: HasImpls, from: Type, to: Type): Fit {
  if (isCon(to, CON.Float)) return { ok: true, coercion: TO_FLOAT };
  if (!isCon(to, CON.Option))
    return holdsConverted(to) ? { ok: true, coercion: { kind: 'fit', to: typeTag(to) } } : FITS;
  // Nothing is learned from an Any of what a generic place holds.
  return prune(to.args[0] ?? ANY).kind === 'var' ? { ok: true, coercion: TO_OPTION } : wrapSome(cx, from, to);
}

/** Whether a container of this type has parts that a bare value does not fit as it is. */
function holdsConverted(raw: Type): boolean {
  const type = prune(raw);
  if (type.kind !== 'applied') return false;
  if (type.con === CON.Float || type.con === CON.Option) return true;
  if (type.con === CON.Tuple) return type.args.some(holdsConverted);
  const of = CONVERTED.get(type.con);
  return of !== undefined && holdsConverted(type.args[of === 'Map' ? 1 : 0] ?? ANY);
}

/** An unknown value into an optional place: the place decides, but a later bare value may still be wrapped. */
function assignVariable(from: VarType, to: Type): Fit {
  return bind(from, to) ? FITS : MISFIT;
}

function assignParam(cx: HasImpls, from: Type, to: Type): Fit {
  if (from.kind === 'param' && to.kind === 'param') return from.param === to.param ? FITS : MISFIT;
  if (from.kind === 'param' && to.kind === 'applied') {
    const trait = to.con.trait;
    if (trait !== undefined && from.param.bounds.includes(trait)) return FITS;
  }
  if (to.kind === 'applied' && to.con === CON.Option) return wrapSome(cx, from, to);
  if (to.kind === 'applied' && to.con === CON.Union) return assignToUnion(cx, from, to);
  return MISFIT;
}

function wrapSome(cx: HasImpls, from: Type, to: AppliedType): Fit {
  const inner = assign(cx, from, to.args[0] ?? ANY);
  return inner.ok ? { ok: true, coercion: { kind: 'some', inner: inner.coercion } } : MISFIT;
}

function assignToUnion(cx: HasImpls, from: Type, to: AppliedType): Fit {
  return to.args.some((member) => assign(cx, from, member).ok) ? FITS : MISFIT;
}

function assignApplied(cx: HasImpls, from: AppliedType, to: AppliedType): Fit {
  if (from.con === to.con) return assignArguments(cx, from, to);
  if (from.con === CON.Union) return FITS;
  if (to.con === CON.Union) return assignToUnion(cx, from, to);
  if (to.con === CON.Float && from.con === CON.Int) return { ok: true, coercion: TO_FLOAT };
  if (isStringLike(from) && isStringLike(to)) return fitsLiterals(from, to) ? FITS : MISFIT;
  // Error values display as their message, and old programs keep them in String variables.
  if (from.con.family === 'failure' && isStringLike(to)) return { ok: true, coercion: TO_TEXT };
  if (to.con.family === 'failure' && to.con.name === 'Error' && canBeThrown(from)) return FITS;
  if (to.con === CON.Option) {
    if (from.con === CON.Nil) return { ok: true, coercion: TO_NONE };
    return wrapSome(cx, from, to);
  }
  const trait = to.con.trait;
  if (trait !== undefined && implOf(cx, from.con).traits.has(trait)) return FITS;
  if (from.con.base !== undefined) return assign(cx, from.con.base, to);
  return MISFIT;
}

function canBeThrown(type: AppliedType): boolean {
  const { family } = type.con;
  return family === 'failure' || family === 'struct' || family === 'enum' || isStringLike(type);
}

/** A union fits a wider one; a plain String fits any union, because only run time can tell. */
function fitsLiterals(from: AppliedType, to: AppliedType): boolean {
  const allowed = to.con.values;
  const given = from.con.values;
  return allowed === undefined || given === undefined || given.every((value) => allowed.includes(value));
}

function assignArguments(cx: HasImpls, from: AppliedType, to: AppliedType): Fit {
  if (from.con === CON.Function) return assignFunction(cx, from, to);
  if (from.args.length !== to.args.length) return from.con === CON.Tuple ? MISFIT : FITS;
  const items: (Coercion | undefined)[] = [];
  for (let index = 0; index < from.args.length; index++) {
    const fit = assign(cx, from.args[index] ?? ANY, to.args[index] ?? ANY);
    if (!fit.ok || (keepsForm(from.con) && changes(fit.coercion, from.args[index] ?? ANY))) return MISFIT;
    items.push(fit.coercion);
  }
  return { ok: true, coercion: from.con === CON.Tuple ? ofTuple(items) : ofPayload(from.con, items) };
}

/** Nothing reaches into a `Box<Int>` or a `Set<Int>` to make it one of Floats. */
function keepsForm(con: TypeCon): boolean {
  return con !== CON.Tuple && !CONVERTED.has(con);
}

/** Whether a value of this type would become another. What is in an Any is only known when it runs. */
function changes(coercion: Coercion | undefined, raw: Type): boolean {
  const from = prune(raw);
  if (coercion === undefined || from.kind === 'any') return false;
  if (from.kind !== 'applied') return true;
  if (coercion.kind === 'each') return changes(coercion.inner, from.args[coercion.of === 'Map' ? 1 : 0] ?? ANY);
  if (coercion.kind === 'tuple') return coercion.items.some((item, index) => changes(item, from.args[index] ?? ANY));
  return true;
}

function ofTuple(items: readonly (Coercion | undefined)[]): Coercion | undefined {
  return items.some((item) => item !== undefined) ? { kind: 'tuple', items } : undefined;
}

/** The element of an array, the value of a map, the payload of an Option or Ok. */
function ofPayload(con: TypeCon, items: readonly (Coercion | undefined)[]): Coercion | undefined {
  const of = CONVERTED.get(con);
  const inner = items[of === 'Map' ? 1 : 0];
  return of === undefined || inner === undefined ? undefined : { kind: 'each', of, inner };
}

const CONVERTED: ReadonlyMap<TypeCon, Converted> = new Map([
  [CON.Array, 'Array'],
  [CON.Map, 'Map'],
  [CON.Option, 'Option'],
  [CON.Result, 'Result'],
]);

/** Parameters go the other way; a function may ignore arguments only when nothing is known about it. */
function assignFunction(cx: HasImpls, from: AppliedType, to: AppliedType): Fit {
  if (from.args.length !== to.args.length) return MISFIT;
  const last = from.args.length - 1;
  const params: (Coercion | undefined)[] = [];
  for (let index = 0; index < last; index++) {
    const fit = assign(cx, to.args[index] ?? ANY, from.args[index] ?? ANY);
    if (!fit.ok) return MISFIT;
    params.push(fit.coercion);
  }
  const wanted = prune(to.args[last] ?? ANY);
  // The value of a callback whose result nobody reads does not matter.
  const result = isCon(wanted, CON.Nil) ? FITS : assign(cx, from.args[last] ?? ANY, wanted);
  if (!result.ok) return MISFIT;
  const converts = result.coercion !== undefined || params.some((param) => param !== undefined);
  return converts ? { ok: true, coercion: { kind: 'function', params, result: result.coercion } } : FITS;
}

function bind(variable: VarType, type: Type): boolean {
  const target = prune(type);
  if (target === variable) return true;
  if (occurs(variable, target)) return false;
  variable.bound = target;
  return true;
}

function occurs(variable: VarType, raw: Type): boolean {
  const type = prune(raw);
  if (type === variable) return true;
  return type.kind === 'applied' && type.args.some((arg) => occurs(variable, arg));
}

/** The type both values have after the smaller one is widened; undefined when they have nothing in common. */
export function join(cx: HasImpls, rawLeft: Type, rawRight: Type): Type | undefined {
  const left = prune(rawLeft);
  const right = prune(rawRight);
  if (left.kind === 'never') return rawRight;
  if (right.kind === 'never') return rawLeft;
  if (left.kind === 'error' || right.kind === 'error') return left.kind === 'error' ? left : right;
  if (left.kind === 'any' || right.kind === 'any') return ANY;
  if (isCon(left, CON.Int) && isCon(right, CON.Float)) return right;
  if (isCon(left, CON.Float) && isCon(right, CON.Int)) return left;
  if (assign(cx, right, rawLeft).ok) return rawLeft;
  if (assign(cx, left, rawRight).ok) return rawRight;
  // Two models, or two agents, have their kind in common.
  const base = left.kind === 'applied' ? left.con.base : undefined;
  return base !== undefined && assign(cx, right, base).ok ? base : undefined;
}
