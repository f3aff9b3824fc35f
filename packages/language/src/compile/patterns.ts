import { assert, unreachable } from '@concerto/base';
import type { Label } from '@concerto/ir';
import type { Local, ModuleVariable, VariantRef } from '../check/facts.ts';
import type { BindingPattern, LiteralExpression, Pattern, RestPattern, StructPattern } from '../syntax/pattern.ts';
import { bindVariable, directTarget, isLocal } from './binding.ts';
import { loadInt } from './constants.ts';
import type { Frame } from './frame.ts';
import { loadConstant } from './names.ts';

/** Tests the value in `register` and binds names; goes to `fail` when it does not fit. */
export function matchPattern(frame: Frame, pattern: Pattern, register: number, fail: Label): void {
  switch (pattern.kind) {
    case 'WildcardPattern':
      return;
    case 'RestPattern':
      return;
    case 'LiteralPattern':
      return frame.emit('JumpIfNotConst', register, literalConstant(frame, pattern.value), fail);
    case 'RangePattern': {
      const low = literalConstant(frame, pattern.start);
      const high = literalConstant(frame, pattern.end);
      return frame.emit('JumpIfNotBetween', register, low, high, pattern.inclusive ? 1 : 0, fail);
    }
    case 'BindingPattern':
      return matchBinding(frame, pattern, register, fail);
    case 'PathPattern':
      return matchName(frame, pattern, register, fail);
    case 'ConstructorPattern':
      return matchConstructor(frame, pattern, register, fail);
    case 'StructPattern':
      return matchStruct(frame, pattern, register, fail);
    case 'TuplePattern':
    case 'ArrayPattern':
      return matchSequence(frame, pattern.elements, register, fail);
    case 'OrPattern':
      return matchAlternatives(frame, pattern.alternatives, register, fail);
    case 'ErrorPattern':
      return assert(false, 'a program with errors is not compiled');
    default:
      return unreachable(pattern);
  }
}

/** For `let` and `for`, where a value that does not fit is a fault. */
export function bindOrRaise(frame: Frame, pattern: Pattern, register: number): void {
  if (pattern.kind === 'WildcardPattern') return;
  const name = plainBinding(frame, pattern);
  if (name !== undefined) return bindVariable(frame, name, register);
  const [fail, done] = [frame.label(), frame.label()];
  matchPattern(frame, pattern, register, fail);
  // Not deferred: the fault must lie inside the `try` around it.
  frame.jump(done);
  frame.place(fail);
  frame.at(pattern);
  frame.emit('RaiseMatch', register);
  frame.place(done);
}

function plainBinding(frame: Frame, pattern: Pattern): Local | ModuleVariable | undefined {
  if (pattern.kind !== 'BindingPattern' || pattern.pattern !== undefined) return undefined;
  const resolved = frame.facts.patterns.get(pattern.id);
  return resolved?.kind === 'binding' ? resolved.local : undefined;
}

function matchBinding(frame: Frame, pattern: BindingPattern, register: number, fail: Label): void {
  const resolved = frame.facts.patterns.get(pattern.id);
  assert(resolved !== undefined, 'every pattern is resolved');
  if (resolved.kind !== 'binding') return matchName(frame, pattern, register, fail);
  if (pattern.pattern !== undefined) matchPattern(frame, pattern.pattern, register, fail);
  bindVariable(frame, resolved.local, register);
}

function matchName(frame: Frame, pattern: Pattern, register: number, fail: Label): void {
  const resolved = frame.facts.patterns.get(pattern.id);
  assert(resolved !== undefined, 'every pattern is resolved');
  switch (resolved.kind) {
    case 'none':
      return frame.emit('JumpIfNotNone', register, fail);
    case 'variant':
      return testVariant(frame, resolved.variant, register, fail);
    case 'constant':
      return frame.scoped(() => {
        const constant = frame.reserve();
        loadConstant(frame, resolved.constant, constant);
        frame.emit('JumpIfNe', register, constant, fail);
      });
    case 'struct': {
      return frame.emit('JumpIfNotStruct', register, frame.builder.struct(resolved.path), fail);
    }
    case 'failure':
      return frame.emit('JumpIfNotType', register, frame.builder.type(resolved.name), fail);
    default:
      return assert(false, `a name cannot be the pattern ${resolved.kind}`);
  }
}

