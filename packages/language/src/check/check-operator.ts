import type {
  BinaryExpression,
  BinaryOperator,
  CastExpression,
  Expression,
  UnaryExpression,
} from '../syntax/expression.ts';
import { coerce, readType } from './body.ts';
import { numericJoin } from './check-literal.ts';
import { CODE } from './codes.ts';
import type { Body } from './context.ts';
import { maybe } from './flow.ts';
import { helpToAsk, helpToCombine } from './help-with-types.ts';
import { typeTag } from './type-tag.ts';
import {
  ANY,
  BOOL,
  CON,
  ERROR,
  FLOAT,
  isCon,
  isDynamic,
  isNumber,
  isStringLike,
  optionOf,
  prune,
  STRING,
  showType,
  type Type,
} from './types.ts';
import { assign, join } from './unify.ts';

const ARITHMETIC: ReadonlySet<BinaryOperator> = new Set(['+', '-', '*', '/', '%', '**']);
const ORDER: ReadonlySet<BinaryOperator> = new Set(['<', '>', '<=', '>=']);

/** Long chains of operators lean to the left; the left side is walked, not recursed into. */
export function checkBinary(body: Body, node: BinaryExpression): Type {
  const spine: BinaryExpression[] = [node];
  let left: Expression = node.left;
  while (left.kind === 'BinaryExpression') {
    spine.push(left);
    left = left.left;
  }
  let type = body.check(left);
  for (let index = spine.length - 1; index >= 0; index--) {
    const current = spine[index];
    if (current === undefined) break;
    type = checkOne(body, current, type);
    body.cx.facts.types.set(current.id, type);
  }
  return type;
}

function checkOne(body: Body, node: BinaryExpression, leftType: Type): Type {
  const { operator } = node;
  if (operator === '??') return checkCoalesce(body, node, leftType);
  if (operator === '&&' || operator === '||') return checkLogic(body, node, leftType);
  const left = prune(leftType);
  const right = prune(body.check(node.right, isCon(left, CON.Float) ? left : undefined));
  if (operator === '**' && isCon(left, CON.Int) && isNegative(node.right)) {
    convert(body, node.left, left, FLOAT);
    return FLOAT;
  }
  if (ARITHMETIC.has(operator)) return arithmetic(body, node, left, right);
  if (ORDER.has(operator)) return order(body, node, left, right);
  return equality(body, node, left, right);
}

/** `10 ** -2` is a fraction, and can be nothing else. Where the exponent shows only at run time, it must not be negative. */
function isNegative(exponent: Expression): boolean {
  return exponent.kind === 'UnaryExpression' && exponent.operator === '-' && exponent.operand.kind === 'IntLiteral';
}

/** The right side runs only sometimes, so what it does to the flow is forgotten. */
function checkLazily(body: Body, node: Expression, expected?: Type): Type {
  return maybe(body, () => body.check(node, expected));
}

function checkLogic(body: Body, node: BinaryExpression, leftType: Type): Type {
  const { operator } = node;
  const rightType = checkLazily(body, node.right);
  for (const [operand, type] of [
    [node.left, leftType],
    [node.right, rightType],
  ] as const) {
    const known = prune(type);
    if (isCon(known, CON.Bool) || isDynamic(known) || known.kind === 'never') {
      if (known.kind === 'var') assign(body.cx, known, BOOL);
      continue;
    }
    body.cx.report.error(
      CODE.operator,
      operand.span,
      `\`${node.operator}\` needs \`Bool\`, found \`${showType(known)}\``,
      { help: operator === '||' && isCon(known, CON.Option) ? 'for a default write `a ?? b`' : helpToAsk(known) },
    );
  }
  return BOOL;
}

