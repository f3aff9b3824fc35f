import { err, ok, type Result } from '@concerto/base';
import type { BinaryExpression, Expression, StructExpression } from '../syntax/expression.ts';
import { combine, equalConstants, OUT_OF_RANGE, toInt } from './constant-operators.ts';
import { elementOf, fieldOf, sliceOf } from './constant-parts.ts';
import { displayConstant } from './display-constant.ts';
import type { ConstantRef, ConstantValue, Facts } from './facts.ts';
import { fitConstant, optionConstant } from './fit-constant.ts';
import type { Coercion } from './unify.ts';

export interface Evaluation {
  readonly facts: Facts;
  readonly constant: (ref: ConstantRef) => ConstantValue | undefined;
  /** Declared fields with their defaults, in order, by the struct's path. */
  readonly structFields: (
    path: string,
  ) => readonly { readonly name: string; readonly value: Expression | undefined }[] | undefined;
}

/** An empty message: already reported elsewhere. */
interface NotConstant {
  readonly node: Expression;
  readonly message: string;
}

type Outcome = Result<ConstantValue, NotConstant>;

/** The value of an expression at compile time; calls and variables have none. */
export function evaluate(env: Evaluation, node: Expression): Outcome {
  const outcome = evaluatePlain(env, node);
  if (!outcome.ok) return outcome;
  return ok(convert(outcome.value, env.facts.coercions.get(node.id)));
}

function convert(value: ConstantValue, coercion: Coercion | undefined): ConstantValue {
  if (coercion === undefined) return value;
  switch (coercion.kind) {
    case 'float':
      return value.kind === 'int' ? { kind: 'float', value: value.value } : value;
    case 'some':
    case 'ok': {
      const inner = convert(value, coercion.inner);
      return coercion.kind === 'some' ? optionConstant(inner) : { kind: 'ok', value: inner };
    }
    case 'none':
      return { kind: 'none' };
    case 'each':
      if (value.kind === 'array' || value.kind === 'tuple') {
        return { kind: value.kind, items: value.items.map((item) => convert(item, coercion.inner)) };
      }
      if (value.kind === 'map') {
        return {
          kind: 'map',
          entries: value.entries.map(([key, item]) => [key, convert(item, coercion.inner)] as const),
        };
      }
      return value.kind === 'some' || value.kind === 'ok'
        ? { kind: value.kind, value: convert(value.value, coercion.inner) }
        : value;
    case 'tuple':
      if (value.kind !== 'tuple') return value;
      return { kind: 'tuple', items: value.items.map((item, index) => convert(item, coercion.items[index])) };
    case 'fit':
      return fitConstant(value, coercion.to);
    case 'text':
    case 'function':
      return value;
  }
}

function refuse(node: Expression, message: string): Outcome {
  return err({ node, message });
}

function evaluatePlain(env: Evaluation, node: Expression): Outcome {
  switch (node.kind) {
    case 'IntLiteral':
      return ok({ kind: 'int', value: node.value });
    case 'FloatLiteral':
      return ok({ kind: 'float', value: node.value });
    case 'StringLiteral':
      return ok({ kind: 'string', value: node.value });
    case 'BoolLiteral':
      return ok({ kind: 'bool', value: node.value });
    case 'NilLiteral':
      return ok({ kind: 'nil' });
    case 'ParenExpression':
      return evaluate(env, node.expression);
    case 'InterpolatedString':
      return evaluateTemplate(env, node);
    case 'ArrayExpression':
      return evaluateAll(env, node.elements, (items) => ({ kind: 'array', items }));
    case 'TupleExpression':
      if (node.elements.length === 0) return ok({ kind: 'nil' });
      return evaluateAll(env, node.elements, (items) => ({ kind: 'tuple', items }));
    case 'MapExpression':
      return evaluateMap(env, node);
    case 'UnaryExpression':
      return evaluateUnary(env, node);
    case 'BinaryExpression':
      return evaluateBinary(env, node);
    case 'CastExpression':
      return evaluateCast(env, node);
    case 'RangeExpression':
      return evaluateRange(env, node);
    case 'NameExpression':
    case 'PathExpression':
      return evaluateName(env, node);
    case 'CallExpression':
      return evaluateCall(env, node);
    case 'StructExpression':
      return evaluateStruct(env, node);
    case 'FieldExpression':
      return evaluatePart(env, node, (value) => fieldOf(value, node.name.text));
    case 'TupleFieldExpression':
      return evaluatePart(env, node, (value) => elementOf(value, node.index));
    case 'IndexExpression':
      return evaluateIndex(env, node);
    case 'IfExpression':
      return evaluateIf(env, node);
    case 'Block':
      if (node.statements.length > 0 || node.tail === undefined)
        return refuse(node, 'a block of statements is not constant');
      return evaluate(env, node.tail);
    case 'ErrorExpression':
      return refuse(node, '');
    default:
      return refuse(node, 'this is not constant');
  }
}

