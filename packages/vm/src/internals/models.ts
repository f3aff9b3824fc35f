import type { IrModel } from '@concerto/ir';
import { mockName, systemEvent } from '../builtins/functions.ts';
import { share } from '../copy-on-write.ts';
import { display } from '../display.ts';
import { builtinType, errorValue, fault, field } from '../fault.ts';
import { fromJson, stringify } from '../json.ts';
import type { Mock, Native, RequestFinish, RequestStart, Vm } from '../machine.ts';
import { conform, extractJson, schemaError, topLevelSchema } from '../schema.ts';
import { remember } from '../stores.ts';
import { array, emptyMap, errValue, okValue, record, type StructValue, struct, type Value } from '../value.ts';
import { logChannel, retryPolicy } from './decorators.ts';
import { beginModel } from './model-messages.ts';
import { modelRequest } from './model-request.ts';
import { declaredMemory, modelOf, targetOf } from './model-target.ts';
import { toolDone, toolTarget } from './model-tools.ts';
import { answerOf, get, items, number, type State, set, stateOf, textOf } from './state.ts';
import { TOOL_PERMISSION } from './tool-permission.ts';

/** How often a model may call tools before it must answer. */
const MAX_TOOL_ROUNDS = 10;
/** How often an answer that does not fit its schema is asked for again, the first time included. */
const SCHEMA_ATTEMPTS = 3;

export const ACTION = { done: 0, again: 1, sleep: 2, tools: 3 } as const;

/** state → answer (a map), or Err(ModelError). */
const startTurn: RequestStart = ([value], vm) => {
  const state = stateOf(value);
  const mock = vm.mocks.get(mockName(get(state, 'target')));
  if (mock !== undefined) return { value: mockAnswer(mock, state) };
  return { request: modelRequest(vm, state) };
};

const finishTurn: RequestFinish = (answer) => {
  if (answer.ok) return fromJson(answer.value);
  const { message: text, kind, code, details } = answer.error;
  return errValue(
    errorValue('ModelError', text, { kind: kind ?? 'provider', errorCode: fromJson(code), details: fromJson(details) }),
  );
};

/**
 * `mock M { response: … }`: a text, a list of texts for one call each, or `error`. Its `tool_calls` are called first, as
 * a model would; what it says comes when they have answered.
 */
function mockAnswer(mock: Mock, state: State): Value {
  const calls = mockToolCalls(mock);
  if (number(state, 'rounds') === 0) {
    mock.calls.push(get(state, 'prompt'));
    if (calls.length > 0) return record({ text: '', model: 'mock', mocked: true, tool_calls: array(calls) });
  }
  const failure = mock.config.get('error');
  if (failure !== undefined) return errValue(errorValue('ModelError', display(failure), { kind: 'mock' }));
  const scripted = mock.config.get('responses') ?? mock.config.get('response');
  let text: Value = scripted;
  if (typeof scripted === 'object' && scripted !== null && scripted.kind === 'array') {
    text = scripted.items[Math.min(mock.used, scripted.items.length - 1)];
    mock.used++;
  }
  const shown = typeof text === 'string' || text === undefined || text === null ? (text ?? '') : stringify(text);
  const tokens = (name: string): Value => mock.config.get(name) ?? 0;
  return record({
    text: shown,
    tokens_in: tokens('tokens_in'),
    tokens_out: tokens('tokens_out'),
    model: 'mock',
    mocked: true,
  });
}

/** `{name: "Tool::method", arguments: {…}}`; an id is given where none is written. */
function mockToolCalls(mock: Mock): Value[] {
  const scripted = mock.config.get('tool_calls');
  if (typeof scripted !== 'object' || scripted === null || scripted.kind !== 'array') return [];
  return scripted.items.map((call, index) => {
    if (typeof call !== 'object' || call === null || call.kind !== 'map') {
      throw fault('TypeError', `a mock's tool call is {name, arguments}, not ${display(call)}`);
    }
    const id = textOf(call, 'id') === '' ? `call_${index + 1}` : textOf(call, 'id');
    return record({ id, name: textOf(call, 'name'), arguments: share(get(call, 'arguments') ?? emptyMap()) });
  });
}