function checkCoalesce(body: Body, node: BinaryExpression, leftType: Type): Type {
  const { facts } = body.cx;
  const left = prune(leftType);
  const present = isCon(left, CON.Nil) ? ANY : left;
  const inner = isCon(left, CON.Option) ? (left.args[0] ?? ANY) : present;
  const wanted = prune(inner);
  const hint = wanted.kind === 'applied' ? wanted : undefined;
  const rightType = checkLazily(body, node.right, hint);
  const right = prune(rightType);
  facts.coalesces.set(node.id, 'unwrap');
  if (left.kind === 'any' || left.kind === 'error') return ANY;
  if (isCon(left, CON.Nil)) return rightType;
  if (right.kind === 'never') return inner;
  if (isCon(left, CON.Result)) {
    body.cx.report.error(CODE.operator, node.left.span, '`??` is for Option and nil, not for Result', {
      help: 'use `unwrap_or`, or `?`',
    });
    return ERROR;
  }
  // `a ?? b` with an optional `b` is optional again, unless `a` holds options itself.
  if (isCon(right, CON.Option) && !isCon(wanted, CON.Option)) {
    facts.coalesces.set(node.id, 'keep');
    const common = optionOf(join(body.cx, inner, right.args[0] ?? ANY) ?? ANY);
    convert(body, node.left, left, common);
    convert(body, node.right, right, common);
    return common;
  }
  if (isCon(right, CON.Nil)) return ANY;
  const fit = assign(body.cx, right, inner);
  if (fit.ok) {
    if (fit.coercion !== undefined) coerce(body, node.right, fit.coercion);
    return inner;
  }
  const common = join(body.cx, inner, right);
  if (common !== undefined) {
    // The left side is converted before it is taken out of its Option.
    convert(body, node.left, left, isCon(left, CON.Option) ? optionOf(common) : common);
    return common;
  }
  body.cx.report.error(
    CODE.mismatch,
    node.right.span,
    `the right side of \`??\`: expected \`${showType(inner)}\`, found \`${showType(right)}\``,
  );
  return ERROR;
}

/** One side of an operator whose value has a wider type than that side. */
function convert(body: Body, node: Expression, from: Type, to: Type): void {
  const fit = assign(body.cx, from, to);
  if (fit.ok && fit.coercion !== undefined) coerce(body, node, fit.coercion);
}

export function arithmetic(
  body: Body,
  node: { operator: string; span: Expression['span'] },
  left: Type,
  right: Type,
): Type {
  if (left.kind === 'error' || right.kind === 'error') return ERROR;
  if (left.kind === 'never' || right.kind === 'never') return left.kind === 'never' ? right : left;
  if (isNumber(left) && isNumber(right)) return numericJoin(left, right);
  const operator = node.operator.replace('=', '');
  if (operator === '+' && isText(left) && isText(right)) return STRING;
  if (isDynamic(left) || isDynamic(right)) return dynamicArithmetic(body, node, left, right);
  // Without traits for operators a generic value may take part; run time decides.
  if (left.kind === 'param' && right.kind === 'param' && left.param === right.param) return left;
  if (left.kind === 'param' || right.kind === 'param') return ANY;
  return reportOperator(body, node, left, right);
}

/** Error values display as their message and join texts as Strings do. */
function isText(type: Type): boolean {
  return isStringLike(type) || (type.kind === 'applied' && type.con.family === 'failure');
}

function dynamicArithmetic(
  body: Body,
  node: { operator: string; span: Expression['span'] },
  left: Type,
  right: Type,
): Type {
  const known = isDynamic(left) ? right : left;
  const isPlus = node.operator.startsWith('+');
  if (isDynamic(known) || known.kind === 'param') return ANY;
  if (isPlus && isText(known)) return STRING;
  if (isNumber(known)) return isCon(known, CON.Float) && !isPlus ? known : ANY;
  return isPlus ? ANY : reportOperator(body, node, left, right);
}

function reportOperator(
  body: Body,
  node: { operator: string; span: Expression['span'] },
  left: Type,
  right: Type,
): Type {
  body.cx.report.error(
    CODE.operator,
    node.span,
    `\`${node.operator}\` cannot be applied to \`${showType(left)}\` and \`${showType(right)}\``,
    { help: helpToCombine(node.operator, left, right) },
  );
  return ERROR;
}

