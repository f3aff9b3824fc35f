import { assert, type Json, type JsonObject } from '@concerto/base';
import { type IrModel, type IrTool, parseType } from '@concerto/ir';
import { wrong } from '../builtins/arguments.ts';
import { mockName, systemEvent } from '../builtins/functions.ts';
import { share } from '../copy-on-write.ts';
import { display } from '../display.ts';
import type { ModelMessage, ModelRequest, ModelTool } from '../effects.ts';
import { builtinType, errorValue, fault, field } from '../fault.ts';
import { fromJson, stringify, toJson } from '../json.ts';
import type { Mock, Native, RequestFinish, RequestStart, Vm } from '../machine.ts';
import { conform, extractJson, schemaError, topLevelSchema } from '../schema.ts';
import { remember } from '../stores.ts';
import {
  array,
  type BuilderOptions,
  emptyMap,
  errValue,
  okValue,
  type RefValue,
  record,
  type StructValue,
  struct,
  type Value,
} from '../value.ts';
import { logChannel, retryPolicy, timeoutMs } from './decorators.ts';
import { get, items, number, type State, set, stateOf, textOf } from './state.ts';

/** How often a model may call tools before it must answer. */
const MAX_TOOL_ROUNDS = 10;
/** How often an answer that does not fit its schema is asked for again, the first time included. */
const SCHEMA_ATTEMPTS = 3;

export const ACTION = { done: 0, again: 1, sleep: 2, tools: 3 } as const;

export function targetOf(value: Value): { readonly ref: RefValue; readonly options: BuilderOptions } {
  if (typeof value === 'object' && value !== null) {
    if (value.kind === 'ref') return { ref: value, options: {} };
    if (value.kind === 'builder') return { ref: value.target, options: value.options };
  }
  throw wrong('the receiver', 'a model or an agent', value);
}

function modelOf(vm: Vm, name: string): IrModel {
  const model = vm.program.module.models.find((candidate) => candidate.name === name);
  assert(model !== undefined, `a model called ${name}`);
  return model;
}

/** target, method, type, prompt → state. */
const begin: Native = (stack, at, _count, vm) => {
  const { ref, options } = targetOf(stack[at]);
  const model = modelOf(vm, ref.name);
  const prompt = stack[at + 3] ?? null;
  const memory = options.memory ?? declaredMemory(vm, model);
  const system = options.system ?? model.config.system_prompt;
  const messages: Value[] = [];
  if (typeof system === 'string' && system !== '') messages.push(message('system', system));
  for (const past of memory?.messages ?? []) messages.push(message(past.role, past.content));
  const own = promptMessages(prompt, options.context);
  const state = record({
    target: stack[at] ?? null,
    model: model.name,
    method: stack[at + 1] ?? null,
    type: stack[at + 2] ?? null,
    prompt: own.at(-1)?.content ?? '',
    messages: array([...messages, ...own.map(({ role, content }) => message(role, content))]),
    attempt: 1,
    schemaAttempt: 1,
    rounds: 0,
    delay: 0,
    result: null,
    calls: array([]),
    called: array([]),
  });
  return state;
};

function message(role: string, content: string): Value {
  return record({ role, content });
}

function declaredMemory(vm: Vm, model: IrModel): BuilderOptions['memory'] {
  const store = model.memory === undefined ? undefined : vm.program.stores.get(`memory ${model.memory}`);
  return store?.kind === 'memory' ? store : undefined;
}

/** A text, a Prompt, or a list of messages. */
function promptMessages(prompt: Value, context: Value): { role: string; content: string }[] {
  const found: { role: string; content: string }[] = [];
  if (context !== undefined && context !== null) found.push({ role: 'user', content: `Context: ${display(context)}` });
  if (typeof prompt === 'object' && prompt !== null && prompt.kind === 'struct' && prompt.type.name === 'Prompt') {
    const system = field(prompt, 'system');
    if (typeof system === 'string') found.push({ role: 'system', content: system });
    const own = field(prompt, 'context');
    if (own !== null && own !== undefined) found.push({ role: 'user', content: `Context: ${display(own)}` });
    return [...found, ...promptMessages(field(prompt, 'messages'), null)];
  }
  if (typeof prompt === 'object' && prompt !== null && prompt.kind === 'array') {
    const messages = prompt.items.flatMap((item) => (isMessage(item) ? [item] : []));
    if (messages.length > 0 && messages.length === prompt.items.length) {
      for (const item of messages)
        found.push({ role: display(part(item, 'role')), content: display(part(item, 'content')) });
      return found;
    }
  }
  return [...found, { role: 'user', content: display(prompt) }];
}

