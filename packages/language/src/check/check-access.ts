import type { FieldExpression, IndexExpression, TupleFieldExpression } from '../syntax/expression.ts';
import { checkFits } from './body.ts';
import { fieldType, listFields, reportHiddenField } from './check-struct.ts';
import { CODE } from './codes.ts';
import type { Body } from './context.ts';
import { methodNames } from './find-method.ts';
import { checkMessageField, warnMisspeltField } from './lint-messages.ts';
import { didYouMean } from './resolve-path.ts';
import {
  ANY,
  type AppliedType,
  arrayOf,
  builtinName,
  CON,
  ERROR,
  INT,
  isCon,
  isDynamic,
  isStringLike,
  prune,
  STRING,
  showType,
  type Type,
} from './types.ts';
import { assign } from './unify.ts';

export function checkField(body: Body, node: FieldExpression): Type {
  const raw = body.check(node.receiver);
  const type = prune(raw);
  const name = node.name.text;
  if (name === '' || type.kind === 'error') return ERROR;
  if (isDynamic(type)) {
    checkMessageField(body, node);
    return ANY;
  }
  if (type.kind === 'never') return ANY;
  if (type.kind === 'applied') {
    const field = type.con.fields?.get(name);
    if (field !== undefined) return reportHiddenField(body, node.name.span, field) ? ERROR : fieldType(type, field);
    if (type.con.open === true) {
      warnMisspeltField(body, node, type.con.fields?.keys() ?? []);
      return ANY;
    }
    // A map's keys read like fields; a missing one is nil.
    if (type.con === CON.Map) return type.args[1] ?? ANY;
  }
  return unknownField(body, node, type);
}

function unknownField(body: Body, node: FieldExpression, type: Type): Type {
  const name = node.name.text;
  const fields = type.kind === 'applied' ? type.con.fields : undefined;
  let help: string | undefined;
  if (type.kind === 'applied') {
    const methods = methodNames(body.cx, type);
    if (/^(length|size|count)$/.test(name) && methods.includes('len')) help = 'write `.len()`';
    else if (methods.includes(name)) help = `\`${name}\` is a method: write \`.${name}(…)\``;
    else if (isCon(type, CON.Option)) help = 'take the value out with `?? default`, `?` or `match`';
    else if (isCon(type, CON.Result)) help = 'take the value out with `?`, `match` or `unwrap`';
    else if (fields !== undefined) help = didYouMean(name, fields.keys()) ?? listFields(fields);
  }
  body.cx.report.error(CODE.unknownField, node.name.span, `no field \`${name}\` in \`${showType(type)}\``, { help });
  return ERROR;
}

export function checkTupleField(body: Body, node: TupleFieldExpression): Type {
  const type = prune(body.check(node.receiver));
  if (type.kind === 'error') return ERROR;
  if (isDynamic(type) || type.kind === 'never') return ANY;
  if (isCon(type, CON.Tuple)) {
    const item = type.args[node.index];
    if (item !== undefined) return item;
    body.cx.report.error(
      CODE.unknownField,
      node.span,
      `no element ${node.index} in \`${showType(type)}\`, which has ${type.args.length}`,
    );
    return ERROR;
  }
  if (isCon(type, CON.Array)) return type.args[0] ?? ANY;
  body.cx.report.error(CODE.unknownField, node.span, `\`${showType(type)}\` has no numbered elements`);
  return ERROR;
}

export function checkIndex(body: Body, node: IndexExpression): Type {
  const type = prune(body.check(node.receiver));
  if (type.kind !== 'applied' || isDynamic(type)) {
    body.check(node.index);
    if (type.kind === 'param') return cannotIndex(body, node, type);
    return type.kind === 'error' ? ERROR : ANY;
  }
  if (isCon(type, CON.Map)) {
    checkFits(body, node.index, { type: type.args[0] ?? ANY, what: 'key' });
    return type.args[1] ?? ANY;
  }
  if (isCon(type, CON.Tuple)) return indexTuple(body, node, type);
  const index = prune(body.check(node.index));
  if (isCon(type, CON.Array)) return indexBy(body, node, index, arrayOf(type.args[0] ?? ANY)) ?? type.args[0] ?? ANY;
  if (isStringLike(type)) return indexBy(body, node, index, STRING) ?? STRING;
  if (isCon(type, CON.Range)) return indexBy(body, node, index, undefined) ?? INT;
  // A struct's field by its name.
  if (type.con.fields !== undefined && isStringLike(index)) return namedField(body, node, type) ?? ANY;
  if (isDynamic(index) && builtinName(type) !== 'HashMap') return ANY;
  return cannotIndex(body, node, type);
}

function namedField(body: Body, node: IndexExpression, type: AppliedType): Type | undefined {
  const name = node.index.kind === 'StringLiteral' ? node.index.value : undefined;
  const field = name === undefined ? undefined : type.con.fields?.get(name);
  if (field === undefined) return undefined;
  return reportHiddenField(body, node.index.span, field) ? ERROR : fieldType(type, field);
}

/** The type of a slice, or undefined for a plain index; reports an index of the wrong type. */
function indexBy(body: Body, node: IndexExpression, index: Type, slice: Type | undefined): Type | undefined {
  if (isCon(index, CON.Range) && slice !== undefined) return slice;
  if (!assign(body.cx, index, INT).ok) {
    body.cx.report.error(CODE.index, node.index.span, `an index is an \`Int\`, found \`${showType(index)}\``);
  }
  return undefined;
}

function indexTuple(body: Body, node: IndexExpression, type: AppliedType): Type {
  const index = prune(body.check(node.index));
  if (isCon(index, CON.Range)) return arrayOf(ANY);
  if (!assign(body.cx, index, INT).ok) {
    body.cx.report.error(CODE.index, node.index.span, `an index is an \`Int\`, found \`${showType(index)}\``);
    return ERROR;
  }
  if (node.index.kind !== 'IntLiteral') return ANY;
  const item = type.args[node.index.value];
  if (item !== undefined) return item;
  body.cx.report.error(CODE.index, node.index.span, `no element ${node.index.value} in \`${showType(type)}\``);
  return ERROR;
}

function cannotIndex(body: Body, node: IndexExpression, type: Type): Type {
  body.cx.report.error(CODE.index, node.span, `\`${showType(type)}\` cannot be indexed`, {
    help: builtinName(type) === 'HashMap' ? 'use `.get(key)` and `.set(key, value)`' : undefined,
  });
  return ERROR;
}