function order(body: Body, node: BinaryExpression, left: Type, right: Type): Type {
  const fine =
    isDynamic(left) ||
    isDynamic(right) ||
    left.kind === 'never' ||
    right.kind === 'never' ||
    (isNumber(left) && isNumber(right)) ||
    (isText(left) && isText(right)) ||
    left.kind === 'param' ||
    right.kind === 'param';
  if (!fine) reportOperator(body, node, left, right);
  return BOOL;
}

/** Known different types are never equal, which is a mistake; nil may be compared with everything. */
function equality(body: Body, node: BinaryExpression, left: Type, right: Type): Type {
  // Beside an Option nil means None.
  if (isCon(left, CON.Option) && isCon(right, CON.Nil)) coerce(body, node.right, { kind: 'none' });
  if (isCon(right, CON.Option) && isCon(left, CON.Nil)) coerce(body, node.left, { kind: 'none' });
  if (!comparable(left, right)) {
    body.cx.report.error(
      CODE.incomparable,
      node.span,
      `\`${showType(left)}\` and \`${showType(right)}\` cannot be compared`,
      {
        help:
          isCon(left, CON.Option) || isCon(right, CON.Option)
            ? 'compare with `Some(…)`, or take the value out'
            : undefined,
      },
    );
  }
  return BOOL;
}

function comparable(left: Type, right: Type): boolean {
  if (isDynamic(left) || isDynamic(right) || left.kind === 'never' || right.kind === 'never') return true;
  if (isCon(left, CON.Nil) || isCon(right, CON.Nil)) return true;
  if (isNumber(left) && isNumber(right)) return true;
  if (isText(left) && isText(right)) return true;
  if (left.kind === 'param' || right.kind === 'param') return true;
  if (left.kind !== 'applied' || right.kind !== 'applied') return true;
  if (left.con === right.con && left.args.length === right.args.length) {
    return left.args.every((arg, index) => comparable(prune(arg), prune(right.args[index] ?? ANY)));
  }
  if (isCon(left, CON.Tuple) && isCon(right, CON.Array)) return true;
  if (isCon(left, CON.Array) && isCon(right, CON.Tuple)) return true;
  return left.con.family === 'trait' || right.con.family === 'trait' || left.con.family === 'declared';
}

export function checkUnary(body: Body, node: UnaryExpression): Type {
  const type = prune(body.check(node.operand));
  if (type.kind === 'error' || type.kind === 'never') return type;
  if (node.operator === '!') {
    if (isCon(type, CON.Bool) || isDynamic(type)) return BOOL;
  } else {
    if (isNumber(type)) return type;
    if (isDynamic(type) || type.kind === 'param') return type.kind === 'param' ? type : ANY;
  }
  body.cx.report.error(CODE.operator, node.span, `\`${node.operator}\` cannot be applied to \`${showType(type)}\``, {
    help: node.operator === '!' ? helpToAsk(type) : undefined,
  });
  return node.operator === '!' ? BOOL : ERROR;
}

const CASTS: Readonly<Record<string, readonly string[]>> = {
  Int: ['Int', 'Float', 'Bool', 'String'],
  Float: ['Int', 'Float', 'String', 'Bool'],
};

export function checkCast(body: Body, node: CastExpression): Type {
  const to = readType(body, node.type);
  // `[1, "a"] as Array<Any>`: what a literal is made of is decided by what it becomes.
  const target = prune(to);
  const isScalar = target.kind === 'applied' && target.con.family === 'scalar';
  const from = prune(body.check(node.operand, isScalar ? undefined : to));
  body.cx.facts.casts.set(node.id, typeTag(to));
  if (target.kind !== 'applied' || from.kind !== 'applied') return to;
  const allowed = CASTS[target.con.name];
  // Everything has a text and a truth value; a schema or struct is checked at run time.
  const fine =
    target.con === CON.String ||
    target.con === CON.Bool ||
    (allowed !== undefined && (allowed.includes(from.con.name) || from.con.family === 'literals')) ||
    isCon(from, CON.Map) ||
    assign(body.cx, from, to).ok;
  if (!fine) {
    body.cx.report.error(CODE.cast, node.span, `\`${showType(from)}\` cannot be cast to \`${showType(to)}\``);
  }
  return to;
}
