import { errorValue } from '../fault.ts';
import { stringify } from '../json.ts';
import type { Vm } from '../machine.ts';
import { conform, extractJson } from '../schema.ts';
import { array, errValue, okValue, type Value } from '../value.ts';
import { get } from './state.ts';

/** What an agent came to, and what a handler said. */

export type ResultType = Extract<Value, { kind: 'type' }>;

/** The text field when it is a string, else all fields as JSON; text that is no message is itself. */
export function resultText(payload: Value): string {
  if (typeof payload === 'string') return payload;
  const isMap = typeof payload === 'object' && payload !== null && payload.kind === 'map';
  const text = isMap ? get(payload, 'text') : undefined;
  return typeof text === 'string' ? text : stringify(payload);
}

/** The fields themselves, or the JSON in the text. */
export function typedResult(vm: Vm, agent: string, payload: Value, type: ResultType): Value {
  const direct = conform(vm, payload, type.type);
  if (direct.ok) return okValue(direct.value);
  const parsed = extractJson(resultText(payload));
  const inner = parsed.ok ? conform(vm, parsed.value, type.type) : direct;
  if (inner.ok) return okValue(inner.value);
  const text = `the result does not fit ${type.text}: ${inner.error.join('; ')}`;
  return errValue(errorValue('AgentError', text, { kind: 'schema', agent, details: array([...inner.error]) }));
}

/** `Ok(v)` and `Some(v)` are v, `None` is nothing, however deep; `Err(e)` is an answer too. */
export function answerOf(given: Value): { readonly value: Value; readonly failed: boolean } {
  let value = given ?? null;
  while (typeof value === 'object' && value !== null) {
    if (value.kind === 'none') return { value: null, failed: false };
    if (value.kind === 'err') return { value: value.value ?? null, failed: true };
    if (value.kind !== 'some' && value.kind !== 'ok') break;
    value = value.value ?? null;
  }
  return { value, failed: false };
}