function evaluateAll(
  env: Evaluation,
  nodes: readonly Expression[],
  make: (items: readonly ConstantValue[]) => ConstantValue,
): Outcome {
  const items: ConstantValue[] = [];
  for (const node of nodes) {
    const item = evaluate(env, node);
    if (!item.ok) return item;
    items.push(item.value);
  }
  return ok(make(items));
}

function evaluateTemplate(env: Evaluation, node: Extract<Expression, { kind: 'InterpolatedString' }>): Outcome {
  let text = '';
  for (const part of node.parts) {
    if (part.kind === 'TextPart') {
      text += part.value;
      continue;
    }
    const value = evaluate(env, part.expression);
    if (!value.ok) return value;
    text += displayConstant(value.value);
  }
  return ok({ kind: 'string', value: text });
}

function evaluateMap(env: Evaluation, node: Extract<Expression, { kind: 'MapExpression' }>): Outcome {
  const entries = new Map<string, ConstantValue>();
  for (const entry of node.entries) {
    const key = evaluate(env, entry.key);
    if (!key.ok) return key;
    const value = evaluate(env, entry.value);
    if (!value.ok) return value;
    entries.set(displayConstant(key.value), value.value);
  }
  return ok({ kind: 'map', entries: [...entries] });
}

function evaluateUnary(env: Evaluation, node: Extract<Expression, { kind: 'UnaryExpression' }>): Outcome {
  const operand = evaluate(env, node.operand);
  if (!operand.ok) return operand;
  const { value } = operand;
  if (node.operator === '!')
    return value.kind === 'bool' ? ok({ kind: 'bool', value: !value.value }) : refuse(node, '');
  // -0 is a Float, and no Int.
  if (value.kind === 'int') return ok({ kind: 'int', value: 0 - value.value });
  if (value.kind === 'float') return ok({ kind: 'float', value: -value.value });
  return refuse(node, '');
}

function evaluateBinary(env: Evaluation, node: BinaryExpression): Outcome {
  const left = evaluate(env, node.left);
  if (!left.ok) return left;
  const { operator } = node;
  if (operator === '&&' || operator === '||') {
    if (left.value.kind !== 'bool') return refuse(node, '');
    return left.value.value === (operator === '||') ? left : evaluate(env, node.right);
  }
  if (operator === '??') {
    if (left.value.kind === 'some') return ok(left.value.value);
    return left.value.kind === 'none' || left.value.kind === 'nil' ? evaluate(env, node.right) : left;
  }
  const right = evaluate(env, node.right);
  if (!right.ok) return right;
  if (operator === '==' || operator === '!=') {
    return ok({ kind: 'bool', value: equalConstants(left.value, right.value) === (operator === '==') });
  }
  const combined = combine(operator, left.value, right.value);
  return combined.ok ? combined : refuse(node, combined.error);
}

function evaluateCast(env: Evaluation, node: Extract<Expression, { kind: 'CastExpression' }>): Outcome {
  const operand = evaluate(env, node.operand);
  if (!operand.ok) return operand;
  const { value } = operand;
  const target = env.facts.casts.get(node.id)?.kind;
  const isNumber = value.kind === 'int' || value.kind === 'float';
  if (target === 'int' && isNumber) return whole(node, value.value);
  if (target === 'int' && value.kind === 'bool') return ok({ kind: 'int', value: value.value ? 1 : 0 });
  if (target === 'float' && isNumber) return ok({ kind: 'float', value: value.value });
  if (target === 'string') return ok({ kind: 'string', value: displayConstant(value) });
  return refuse(node, 'this cast is not constant');
}

function whole(node: Expression, value: number): Outcome {
  const integer = toInt(value);
  return integer === undefined ? refuse(node, OUT_OF_RANGE) : ok(integer);
}

function evaluateRange(env: Evaluation, node: Extract<Expression, { kind: 'RangeExpression' }>): Outcome {
  if (node.start === undefined || node.end === undefined) return refuse(node, 'an open range is not constant');
  const start = evaluate(env, node.start);
  if (!start.ok) return start;
  const end = evaluate(env, node.end);
  if (!end.ok) return end;
  if (start.value.kind !== 'int' || end.value.kind !== 'int') return refuse(node, '');
  return ok({ kind: 'range', start: start.value.value, end: end.value.value, inclusive: node.inclusive });
}

type PartExpression = Extract<Expression, { kind: 'FieldExpression' | 'TupleFieldExpression' | 'IndexExpression' }>;

function evaluatePart(
  env: Evaluation,
  node: PartExpression,
  part: (value: ConstantValue) => Result<ConstantValue, string>,
): Outcome {
  if (env.facts.chains.has(node.id)) return refuse(node, 'this is not constant');
  const receiver = evaluate(env, node.receiver);
  if (!receiver.ok) return receiver;
  const found = part(receiver.value);
  return found.ok ? found : refuse(node, found.error);
}

