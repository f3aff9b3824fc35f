import type {
  ArrayExpression,
  Expression,
  InterpolatedString,
  MapExpression,
  RangeExpression,
  StringLiteral,
  TupleExpression,
} from '../syntax/expression.ts';
import { checkFits, coerce } from './body.ts';
import { CODE } from './codes.ts';
import type { Body, Context } from './context.ts';
import {
  ANY,
  arrayOf,
  CON,
  FLOAT,
  freshVar,
  INT,
  isCon,
  mapOf,
  NIL,
  prune,
  RANGE,
  STRING,
  showType,
  type Type,
  tupleOf,
} from './types.ts';
import { assign, join } from './unify.ts';

/** The expected type behind an Option: `let o: Option<Array<Int>> = [1]` is about the array. */
export function expectedInside(expected: Type | undefined): Type | undefined {
  if (expected === undefined) return undefined;
  const type = prune(expected);
  return isCon(type, CON.Option) ? expectedInside(type.args[0]) : type;
}

export function checkString(body: Body, node: StringLiteral, expected: Type | undefined): Type {
  const wanted = expectedInside(expected);
  const values = wanted?.kind === 'applied' ? wanted.con.values : undefined;
  if (wanted === undefined || values === undefined) return STRING;
  if (!values.includes(node.value)) {
    const allowed = values.map((value) => `"${value}"`).join(' | ');
    body.cx.report.error(CODE.literalUnion, node.span, `"${node.value}" is not one of ${allowed}`);
  }
  return wanted;
}

export function checkInterpolated(body: Body, node: InterpolatedString): Type {
  for (const part of node.parts) if (part.kind === 'ExpressionPart') body.check(part.expression);
  return STRING;
}

export function checkTuple(body: Body, node: TupleExpression, expected: Type | undefined): Type {
  if (node.elements.length === 0) return NIL;
  const wanted = expectedInside(expected);
  const items = wanted !== undefined && isCon(wanted, CON.Tuple) ? wanted.args : [];
  if (items.length === node.elements.length) {
    return tupleOf(node.elements.map((element, index) => fitElement(body, element, items[index] ?? ANY, 'element')));
  }
  return tupleOf(node.elements.map((element) => body.check(element, isAnything(wanted) ? ANY : undefined)));
}

/** Fits when it can; a misfit of an inner part is left to the whole to report when nothing is gained by details. */
function fitElement(body: Body, element: Expression, type: Type, what: string): Type {
  const target = prune(type);
  if (target.kind === 'var' || target.kind === 'any') {
    const actual = body.check(element, target.kind === 'any' ? target : undefined);
    if (assign(body.cx, actual, type).ok) return target.kind === 'any' ? ANY : actual;
    return actual;
  }
  checkFits(body, element, { type, what });
  return type;
}

export function checkArray(body: Body, node: ArrayExpression, expected: Type | undefined): Type {
  const wanted = expectedInside(expected);
  if (wanted !== undefined && isCon(wanted, CON.Array)) {
    const element = wanted.args[0] ?? ANY;
    const known = prune(element);
    if (known.kind !== 'var') {
      for (const item of node.elements) fitElement(body, item, element, 'element');
      return arrayOf(element);
    }
  }
  if (wanted !== undefined && isCon(wanted, CON.Tuple) && wanted.args.length === node.elements.length) {
    node.elements.forEach((item, index) => fitElement(body, item, wanted.args[index] ?? ANY, 'element'));
    return wanted;
  }
  // Where anything goes (the payload of an emit), elements may differ.
  const mixed = isAnything(wanted);
  return arrayOf(commonElement(body, node, mixed));
}

/** Where anything goes, it also does inside: `emit("rows", {row: [1, "a"]})`. */
function isAnything(wanted: Type | undefined): boolean {
  return wanted !== undefined && prune(wanted).kind === 'any';
}

