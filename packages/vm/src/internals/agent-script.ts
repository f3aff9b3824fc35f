import { SUPERVISED } from '@concerto/ir';
import { share } from '../copy-on-write.ts';
import { display } from '../display.ts';
import { errorValue } from '../fault.ts';
import { fromJson, toJson } from '../json.ts';
import type { Mock, Native } from '../machine.ts';
import { array, type ClosureValue, errValue, type MapValue, record, type Value } from '../value.ts';
import { get, number, type State, set, stateOf, textOf } from './state.ts';

/**
 * What a mocked agent says: `mock A { script: […] }`, or `result`, `responses` or `error` for one message. The script may be
 * a function of the prompt, and a message a function of the reply before it. Each session begins at the start.
 */
export function beginScript(state: State, mock: Mock): void {
  set(state, 'script', mock.config.get('script') ?? null);
  set(state, 'turn', mock.used++);
  mock.calls.push(record({ type: 'prompt', text: textOf(state, 'prompt') }));
}

/** The next message, or a function that gives it (or the script) when it is called. */
export function nextScripted(state: State, mock: Mock): Value {
  const script = get(state, 'script');
  if (isClosure(script)) return script;
  const items = typeof script === 'object' && script !== null && script.kind === 'array' ? script.items : [];
  const used = number(state, 'used');
  set(state, 'used', used + 1);
  const next = items[used];
  if (isClosure(next)) return next;
  const agent = textOf(state, 'agent');
  if (next !== undefined) return said(next, agent);
  if (used === items.length) {
    const error = mock.config.get('error');
    if (error !== undefined) return record({ type: 'error', message: display(error) });
    const result = only(mock, number(state, 'turn'));
    if (result !== undefined) return scriptedMessage(result);
  }
  // A session that is supervised ends by itself.
  if (agent === SUPERVISED) return record({ type: 'result', status: 'completed' });
  return errValue(errorValue('AgentError', 'agent exited without result', { kind: 'exited', agent }));
}

/** `result`, or the one of `responses` for this session; the last one stays. */
function only(mock: Mock, turn: number): Value {
  const responses = mock.config.get('responses');
  if (typeof responses === 'object' && responses !== null && responses.kind === 'array') {
    return responses.items[Math.min(turn, responses.items.length - 1)];
  }
  return mock.config.get('result') ?? mock.config.get('response');
}

export function isClosure(value: Value): value is ClosureValue {
  return typeof value === 'object' && value !== null && value.kind === 'closure';
}

/** state, function → the list of its arguments: the prompt for a script, the reply for a message. */
const scriptArguments: Native = (stack, at) => {
  const state = stateOf(stack[at]);
  const call = stack[at + 1];
  if (!isClosure(call) || call.target.params === 0) return array([]);
  return array([isClosure(get(state, 'script')) ? textOf(state, 'prompt') : share(get(state, 'reply') ?? null)]);
};

/** state, what the function gave → the message; nil when it was the script, which now begins. */
const scriptGiven: Native = (stack, at) => {
  const state = stateOf(stack[at]);
  const given = stack[at + 1] ?? null;
  if (!isClosure(get(state, 'script'))) return said(given, textOf(state, 'agent'));
  const isList = typeof given === 'object' && given !== null && given.kind === 'array';
  set(state, 'script', share(isList ? given : array([given])));
  return null;
};

function said(value: Value, agent: string): Value {
  return scriptedObservation(value, agent) ?? scriptedMessage(value);
}

/** `{type: "stderr", text}` and `{type: "exit", code, signal, stderr}` in a script stand for the process, not its words. */
function scriptedObservation(value: Value, agent: string): Value {
  if (typeof value !== 'object' || value === null || value.kind !== 'map') return undefined;
  switch (get(value, 'type')) {
    case 'stderr':
      return record({ observed: 'stderr', text: display(get(value, 'text') ?? '') });
    case 'exit': {
      const details = record({});
      for (const name of ['stderr', 'code', 'signal']) set(details, name, get(value, name) ?? null);
      const parts = { kind: 'exited', agent, errorCode: get(details, 'code'), details };
      return errValue(errorValue('AgentError', 'agent exited without result', parts));
    }
    default:
      return undefined;
  }
}

function scriptedMessage(value: Value): Value {
  if (typeof value === 'object' && value !== null && value.kind === 'map') {
    return value.entries.has('type') ? value : withType(value, 'result');
  }
  if (typeof value === 'object' && value !== null && value.kind === 'struct')
    return withType(stateOf(fromJson(toJson(value))), 'result');
  return record({ type: 'result', text: display(value) });
}

function withType(value: MapValue, type: string): MapValue {
  const message = record({ type });
  for (const [key, item] of value.entries) message.entries.set(key, share(item));
  return message;
}

export const SCRIPT_INTERNALS = { $script_arguments: scriptArguments, $script_given: scriptGiven };