function testVariant(frame: Frame, variant: VariantRef, register: number, fail: Label): void {
  frame.emit('JumpIfNotVariant', register, frame.builder.enum(variant.enum), variant.index, fail);
}

const WRAPPERS = { ok: 'JumpIfNotOk', err: 'JumpIfNotErr', some: 'JumpIfNotSome' } as const;

/** Where a Result must be, a nil or Option that came there as an Any is its value. */
function testKnownOk(frame: Frame, register: number, fail: Label): void {
  const fine = frame.label();
  frame.emit('JumpIfNotErr', register, fine);
  frame.jump(fail);
  frame.place(fine);
}

function matchConstructor(
  frame: Frame,
  pattern: Extract<Pattern, { kind: 'ConstructorPattern' }>,
  register: number,
  fail: Label,
): void {
  const resolved = frame.facts.patterns.get(pattern.id);
  assert(resolved !== undefined, 'every pattern is resolved');
  if (resolved.kind === 'ok' || resolved.kind === 'err' || resolved.kind === 'some') {
    if (resolved.kind === 'ok' && resolved.known === true) testKnownOk(frame, register, fail);
    else frame.emit(WRAPPERS[resolved.kind], register, fail);
    const [inner] = pattern.elements;
    if (inner !== undefined) matchPart(frame, inner, fail, (dst) => frame.emit('Unwrap', dst, register));
    return;
  }
  if (resolved.kind === 'failure') {
    frame.emit('JumpIfNotType', register, frame.builder.type(resolved.name), fail);
    const [inner] = pattern.elements;
    if (inner !== undefined) matchPattern(frame, inner, register, fail);
    return;
  }
  assert(resolved.kind === 'variant', 'a constructor pattern names a variant');
  testVariant(frame, resolved.variant, register, fail);
  const rest = pattern.elements.findIndex((element) => element.kind === 'RestPattern');
  const skipped = resolved.variant.fields.length - (pattern.elements.length - 1);
  pattern.elements.forEach((element, index) => {
    const field = rest >= 0 && index > rest ? index + skipped - 1 : index;
    matchPart(frame, element, fail, (dst) => frame.emit('Payload', dst, register, field));
  });
}

/** Reads a part of the value and matches it; a part nobody looks at is not read. */
function matchPart(frame: Frame, pattern: Pattern, fail: Label, read: (dst: number) => void): void {
  if (pattern.kind === 'WildcardPattern' || pattern.kind === 'RestPattern') return;
  const direct = directTarget(frame, pattern);
  if (direct !== undefined) return read(direct);
  const part = frame.reserve();
  read(part);
  matchPattern(frame, pattern, part, fail);
}

function matchStruct(frame: Frame, pattern: StructPattern, register: number, fail: Label): void {
  const resolved = frame.facts.patterns.get(pattern.id);
  assert(resolved !== undefined, 'every pattern is resolved');
  if (resolved.kind === 'variant') {
    const { variant } = resolved;
    testVariant(frame, variant, register, fail);
    for (const field of pattern.fields) {
      const place = variant.fields.indexOf(field.name.text);
      matchPart(frame, field.pattern, fail, (dst) => frame.emit('Payload', dst, register, place));
    }
    return;
  }
  matchName(frame, pattern, register, fail);
  for (const field of pattern.fields) {
    const name = frame.builder.text(field.name.text);
    matchPart(frame, field.pattern, fail, (dst) => frame.emit('GetField', dst, register, name));
  }
}

function matchAlternatives(frame: Frame, patterns: readonly Pattern[], register: number, fail: Label): void {
  const found = frame.label();
  const shared = sharedVariables(frame, patterns[0]);
  patterns.forEach((pattern, index) => {
    const next = index === patterns.length - 1 ? fail : frame.label();
    matchPattern(frame, pattern, register, next);
    if (index === 0) for (const local of shared) frame.alternatives.add(local);
    if (next === fail) return;
    frame.jump(found);
    frame.place(next);
  });
  for (const local of shared) frame.alternatives.delete(local);
  frame.place(found);
}