/** state, answer → what to do next. */
const after: Native = (stack, at, _count, vm) => {
  const state = stateOf(stack[at]);
  const answer = stack[at + 1];
  const model = modelOf(vm, textOf(state, 'model'));
  if (typeof answer === 'object' && answer !== null && answer.kind === 'err') return failed(state, model, answer.value);
  const reply = answerOf(answer);
  logCall(vm, state, model, reply);
  const calls = get(reply, 'tool_calls');
  if (typeof calls === 'object' && calls !== null && calls.kind === 'array' && calls.items.length > 0) {
    return toolRound(state, model, reply, calls.items);
  }
  return answered(vm, state, reply);
};

function failed(state: State, model: IrModel, error: Value): number {
  const policy = retryPolicy(model.decorators);
  const attempt = number(state, 'attempt');
  // The connection may have tried more than once each time.
  const asked = number(state, 'asked') + Math.max(1, attemptsOf(error));
  set(state, 'asked', asked);
  if (attempt < policy.attempts) {
    set(state, 'attempt', attempt + 1);
    set(state, 'delay', policy.delay(attempt));
    return policy.delay(attempt) > 0 ? ACTION.sleep : ACTION.again;
  }
  return finish(state, errValue(modelFailure(model, asked, error)));
}

function attemptsOf(error: Value): number {
  const details =
    typeof error === 'object' && error !== null && error.kind === 'struct' ? field(error, 'details') : null;
  return typeof details === 'object' && details !== null && details.kind === 'map' ? number(details, 'attempts') : 0;
}

function modelFailure(model: IrModel, attempts: number, error: Value): StructValue {
  const times = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  const kind =
    typeof error === 'object' && error !== null && error.kind === 'struct' ? display(field(error, 'kind')) : 'provider';
  const details =
    typeof error === 'object' && error !== null && error.kind === 'struct' ? field(error, 'details') : null;
  return errorValue('ModelError', `model ${model.name} failed after ${times}: ${display(error)}`, {
    kind,
    source: error,
    details: details ?? null,
  });
}

function finish(state: State, result: Value): number {
  set(state, 'result', result);
  return ACTION.done;
}

function logCall(vm: Vm, state: State, model: IrModel, reply: State): void {
  const channel = logChannel(model.decorators);
  if (channel === null) return;
  const schema = get(state, 'type') === null ? {} : { schema_attempt: number(state, 'schemaAttempt') };
  systemEvent(
    vm,
    channel,
    record({
      model: model.name,
      method: textOf(state, 'method'),
      attempt: number(state, 'attempt'),
      ...schema,
      tokens_in: number(reply, 'tokens_in'),
      tokens_out: number(reply, 'tokens_out'),
    }),
  );
}

function toolRound(state: State, model: IrModel, reply: State, calls: readonly Value[]): number {
  const rounds = number(state, 'rounds') + 1;
  set(state, 'rounds', rounds);
  if (rounds > MAX_TOOL_ROUNDS) {
    const text = `model ${model.name} called tools more than ${MAX_TOOL_ROUNDS} times`;
    return finish(state, errValue(errorValue('ModelError', text, { kind: 'tool_loop' })));
  }
  const assistant = record({ role: 'assistant', content: textOf(reply, 'text') });
  set(assistant, 'tool_calls', array([...calls]));
  items(state, 'messages').push(assistant);
  set(state, 'calls', array([...calls]));
  return ACTION.tools;
}

function answered(vm: Vm, state: State, reply: State): number {
  const type = get(state, 'type');
  if (typeof type !== 'object' || type === null || type.kind !== 'type') {
    recordTurn(vm, state, textOf(reply, 'text'));
    return finish(state, okValue(response(state, reply)));
  }
  const checked = fit(vm, textOf(reply, 'text'), type);
  if (checked.ok) {
    recordTurn(vm, state, textOf(reply, 'text'));
    return finish(state, okValue(checked.value));
  }
  const model = modelOf(vm, textOf(state, 'model'));
  if (get(reply, 'mocked') !== true && nextSchemaAttempt(state, retryPolicy(model.decorators).attempts)) {
    const messages = items(state, 'messages');
    messages.push(record({ role: 'assistant', content: textOf(reply, 'text') }));
    messages.push(
      record({
        role: 'user',
        content: repairPrompt(checked.errors, stringify(fromJson(topLevelSchema(vm, type.type)))),
      }),
    );
    return ACTION.again;
  }
  const asked = (number(state, 'attempt') - 1) * SCHEMA_ATTEMPTS + number(state, 'schemaAttempt');
  return finish(state, errValue(schemaError(type.text, checked.errors, asked)));
}

