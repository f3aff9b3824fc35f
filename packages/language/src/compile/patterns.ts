import { assert, unreachable } from '@concerto/base';
import type { Label } from '@concerto/ir';
import type { Local, ModuleVariable, VariantRef } from '../check/facts.ts';
import type { BindingPattern, LiteralExpression, Pattern, StructPattern } from '../syntax/pattern.ts';
import { type Frame, livesInCell } from './frame.ts';
import { compileSequence } from './sequence-patterns.ts';
import { loadConstant } from './values.ts';

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
      return compileSequence(frame, pattern.elements, register, fail);
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
  if (isIrrefutableName(frame, pattern)) return matchPattern(frame, pattern, register, NEVER);
  const fail = frame.label();
  matchPattern(frame, pattern, register, fail);
  frame.defer(() => {
    frame.place(fail);
    frame.at(pattern);
    frame.emit('RaiseMatch', register);
  });
}

/** Never jumped to: the pattern has no test. */
const NEVER = 0 as unknown as Label;

function isIrrefutableName(frame: Frame, pattern: Pattern): boolean {
  if (pattern.kind === 'WildcardPattern') return true;
  if (pattern.kind !== 'BindingPattern' || pattern.pattern !== undefined) return false;
  return frame.facts.patterns.get(pattern.id)?.kind === 'binding';
}

/** The register of a variable that takes the whole value as it is; undefined for every other pattern. */
export function directTarget(frame: Frame, pattern: Pattern): number | undefined {
  if (pattern.kind !== 'BindingPattern' || pattern.pattern !== undefined) return undefined;
  const resolved = frame.facts.patterns.get(pattern.id);
  if (resolved?.kind !== 'binding' || !isLocal(resolved.local) || livesInCell(resolved.local)) return undefined;
  return declareRegister(frame, resolved.local);
}

function isLocal(variable: Local | ModuleVariable): variable is Local {
  return 'owner' in variable;
}

/** The alternatives of an or-pattern share a variable, and so its register. */
function declareRegister(frame: Frame, local: Local): number {
  if (frame.has(local) && frame.storage(local).kind === 'register' && frame.alternatives.has(local)) {
    return frame.storage(local).register;
  }
  const register = frame.reserve();
  frame.bind(local, { kind: 'register', register });
  return register;
}

/** Puts a copy of the value into a new variable. */
export function bindVariable(frame: Frame, variable: Local | ModuleVariable, register: number): void {
  if (!isLocal(variable)) {
    frame.scoped(() => {
      const copy = frame.reserve();
      frame.emit('Move', copy, register);
      frame.emit('StoreGlobal', frame.builder.variable(variable), copy);
    });
    return;
  }
  if (!livesInCell(variable)) {
    frame.emit('Move', declareRegister(frame, variable), register);
    return;
  }
  const shared = frame.alternatives.has(variable) && frame.has(variable);
  const cell = shared ? frame.storage(variable).register : frame.reserve();
  frame.scoped(() => {
    const copy = frame.reserve();
    frame.emit('Move', copy, register);
    frame.emit('NewCell', cell, copy);
  });
  frame.bind(variable, { kind: 'cell', register: cell });
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

function matchConstructor(
  frame: Frame,
  pattern: Extract<Pattern, { kind: 'ConstructorPattern' }>,
  register: number,
  fail: Label,
): void {
  const resolved = frame.facts.patterns.get(pattern.id);
  assert(resolved !== undefined, 'every pattern is resolved');
  if (resolved.kind === 'ok' || resolved.kind === 'err' || resolved.kind === 'some') {
    frame.emit(WRAPPERS[resolved.kind], register, fail);
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
export function matchPart(frame: Frame, pattern: Pattern, fail: Label, read: (dst: number) => void): void {
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