function isMessage(value: Value): value is Extract<Value, { kind: 'struct' | 'map' }> {
  if (typeof value !== 'object' || value === null) return false;
  return (
    (value.kind === 'struct' && value.type.name === 'Message') || (value.kind === 'map' && value.entries.has('role'))
  );
}

function part(value: Extract<Value, { kind: 'struct' | 'map' }>, name: string): Value {
  return value.kind === 'struct' ? field(value, name) : value.entries.get(name);
}

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

function modelRequest(vm: Vm, state: State): ModelRequest {
  const { options } = targetOf(get(state, 'target'));
  const model = modelOf(vm, textOf(state, 'model'));
  const type = get(state, 'type');
  const offered = offeredTools(vm, model, options);
  const seconds = options.timeout ?? (typeof model.config.timeout === 'number' ? model.config.timeout : null);
  const config: JsonObject =
    options.temperature === undefined ? model.config : { ...model.config, temperature: options.temperature };
  return {
    kind: 'model',
    model: model.name,
    connection: model.connection,
    config,
    messages: items(state, 'messages').map(wireMessage),
    tools: offered.tools,
    servers: offered.servers,
    schema:
      typeof type === 'object' && type !== null && type.kind === 'type'
        ? { name: type.text, schema: topLevelSchema(vm, type.type) }
        : null,
    timeoutMs: timeoutMs(model.decorators) ?? (seconds === null ? null : seconds * 1000),
    stream: textOf(state, 'method') === 'stream',
  };
}

function wireMessage(value: Value): ModelMessage {
  const entry = stateOf(value);
  const content = textOf(entry, 'content');
  const role = textOf(entry, 'role');
  if (role === 'tool') {
    return {
      role,
      id: textOf(entry, 'id'),
      name: textOf(entry, 'name'),
      content,
      failed: get(entry, 'failed') === true,
    };
  }
  if (role === 'assistant') {
    const calls = get(entry, 'tool_calls');
    if (calls === undefined) return { role, content };
    return { role, content, toolCalls: items(entry, 'tool_calls').map((call) => wireCall(stateOf(call))) };
  }
  return { role: role === 'system' ? 'system' : 'user', content };
}

function wireCall(call: State): { id: string; name: string; arguments: Json } {
  return { id: textOf(call, 'id'), name: textOf(call, 'name'), arguments: toJson(get(call, 'arguments')) };
}

/** What the model may call: its own tools unless they were dropped, and those of the builder. */
function offeredTools(vm: Vm, model: IrModel, options: BuilderOptions): { tools: ModelTool[]; servers: string[] } {
  const names = new Set(options.withoutTools === true ? [] : model.tools);
  for (const tool of options.tools ?? []) names.add(toolName(tool));
  const tools: ModelTool[] = [];
  const servers: string[] = [];
  for (const name of names) {
    const declared = vm.program.module.tools.find((tool) => tool.name === name);
    if (declared === undefined) servers.push(name);
    else for (const method of declared.methods) tools.push(modelTool(declared, method));
  }
  return { tools, servers };
}

function modelTool(tool: IrTool, method: IrTool['methods'][number]): ModelTool {
  return { name: `${tool.name}::${method.name}`, description: method.description, parameters: method.parameters };
}

export function toolName(value: Value): string {
  if (typeof value === 'object' && value !== null) {
    if (value.kind === 'struct' && value.type.kind === 'tool') return value.type.name;
    if (value.kind === 'ref' && value.of === 'mcp') return value.name;
  }
  throw wrong('each tool', 'a tool or an MCP server', value);
}