/** All elements of an array have one type; Int beside Float is Float, nil makes it optional or dynamic. */
function commonElement(body: Body, node: ArrayExpression, mixed: boolean): Type {
  const types = node.elements.map((element) => body.check(element, mixed ? ANY : undefined));
  let common: Type | undefined;
  let sawNil = false;
  for (let index = 0; index < types.length; index++) {
    const type = types[index] ?? ANY;
    if (isCon(prune(type), CON.Nil) && types.length > 1) {
      sawNil = true;
      continue;
    }
    const next = common === undefined ? type : join(body.cx, common, type);
    if (next === undefined) {
      // Nested data such as `[1, [2, 3]]` is meant; a number beside a text hardly is, nor a list of them beside one of texts.
      if (!mixed && isNested(common ?? ANY) === isNested(type)) reportMixed(body, node, index, common ?? ANY);
      return ANY;
    }
    common = next;
  }
  if (common === undefined) return sawNil ? NIL : freshVar();
  if (sawNil) return ANY;
  const target = prune(common);
  node.elements.forEach((element, index) => {
    const fit = assign(body.cx, types[index] ?? ANY, target);
    if (fit.ok && fit.coercion !== undefined) coerce(body, element, fit.coercion);
  });
  return common;
}

function isNested(raw: Type): boolean {
  const type = prune(raw);
  return type.kind === 'applied' && (type.con.family === 'container' || type.con.family === 'tuple');
}

function reportMixed(body: Body, node: ArrayExpression, index: number, common: Type): void {
  const odd = node.elements[index];
  if (odd === undefined) return;
  const found = showType(body.cx.facts.types.get(odd.id) ?? ANY);
  const first = node.elements[0];
  body.cx.report.error(
    CODE.mixedArray,
    odd.span,
    `the elements of an array have one type: expected \`${showType(common)}\`, found \`${found}\``,
    {
      help: 'annotate it as `Array<Any>` to mix types, or use a tuple',
      labels: first === undefined ? [] : [{ span: first.span, message: `this is \`${showType(common)}\`` }],
    },
  );
}

export function checkMap(body: Body, node: MapExpression, expected: Type | undefined): Type {
  const wanted = expectedInside(expected);
  const typed = wanted !== undefined && isCon(wanted, CON.Map) ? wanted : undefined;
  const key = typed?.args[0];
  const value = typed?.args[1];
  for (const entry of node.entries) checkKey(body, entry.key, entry.keyForm === 'computed' ? key : undefined);
  if (typed !== undefined && value !== undefined && prune(value).kind !== 'var') {
    for (const entry of node.entries) {
      const name = entry.key.kind === 'StringLiteral' ? ` of \`${entry.key.value}\`` : '';
      fitElement(body, entry.value, value, `value${name}`);
    }
    return typed;
  }
  const common = commonValue(
    body.cx,
    node.entries.map((entry) => body.check(entry.value, isAnything(wanted) ? ANY : undefined)),
  );
  return mapOf(STRING, common);
}

function checkKey(body: Body, key: Expression, expected: Type | undefined): void {
  const type = expected === undefined ? body.check(key) : checkFits(body, key, { type: expected, what: 'key' });
  const known = prune(type);
  if (isCon(known, CON.Function)) {
    body.cx.report.error(CODE.mismatch, key.span, `a key cannot be a function`);
  }
}

/** Values of a map may differ: then nothing is known of them. The type may widen later, because it is only inferred. */
function commonValue(cx: Context, types: readonly Type[]): Type {
  let common: Type | undefined;
  for (const type of types) {
    if (common === undefined) common = type;
    else {
      const next = sameType(cx, common, type) ? common : undefined;
      if (next === undefined) return ANY;
      common = next;
    }
  }
  if (common === undefined) return freshVar(true);
  const known = prune(common);
  if (known.kind === 'any' || isCon(known, CON.Nil)) return ANY;
  return freshVar(true, common);
}

function sameType(cx: Context, left: Type, right: Type): boolean {
  const fit = assign(cx, right, left);
  return fit.ok && fit.coercion === undefined && prune(left).kind !== 'any';
}

export function checkRange(body: Body, node: RangeExpression): Type {
  for (const bound of [node.start, node.end]) {
    if (bound === undefined) continue;
    const type = body.check(bound);
    if (!assign(body.cx, type, INT).ok) {
      body.cx.report.error(
        CODE.operator,
        bound.span,
        `the bounds of a range are \`Int\`, found \`${showType(type)}\``,
        isCon(prune(type), CON.Float) ? { help: 'convert it: `… as Int`' } : {},
      );
    }
  }
  return RANGE;
}

export function numericJoin(left: Type, right: Type): Type {
  return isCon(left, CON.Float) || isCon(right, CON.Float) ? FLOAT : INT;
}
