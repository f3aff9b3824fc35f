import type { LiteralPattern, RangePattern } from '../syntax/pattern.ts';
import { CODE } from './codes.ts';
import { type Binder, misfit } from './pattern-binder.ts';
import {
  BOOL,
  CON,
  FLOAT,
  INT,
  isCon,
  isDynamic,
  isNumber,
  isStringLike,
  NIL,
  prune,
  STRING,
  showType,
  type Type,
} from './types.ts';
import { assign } from './unify.ts';

function literalType(pattern: LiteralPattern | RangePattern, type: Type): Type {
  const value = pattern.kind === 'LiteralPattern' ? pattern.value : (pattern.start ?? pattern.end);
  switch (value?.kind) {
    case 'IntLiteral':
      return isCon(type, CON.Float) ? FLOAT : INT;
    case 'FloatLiteral':
      return FLOAT;
    case 'StringLiteral':
      return STRING;
    case 'BoolLiteral':
      return BOOL;
    default:
      return NIL;
  }
}

export function bindLiteral(binder: Binder, pattern: LiteralPattern, raw: Type): void {
  const type = prune(raw);
  const literal = literalType(pattern, type);
  if (isCon(literal, CON.Nil) || isDynamic(type)) {
    if (type.kind === 'var') assign(binder.body.cx, literal, type);
    return;
  }
  if (isNumber(literal) && isNumber(type)) return;
  const values = type.kind === 'applied' ? type.con.values : undefined;
  if (values !== undefined && pattern.value.kind === 'StringLiteral') {
    if (!values.includes(pattern.value.value)) {
      const allowed = values.map((value) => `"${value}"`).join(' | ');
      binder.body.cx.report.error(CODE.literalUnion, pattern.span, `"${pattern.value.value}" is not one of ${allowed}`);
    }
    return;
  }
  if (isStringLike(literal) && isStringLike(type)) return;
  if (!assign(binder.body.cx, literal, type).ok || isCon(type, CON.Option))
    misfit(binder, pattern, type, showType(literal));
}

export function bindRange(binder: Binder, pattern: RangePattern, raw: Type): void {
  const type = prune(raw);
  if (isDynamic(type)) return;
  const literal = literalType(pattern, type);
  const fits = (isNumber(literal) && isNumber(type)) || (isStringLike(literal) && isStringLike(type));
  if (!fits) misfit(binder, pattern, type, showType(literal));
  const { start, end } = pattern;
  if (start?.kind === 'IntLiteral' && end?.kind === 'IntLiteral') {
    const empty = pattern.inclusive ? start.value > end.value : start.value >= end.value;
    if (empty)
      binder.body.cx.report.warning(CODE.unreachableArm, pattern.span, 'this range is empty and never matches');
  }
}