/** `mock M { response: … }`: a text, a list of texts for one call each, or `error`. */
function mockAnswer(mock: Mock, state: State): Value {
  mock.calls.push(get(state, 'prompt'));
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

/** state, answer → what to do next. */
const after: Native = (stack, at, _count, vm) => {
  const state = stateOf(stack[at]);
  const answer = stack[at + 1];
  const model = modelOf(vm, textOf(state, 'model'));
  if (typeof answer === 'object' && answer !== null && answer.kind === 'err') return failed(state, model, answer.value);
  const reply = stateOf(answer);
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
  if (attempt < policy.attempts) {
    set(state, 'attempt', attempt + 1);
    set(state, 'delay', policy.delay(attempt));
    return policy.delay(attempt) > 0 ? ACTION.sleep : ACTION.again;
  }
  return finish(state, errValue(modelFailure(model, attempt, error)));
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
  const attempt = number(state, 'schemaAttempt');
  if (attempt < SCHEMA_ATTEMPTS && get(reply, 'mocked') !== true) {
    set(state, 'schemaAttempt', attempt + 1);
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
  return finish(state, errValue(schemaError(type.text, checked.errors)));
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

/** state, call → [function, arguments] for a tool of the program, [server, tool, arguments] for MCP. */
const toolTarget: Native = (stack, at, _count, vm) => {
  const call = stateOf(stack[at + 1]);
  const name = textOf(call, 'name');
  const [owner = '', method = ''] = name.split('::');
  const tool = vm.program.module.tools.find((candidate) => candidate.name === owner);
  if (tool === undefined) {
    const server = vm.program.module.mcp.find((candidate) => candidate.name === owner);
    if (server === undefined) throw fault('ToolError', `there is no tool called ${name}`, { kind: 'not_found' });
    const ref: Value = { kind: 'ref', of: 'mcp', name: owner };
    return array([ref, method, get(call, 'arguments') ?? emptyMap()]);
  }
  const found = tool.methods.find((candidate) => candidate.name === method);
  if (found === undefined) throw fault('ToolError', `${owner} has no method ${method}`, { kind: 'not_found' });
  const given = get(call, 'arguments');
  const named =
    typeof given === 'object' && given !== null && given.kind === 'map' ? given.entries : new Map<string, Value>();
  const args = found.params.map((param): Value => {
    const value = named.get(param.name);
    if (value === undefined) {
      if (param.optional === true || param.default !== undefined || param.type.startsWith('Option<')) return undefined;
      throw fault('ToolError', `${name}: the argument ${param.name} is missing`, { kind: 'arguments' });
    }
    const type = { kind: 'type', text: param.type, type: parseType(param.type) } as const;
    const result = conform(vm, value, type.type);
    if (!result.ok)
      throw fault('ToolError', `${name}: ${param.name}: ${result.error.join('; ')}`, { kind: 'arguments' });
    return result.value;
  });
  const target = vm.program.unit.functions[found.function];
  assert(target !== undefined, 'a method the validator has checked');
  const receiver = found.self ? [vm.globals[tool.global]] : [];
  return array([{ kind: 'closure', target, captures: [] }, array([...receiver, ...args])]);
};

/** state, call, receiver afterwards, value → nil. A failed tool answers with its error: the model decides what to do. */
const toolDone: Native = (stack, at, _count, vm) => {
  const state = stateOf(stack[at]);
  const call = stateOf(stack[at + 1]);
  const receiver = stack[at + 2];
  let value = stack[at + 3];
  let wentWrong = false;
  const [owner = ''] = textOf(call, 'name').split('::');
  const tool = vm.program.module.tools.find((candidate) => candidate.name === owner);
  if (tool !== undefined && typeof receiver === 'object' && receiver !== null && receiver.kind === 'struct') {
    if (receiver.type.name === tool.name) vm.globals[tool.global] = share(receiver);
  }
  if (typeof value === 'object' && value !== null && (value.kind === 'ok' || value.kind === 'err')) {
    wentWrong = value.kind === 'err';
    value = value.value;
  }
  const content = typeof value === 'string' || wentWrong ? display(value) : stringify(value);
  items(state, 'messages').push(
    record({ role: 'tool', id: textOf(call, 'id'), name: textOf(call, 'name'), content, failed: wentWrong }),
  );
  items(state, 'called').push(
    record({
      id: textOf(call, 'id'),
      name: textOf(call, 'name'),
      arguments: get(call, 'arguments') ?? null,
      result: share(value),
    }),
  );
  return null;
};

const startNext: RequestStart = ([, answer]) => {
  const stream = textOf(stateOf(answer), 'stream');
  return { request: { kind: 'model_next', stream } };
};

/** A piece of text, or the whole answer at the end. */
const finishNext: RequestFinish = (answer, args, vm) => {
  if (!answer.ok) return finishTurn(answer, args, vm);
  const data = stateOf(fromJson(answer.value));
  const chunk = get(data, 'chunk');
  return typeof chunk === 'string' ? chunk : (get(data, 'response') ?? emptyMap());
};

export const MODEL_INTERNALS = {
  $model_begin: begin,
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
  $tool_done: toolDone,
  $is_server: ((stack, at) => {
    const value = stack[at];
    return typeof value === 'object' && value !== null && value.kind === 'ref';
  }) satisfies Native,
};
