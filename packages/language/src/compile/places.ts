import type { Expression } from '../syntax/expression.ts';
import { loadInt } from './constants.ts';
import { isInert, operand, temporary } from './evaluate.ts';
import type { Frame } from './frame.ts';

/** Something that can be assigned: a variable, or a part of one. Indexes are already in registers. */
export type Place =
  | { readonly kind: 'register'; readonly register: number }
  | { readonly kind: 'cell'; readonly register: number }
  | { readonly kind: 'global'; readonly slot: number }
  | { readonly kind: 'field'; readonly base: Place; readonly name: number }
  | { readonly kind: 'index'; readonly base: Place; readonly index: number };

/** Evaluates the indexes of a path from left to right; undefined when the expression is not a place. */
export function resolvePlace(frame: Frame, expression: Expression): Place | undefined {
  switch (expression.kind) {
    case 'ParenExpression':
      return resolvePlace(frame, expression.expression);
    case 'NameExpression':
    case 'PathExpression': {
      const resolved = frame.facts.names.get(expression.id);
      if (resolved?.kind === 'local') return frame.storage(resolved.local);
      if (resolved?.kind === 'module-variable') {
        return { kind: 'global', slot: frame.builder.variable(resolved.variable) };
      }
      if (resolved?.kind === 'resource' && resolved.resource.kind === 'tool') {
        return { kind: 'global', slot: frame.builder.toolGlobal(resolved.resource) };
      }
      return undefined;
    }
    case 'FieldExpression': {
      const base = resolvePlace(frame, expression.receiver);
      return base && { kind: 'field', base, name: frame.builder.text(expression.name.text) };
    }
    case 'TupleFieldExpression': {
      const base = resolvePlace(frame, expression.receiver);
      if (base === undefined) return undefined;
      const index = frame.reserve();
      loadInt(frame, expression.index, index);
      return { kind: 'index', base, index };
    }
    case 'IndexExpression': {
      const base = resolvePlace(frame, expression.receiver);
      return base && { kind: 'index', base, index: indexRegister(frame, expression.index) };
    }
    default:
      return undefined;
  }
}

/** The index must keep its value until the place is used, whatever runs before. */
function indexRegister(frame: Frame, expression: Expression): number {
  if (expression.kind === 'NameExpression') {
    const resolved = frame.facts.names.get(expression.id);
    if (resolved?.kind === 'local' && !resolved.local.mutated && isInert(expression)) return operand(frame, expression);
  }
  return temporary(frame, expression);
}

/** A register with the container at this place, unshared, so that it may be changed where it is. */
function ownPlace(frame: Frame, place: Place, register: number = frame.reserve()): number {
  if (place.kind === 'register') {
    frame.emit('Own', place.register);
    return place.register;
  }
  switch (place.kind) {
    case 'cell':
      frame.emit('OwnCell', register, place.register);
      break;
    case 'global':
      frame.emit('OwnGlobal', register, place.slot);
      break;
    case 'field':
      frame.emit('OwnField', register, ownPlace(frame, place.base), place.name);
      break;
    case 'index':
      frame.emit('OwnIndex', register, ownPlace(frame, place.base), place.index);
      break;
  }
  return register;
}

/** A place whose parents are unshared: reading does not mark, and writing goes to the same container. */
export interface OpenPlace {
  readonly place: Place;
  /** The unshared container around a field or element. */
  readonly owner: number | undefined;
}

/** `register` is for the owner: a call between the read and the write must not reach it. */
export function openPlace(frame: Frame, place: Place, register: number = frame.reserve()): OpenPlace {
  const part = place.kind === 'field' || place.kind === 'index';
  return { place, owner: part ? ownPlace(frame, place.base, register) : undefined };
}

export function peekPlace(frame: Frame, { place, owner = 0 }: OpenPlace, dst: number): void {
  switch (place.kind) {
    case 'register':
      return frame.emit('Borrow', dst, place.register);
    case 'cell':
      return frame.emit('PeekCell', dst, place.register);
    case 'global':
      return frame.emit('PeekGlobal', dst, place.slot);
    case 'field':
      return frame.emit('PeekField', dst, owner, place.name);
    case 'index':
      return frame.emit('PeekIndex', dst, owner, place.index);
  }
}

/** `source` is a temporary: its value moves into the place. */
export function writePlace(frame: Frame, { place, owner = 0 }: OpenPlace, source: number): void {
  switch (place.kind) {
    case 'register':
      return frame.emit('Borrow', place.register, source);
    case 'cell':
      return frame.emit('StoreCell', place.register, source);
    case 'global':
      return frame.emit('StoreGlobal', place.slot, source);
    case 'field':
      return frame.emit('SetField', owner, place.name, source);
    case 'index':
      return frame.emit('SetIndex', owner, place.index, source);
  }
}

/** Code of the program can reach the root of this place while a method runs on it. */
export function isReachable(place: Place): boolean {
  if (place.kind === 'field' || place.kind === 'index') return isReachable(place.base);
  return place.kind !== 'register';
}
