import { unreachable } from '@concerto/base';
import type { ConstantValue } from '../check/facts.ts';
import type { Frame } from './frame.ts';

const SMALL_INT = 0x7fffffff;

export function isSmallInt(number: number): boolean {
  return Number.isInteger(number) && Math.abs(number) <= SMALL_INT;
}

export function loadInt(frame: Frame, number: number, dst: number): void {
  if (isSmallInt(number)) frame.emit('LoadInt', dst, number);
  else frame.emit('LoadConst', dst, frame.builder.constant({ kind: 'int', value: number }));
}

/** The module is JSON, which has no word for -0, infinity and NaN: those are computed. */
export function loadFloat(frame: Frame, number: number, dst: number): void {
  const load = (value: number, register: number): void =>
    frame.emit('LoadConst', register, frame.builder.constant({ kind: 'float', value }));
  if (Object.is(number, -0)) {
    load(0, dst);
    return frame.emit('Neg', dst, dst);
  }
  if (Number.isFinite(number)) return load(number, dst);
  return frame.scoped(() => {
    const zero = frame.reserve();
    load(0, zero);
    load(Number.isNaN(number) ? 0 : Math.sign(number), dst);
    frame.emit('Div', dst, dst, zero);
  });
}

export function loadText(frame: Frame, text: string, dst: number): void {
  frame.emit('LoadConst', dst, frame.builder.text(text));
}

export function loadConstantValue(frame: Frame, constant: ConstantValue, dst: number): void {
  switch (constant.kind) {
    case 'int':
      return loadInt(frame, constant.value, dst);
    case 'float':
      return loadFloat(frame, constant.value, dst);
    case 'string':
      return loadText(frame, constant.value, dst);
    case 'bool':
      return frame.emit(constant.value ? 'LoadTrue' : 'LoadFalse', dst);
    case 'nil':
      return frame.emit('LoadNil', dst);
    case 'none':
      return frame.emit('LoadNone', dst);
    case 'array':
    case 'tuple':
      return loadWindow(frame, constant.items, (first) => frame.emit('MakeArray', dst, first, constant.items.length));
    case 'map': {
      const items = constant.entries.flatMap(([key, item]): ConstantValue[] => [{ kind: 'string', value: key }, item]);
      return loadWindow(frame, items, (first) => frame.emit('MakeMap', dst, first, constant.entries.length));
    }
    case 'struct':
      return loadConstantStruct(frame, constant, dst);
    case 'variant': {
      const { variant } = constant;
      return loadWindow(frame, constant.fields, (first) =>
        frame.emit('MakeVariant', dst, frame.builder.enum(variant.enum), variant.index, first),
      );
    }
    case 'some':
    case 'ok':
    case 'err':
      loadConstantValue(frame, constant.value, dst);
      return frame.emit(({ some: 'MakeSome', ok: 'MakeOk', err: 'MakeErr' } as const)[constant.kind], dst, dst);
    case 'range':
      return frame.scoped(() => {
        const first = frame.reserve(2);
        loadInt(frame, constant.start, first);
        loadInt(frame, constant.end, first + 1);
        frame.emit('MakeRange', dst, first, first + 1, constant.inclusive ? 1 : 0);
      });
    default:
      return unreachable(constant);
  }
}

function loadWindow(frame: Frame, items: readonly ConstantValue[], build: (first: number) => void): void {
  frame.scoped(() => {
    const first = frame.reserve(items.length);
    items.forEach((item, index) => loadConstantValue(frame, item, first + index));
    build(first);
  });
}

function loadConstantStruct(frame: Frame, constant: Extract<ConstantValue, { kind: 'struct' }>, dst: number): void {
  const given = new Map(constant.fields);
  const type = frame.builder.struct(constant.path);
  const fields = frame.builder.module.structs[type]?.fields ?? [];
  loadWindow(
    frame,
    fields.map((field) => given.get(field.name) ?? { kind: 'none' }),
    (first) => frame.emit('MakeStruct', dst, type, first),
  );
}

export function loadFunction(frame: Frame, index: number, dst: number): void {
  frame.emit('LoadConst', dst, frame.builder.constant({ kind: 'function', index }));
}