function evaluateIndex(env: Evaluation, node: Extract<Expression, { kind: 'IndexExpression' }>): Outcome {
  if (node.index.kind === 'RangeExpression') {
    const { start, end, inclusive } = node.index;
    const bounds = [start, end].map((bound) => (bound === undefined ? undefined : evaluate(env, bound)));
    for (const bound of bounds) if (bound !== undefined && !bound.ok) return bound;
    const [from, to] = bounds.map((bound) => (bound?.ok && bound.value.kind === 'int' ? bound.value.value : undefined));
    return evaluatePart(env, node, (value) => sliceOf(value, { start: from, end: to, inclusive }));
  }
  const index = evaluate(env, node.index);
  if (!index.ok) return index;
  const { value } = index;
  if (value.kind === 'range') return evaluatePart(env, node, (whole) => sliceOf(whole, value));
  return evaluatePart(env, node, (whole) =>
    value.kind === 'int' && whole.kind !== 'map'
      ? elementOf(whole, value.value)
      : fieldOf(whole, displayConstant(value)),
  );
}

function evaluateIf(env: Evaluation, node: Extract<Expression, { kind: 'IfExpression' }>): Outcome {
  const condition = evaluate(env, node.condition);
  if (!condition.ok) return condition;
  if (condition.value.kind !== 'bool') return refuse(node, '');
  if (condition.value.value) return evaluate(env, node.then);
  return node.otherwise === undefined ? ok({ kind: 'nil' }) : evaluate(env, node.otherwise);
}

function evaluateName(
  env: Evaluation,
  node: Extract<Expression, { kind: 'NameExpression' | 'PathExpression' }>,
): Outcome {
  const resolved = env.facts.names.get(node.id);
  if (resolved === undefined || resolved.kind === 'unresolved') return refuse(node, '');
  if (resolved.kind === 'constant') {
    const value = env.constant(resolved.constant);
    return value === undefined ? refuse(node, '') : ok(value);
  }
  if (resolved.kind === 'variant' && resolved.variant.shape === 'unit') {
    return ok({ kind: 'variant', variant: resolved.variant, fields: [] });
  }
  if (resolved.kind === 'builtin' && resolved.name === 'None') return ok({ kind: 'none' });
  const name = node.kind === 'NameExpression' ? node.name.text : node.path.segments.map((part) => part.text).join('::');
  return refuse(node, `\`${name}\` is not constant`);
}

const WRAPPERS: ReadonlyMap<string, 'ok' | 'err' | 'some'> = new Map([
  ['Ok', 'ok'],
  ['Err', 'err'],
  ['Some', 'some'],
]);

function evaluateCall(env: Evaluation, node: Extract<Expression, { kind: 'CallExpression' }>): Outcome {
  const target = env.facts.calls.get(node.id)?.target;
  if (target === undefined || target.kind === 'unresolved') return refuse(node, '');
  const values = node.arguments.map((argument) => argument.value);
  if (target.kind === 'variant') {
    const { variant } = target;
    return evaluateAll(env, values, (fields) => ({ kind: 'variant', variant, fields }));
  }
  const wrapper = target.kind === 'builtin' ? WRAPPERS.get(target.name) : undefined;
  const [only] = values;
  if (wrapper !== undefined && only !== undefined) {
    return evaluateAll(env, [only], ([value]) => ({ kind: wrapper, value: value ?? { kind: 'nil' } }));
  }
  return refuse(node, 'a call is not constant');
}

function evaluateStruct(env: Evaluation, node: StructExpression): Outcome {
  const resolved = env.facts.names.get(node.id);
  if (node.base !== undefined) return refuse(node, 'this is not constant');
  const given = new Map(node.fields.map((field) => [field.name.text, field.value]));
  if (resolved?.kind === 'variant') {
    const values = resolved.variant.fields.map((name) => given.get(name));
    const present = values.filter((value) => value !== undefined);
    if (present.length !== values.length) return refuse(node, '');
    const { variant } = resolved;
    return evaluateAll(env, present, (fields) => ({ kind: 'variant', variant, fields }));
  }
  if (resolved?.kind !== 'struct' && resolved?.kind !== 'schema') return refuse(node, '');
  const fields: (readonly [string, ConstantValue])[] = [];
  for (const field of env.structFields(resolved.path) ?? []) {
    const expression = given.get(field.name) ?? field.value;
    if (expression === undefined) {
      fields.push([field.name, { kind: 'none' }]);
      continue;
    }
    const value = evaluate(env, expression);
    if (!value.ok) return value;
    fields.push([field.name, value.value]);
  }
  return ok({ kind: 'struct', path: resolved.path, fields });
}
