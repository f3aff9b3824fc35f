import { assert } from '@concerto/base';
import type {
  ArrayExpression,
  Expression,
  FieldInitializer,
  InterpolatedString,
  MapExpression,
  StructExpression,
  TupleExpression,
} from '../syntax/expression.ts';
import type { FieldDeclaration } from '../syntax/item.ts';
import { argument } from './arguments.ts';
import { loadText } from './constants.ts';
import { operandBefore, value } from './evaluate.ts';
import type { Frame } from './frame.ts';

export function compileArray(frame: Frame, expression: ArrayExpression | TupleExpression, dst: number): void {
  if (expression.kind === 'TupleExpression' && expression.elements.length === 0) return frame.emit('LoadNil', dst);
  frame.scoped(() => {
    const first = frame.reserve(expression.elements.length);
    expression.elements.forEach((element, index) => value(frame, element, first + index));
    frame.emit('MakeArray', dst, first, expression.elements.length);
  });
}

export function compileMap(frame: Frame, expression: MapExpression, dst: number): void {
  frame.scoped(() => {
    const first = frame.reserve(expression.entries.length * 2);
    expression.entries.forEach((entry, index) => {
      value(frame, entry.key, first + 2 * index);
      value(frame, entry.value, first + 2 * index + 1);
    });
    frame.at(expression);
    frame.emit('MakeMap', dst, first, expression.entries.length);
  });
}

export function compileInterpolation(frame: Frame, expression: InterpolatedString, dst: number): void {
  frame.scoped(() => {
    const { parts } = expression;
    const first = frame.reserve(parts.length);
    const expressions = parts.flatMap((part) => (part.kind === 'ExpressionPart' ? [part.expression] : []));
    let seen = 0;
    parts.forEach((part, index) => {
      if (part.kind === 'TextPart') return loadText(frame, part.value, first + index);
      seen++;
      return argument(frame, part.expression, { slot: first + index, later: expressions.slice(seen) });
    });
    frame.at(expression);
    frame.emit('Concat', dst, first, parts.length);
  });
}

/** Fields go to their declared places; those not written come from the base, their default, or are None. */
export function compileStruct(frame: Frame, expression: StructExpression, dst: number): void {
  const resolved = frame.facts.names.get(expression.id);
  assert(resolved !== undefined, 'every struct literal is resolved');
  frame.scoped(() => {
    if (resolved.kind === 'variant') {
      const { variant } = resolved;
      const declared = frame.builder.declaredType(variant.enum)?.item;
      const payload = declared?.kind === 'EnumItem' ? declared.variants[variant.index]?.payload : undefined;
      const declarations = payload?.kind === 'StructPayload' ? payload.fields : [];
      const first = fieldWindow(frame, expression, variant.fields, declarations);
      frame.emit('MakeVariant', dst, frame.builder.enum(variant.enum), variant.index, first);
      return;
    }
    assert(resolved.kind === 'struct' || resolved.kind === 'schema', 'a struct literal names a struct');
    const declared = frame.builder.declaredType(resolved.path)?.item;
    const declarations = declared?.kind === 'StructItem' || declared?.kind === 'SchemaItem' ? declared.fields : [];
    const first = fieldWindow(frame, expression, resolved.fields, declarations);
    frame.emit('MakeStruct', dst, frame.builder.struct(resolved.path), first);
  });
}

function fieldWindow(
  frame: Frame,
  expression: StructExpression,
  names: readonly string[],
  declarations: readonly FieldDeclaration[],
): number {
  const given = new Map<string, FieldInitializer>(expression.fields.map((field) => [field.name.text, field]));
  const first = frame.reserve(names.length);
  for (const field of expression.fields) {
    const place = names.indexOf(field.name.text);
    if (place >= 0) value(frame, field.value, first + place);
  }
  const base = expression.base === undefined ? undefined : operandBefore(frame, expression.base, []);
  names.forEach((name, index) => {
    if (given.has(name)) return;
    if (base !== undefined) frame.emit('GetField', first + index, base, frame.builder.text(name));
    else missingField(frame, declarations.find((field) => field.name.text === name)?.defaultValue, first + index);
  });
  return first;
}

function missingField(frame: Frame, fallback: Expression | undefined, dst: number): void {
  if (fallback === undefined) frame.emit('LoadNone', dst);
  else frame.foreign(() => value(frame, fallback, dst));
}
