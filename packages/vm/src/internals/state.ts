import { assert } from '@concerto/base';
import { emptyMap, type MapValue, type Value } from '../value.ts';

/**
 * The state of a call of a model, a `listen` or a pipeline is a map in a register of the prelude function that drives it,
 * so that it is part of every snapshot. Nothing else refers to it.
 */
export type State = MapValue;

export function stateOf(value: Value): State {
  assert(typeof value === 'object' && value !== null && value.kind === 'map', 'a state in a register');
  return value;
}

/** What the world answered. What should have fields and has none tells nothing: the world may be of another version. */
export function answerOf(value: Value): State {
  return typeof value === 'object' && value !== null && value.kind === 'map' ? value : emptyMap();
}

export function get(state: State, name: string): Value {
  return state.entries.get(name);
}

export function set(state: State, name: string, value: Value): void {
  state.entries.set(name, value);
}

export function number(state: State, name: string): number {
  const value = state.entries.get(name);
  return typeof value === 'number' ? value : 0;
}

export function textOf(state: State, name: string): string {
  const value = state.entries.get(name);
  return typeof value === 'string' ? value : '';
}

export function items(state: State, name: string): Value[] {
  const value = state.entries.get(name);
  assert(typeof value === 'object' && value !== null && value.kind === 'array', `a list called ${name}`);
  return value.items;
}