function sharedVariables(frame: Frame, pattern: Pattern | undefined): Local[] {
  if (pattern === undefined) return [];
  switch (pattern.kind) {
    case 'BindingPattern': {
      const resolved = frame.facts.patterns.get(pattern.id);
      const own = resolved?.kind === 'binding' && isLocal(resolved.local) ? [resolved.local] : [];
      return [...own, ...sharedVariables(frame, pattern.pattern)];
    }
    case 'RestPattern': {
      const local = frame.facts.locals.get(pattern.id);
      return local === undefined ? [] : [local];
    }
    case 'ConstructorPattern':
    case 'TuplePattern':
    case 'ArrayPattern':
      return pattern.elements.flatMap((element) => sharedVariables(frame, element));
    case 'StructPattern':
      return pattern.fields.flatMap((field) => sharedVariables(frame, field.pattern));
    case 'OrPattern':
      return sharedVariables(frame, pattern.alternatives[0]);
    default:
      return [];
  }
}

function literalConstant(frame: Frame, literal: LiteralExpression | undefined): number {
  const { builder } = frame;
  switch (literal?.kind) {
    case undefined:
    case 'NilLiteral':
      return builder.constant({ kind: 'nil' });
    case 'IntLiteral':
      return builder.constant({ kind: 'int', value: literal.value });
    case 'FloatLiteral':
      return builder.constant({ kind: 'float', value: literal.value });
    case 'StringLiteral':
      return builder.text(literal.value);
    case 'BoolLiteral':
      return builder.constant({ kind: 'bool', value: literal.value });
  }
}

/** `[a, b]`, `(a, b)`, `[first, ..rest]`, `[first, .., last]`. */
function matchSequence(frame: Frame, elements: readonly Pattern[], register: number, fail: Label): void {
  const restAt = elements.findIndex((element) => element.kind === 'RestPattern');
  if (restAt < 0) {
    frame.emit('JumpIfNotLength', register, elements.length, 0, fail);
    elements.forEach((element, index) => {
      matchPart(frame, element, fail, (dst) => frame.emit('GetItem', dst, register, index));
    });
    return;
  }
  frame.emit('JumpIfNotLength', register, elements.length - 1, 1, fail);
  elements.slice(0, restAt).forEach((element, index) => {
    matchPart(frame, element, fail, (dst) => frame.emit('GetItem', dst, register, index));
  });
  const after = elements.slice(restAt + 1);
  const rest = elements[restAt];
  if (rest?.kind === 'RestPattern') bindRest(frame, rest, { register, start: restAt, after: after.length });
  if (after.length === 0) return;
  const length = frame.reserve();
  emitLength(frame, register, length);
  after.forEach((element, index) => {
    matchPart(frame, element, fail, (dst) =>
      frame.scoped(() => {
        const place = frame.reserve();
        frame.emit('AddInt', place, length, index - after.length);
        frame.emit('GetIndex', dst, register, place);
      }),
    );
  });
}

interface RestPlace {
  readonly register: number;
  readonly start: number;
  /** How many elements follow the rest. */
  readonly after: number;
}

function bindRest(frame: Frame, rest: RestPattern, { register, start, after }: RestPlace): void {
  const resolved = frame.facts.patterns.get(rest.id);
  const variable = resolved?.kind === 'binding' ? resolved.local : frame.facts.locals.get(rest.id);
  if (variable === undefined) return;
  const part = frame.reserve();
  if (after === 0) frame.emit('GetRest', part, register, start);
  else {
    frame.scoped(() => {
      const bounds = frame.reserve(2);
      loadInt(frame, start, bounds);
      emitLength(frame, register, bounds + 1);
      frame.emit('AddInt', bounds + 1, bounds + 1, -after);
      frame.emit('MakeRange', bounds, bounds, bounds + 1, 0);
      frame.emit('GetIndex', part, register, bounds);
    });
  }
  bindVariable(frame, variable, part);
}

function emitLength(frame: Frame, register: number, dst: number): void {
  frame.scoped(() => {
    const window = frame.reserve();
    frame.emit('Borrow', window, register);
    frame.emit('CallBuiltin', dst, frame.builder.builtin('len'), window, 1);
  });
}