/** Each attempt of `@retry` has its own attempts to fit the schema. False when there are no more. */
function nextSchemaAttempt(state: State, attempts: number): boolean {
  const schemaAttempt = number(state, 'schemaAttempt');
  const attempt = number(state, 'attempt');
  if (schemaAttempt < SCHEMA_ATTEMPTS) {
    set(state, 'schemaAttempt', schemaAttempt + 1);
    return true;
  }
  if (attempt >= attempts) return false;
  set(state, 'attempt', attempt + 1);
  set(state, 'schemaAttempt', 1);
  return true;
}

function fit(
  vm: Vm,
  text: string,
  type: Extract<Value, { kind: 'type' }>,
): { ok: true; value: Value } | { ok: false; errors: readonly string[] } {
  const parsed = extractJson(text);
  if (!parsed.ok) return { ok: false, errors: [`not JSON: ${parsed.error}`] };
  const result = conform(vm, parsed.value, type.type);
  return result.ok ? { ok: true, value: result.value } : { ok: false, errors: result.error };
}

function repairPrompt(errors: readonly string[], schema: string): string {
  return [
    'Your answer does not fit the required schema:',
    ...errors.map((error) => `- ${error}`),
    `Answer the request again with only a JSON value that fits this JSON Schema: ${schema}`,
  ].join('\n');
}

/** Only an answer that counts is remembered, with the prompt it answers. */
function recordTurn(vm: Vm, state: State, text: string): void {
  const { options } = targetOf(get(state, 'target'));
  const memory = options.memory ?? declaredMemory(vm, modelOf(vm, textOf(state, 'model')));
  if (memory === undefined || options.remember === false) return;
  remember(memory, 'user', textOf(state, 'prompt'));
  remember(memory, 'assistant', text);
}

function response(state: State, reply: State): Value {
  const type = builtinType('ToolCall');
  const called = items(state, 'called').map((call) => {
    const entry = stateOf(call);
    return struct(
      type,
      ['id', 'name', 'arguments', 'result'].map((name) => get(entry, name) ?? null),
    );
  });
  const plain = (name: string, fallback: Value): Value => get(reply, name) ?? fallback;
  return struct(builtinType('Response'), [
    plain('text', ''),
    plain('tokens_in', 0),
    plain('tokens_out', 0),
    plain('model', ''),
    plain('provider', ''),
    plain('latency_ms', 0),
    plain('cost', null),
    array(called),
  ]);
}

const startNext: RequestStart = ([, answer]) => {
  const stream = textOf(answerOf(answer), 'stream');
  return { request: { kind: 'model_next', stream } };
};

/** A piece of text, or the whole answer at the end. */
const finishNext: RequestFinish = (answer, args, vm, request) => {
  if (!answer.ok) return finishTurn(answer, args, vm, request);
  const data = answerOf(fromJson(answer.value));
  const chunk = get(data, 'chunk');
  return typeof chunk === 'string' ? chunk : (get(data, 'response') ?? emptyMap());
};

export const MODEL_INTERNALS = {
  $model_begin: beginModel,
  $model_turn: { start: startTurn, finish: finishTurn },
  $model_next: { start: startNext, finish: finishNext },
  $model_streams: ((stack, at) => {
    const answer = stack[at];
    return typeof answer === 'object' && answer !== null && answer.kind === 'map' && answer.entries.has('stream');
  }) satisfies Native,
  /** A mocked or unstreamed answer is one piece. */
  $model_text: ((stack, at) => {
    const answer = stack[at];
    if (typeof answer !== 'object' || answer === null || answer.kind !== 'map') return null;
    return answer.entries.get('text') ?? null;
  }) satisfies Native,
  $is_text: ((stack, at) => typeof stack[at] === 'string') satisfies Native,
  $is_nil: ((stack, at) => stack[at] === null || stack[at] === undefined) satisfies Native,
  $model_after: after,
  $model_delay: ((stack, at) => number(stateOf(stack[at]), 'delay')) satisfies Native,
  $model_calls: ((stack, at) => array([...items(stateOf(stack[at]), 'calls')])) satisfies Native,
  $model_result: ((stack, at) => get(stateOf(stack[at]), 'result')) satisfies Native,
  $tool_target: toolTarget,
  $tool_permission: TOOL_PERMISSION,
  $tool_done: toolDone,
  $is_server: ((stack, at) => {
    const value = stack[at];
    return typeof value === 'object' && value !== null && value.kind === 'ref';
  }) satisfies Native,
};
