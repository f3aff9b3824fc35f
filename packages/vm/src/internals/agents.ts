import { assert } from '@concerto/base';
import { type IrListen, parseType, SUPERVISED } from '@concerto/ir';
import { wrong } from '../builtins/arguments.ts';
import { mockName, systemEvent } from '../builtins/functions.ts';
import { share } from '../copy-on-write.ts';
import { display } from '../display.ts';
import { errorValue, field } from '../fault.ts';
import { stringify } from '../json.ts';
import type { Native, Vm } from '../machine.ts';
import { conform } from '../schema.ts';
import { remember } from '../stores.ts';
import { array, emptyMap, errValue, type MapValue, okValue, record, type Value } from '../value.ts';
import { answerOf, type ResultType, resultText, typedResult } from './agent-result.ts';
import { isClosure, SCRIPT_INTERNALS } from './agent-script.ts';
import {
  agentOf,
  beginSession,
  finishNext,
  finishOpen,
  isListen,
  listenOf,
  startNext,
  startOpen,
} from './agent-session.ts';
import { targetOf } from './model-target.ts';
import { get, type State, set, stateOf, textOf } from './state.ts';

/** What to do with a message: a handler's index, or one of these. */
export const ROUTE = { again: -1, finished: -2, beside: -3, settle: -4, scripted: -5 } as const;

/** Message types that end a session; all others go on. */
const TERMINAL = ['result', 'error'];
/** Of the process, not of its words: an agent that says so itself does not reach these handlers. */
const OBSERVED = ['exit', 'stderr'];
const NEEDS_REPLY = ['question', 'approval'];

/** state: the prompt has been sent. */
const started: Native = (stack, at, _count, vm) => {
  const state = stateOf(stack[at]);
  set(state, 'session', stack[at + 1]);
  if (isListen(state)) {
    systemEvent(vm, 'listen:start', record({ agent: textOf(state, 'agent'), listen: listenOf(vm, state)?.name ?? '' }));
  }
  return null;
};

/** state, message → a handler's index or a ROUTE. */
const route: Native = (stack, at, _count, vm) => {
  const state = stateOf(stack[at]);
  const message = stack[at + 1];
  if (mustSettle(state, message)) return ROUTE.settle;
  // A handler that somebody was quicker than: there is nothing to say for it.
  if (message === null) return ROUTE.again;
  if (isClosure(message)) return ROUTE.scripted;
  if (isErr(message)) return routeExit(vm, state, message);
  if (isOk(message)) return broken(vm, state, message.value ?? null);
  if (typeof message !== 'object' || message === null || message.kind !== 'map') {
    return finish(vm, state, errValue(errorValue('AgentError', 'bad message', { kind: 'protocol' })));
  }
  if (!message.entries.has('type'))
    return observe(vm, state, textOf(message, 'observed'), { text: get(message, 'text') });
  set(state, 'message', message);
  set(state, 'observed', false);
  const type = textOf(message, 'type');
  const handler = handlerFor(listenOf(vm, state), type);
  if (handler === undefined) {
    if (TERMINAL.includes(type)) return finish(vm, state, terminal(vm, state));
    unhandled(vm, state, message);
    return ROUTE.again;
  }
  return handOver(vm, state, message, handler);
};

type Handler = {
  readonly index: number;
  readonly type: string | undefined;
  readonly catchAll: boolean;
  readonly parallel: boolean;
};

/** What ends the session is taken up when the handlers beside it have ended; once. */
function mustSettle(state: State, message: Value): boolean {
  if (get(state, 'parallel') !== true || get(state, 'settled') === true) return false;
  if (!isErr(message) && !(isMap(message) && TERMINAL.includes(textOf(message, 'type')))) return false;
  set(state, 'settled', true);
  return true;
}

/** The message becomes the handler's argument. */
function handOver(vm: Vm, state: State, message: MapValue, handler: Handler): number {
  const param = withoutType(message, handler.catchAll);
  if (handler.type === undefined) set(state, 'param', param);
  else {
    const checked = conform(vm, withoutType(message, false), parseType(handler.type));
    if (!checked.ok) return invalid(vm, state, checked.error);
    set(state, 'param', checked.value);
  }
  if (!handler.parallel || !canBeParallel(message)) return handler.index;
  set(state, 'handler', handler.index);
  return ROUTE.beside;
}

/** Without an id two answers could not be told apart: such questions are answered in order. */
function canBeParallel(message: MapValue): boolean {
  if (TERMINAL.includes(textOf(message, 'type'))) return false;
  return !expectsReply(message) || (get(message, 'id') ?? null) !== null;
}

/** The process is gone: whoever watches for it sees how before the session ends with the error. */
function routeExit(vm: Vm, state: State, failure: Extract<Value, { kind: 'err' }>): number {
  const error = failure.value;
  if (typeof error !== 'object' || error === null || error.kind !== 'struct' || field(error, 'kind') !== 'exited') {
    return finish(vm, state, failure);
  }
  const details = field(error, 'details');
  const known = typeof details === 'object' && details !== null && details.kind === 'map' ? details : emptyMap();
  set(state, 'exit', failure);
  return observe(vm, state, 'exit', {
    code: get(known, 'code') ?? null,
    signal: get(known, 'signal') ?? null,
    stderr: get(known, 'stderr') ?? '',
  });
}

/** Gives what was seen of the process to its handler. */
function observe(vm: Vm, state: State, type: string, fields: Readonly<Record<string, Value>>): number {
  const index = listenOf(vm, state)?.handlers.findIndex(({ keys }) => keys.includes(type)) ?? -1;
  const handler = listenOf(vm, state)?.handlers[index];
  if (handler === undefined) return afterObserver(vm, state);
  const message = record({ type, ...fields });
  set(state, 'message', message);
  set(state, 'observed', true);
  return handOver(vm, state, message, { index, type: handler.type, catchAll: false, parallel: false });
}

function afterObserver(vm: Vm, state: State): number {
  const exit = get(state, 'exit');
  return isErr(exit) ? finish(vm, state, exit) : ROUTE.again;
}

function isMap(value: Value): value is MapValue {
  return typeof value === 'object' && value !== null && value.kind === 'map';
}

function isOk(value: Value): value is Extract<Value, { kind: 'ok' }> {
  return typeof value === 'object' && value !== null && value.kind === 'ok';
}

function isErr(value: Value): value is Extract<Value, { kind: 'err' }> {
  return typeof value === 'object' && value !== null && value.kind === 'err';
}

/** The handler that names the type; `_` for others, but never for what ends the session. */
function handlerFor(listen: IrListen | undefined, type: string): Handler | undefined {
  if (listen === undefined) return undefined;
  let index = OBSERVED.includes(type) ? -1 : listen.handlers.findIndex(({ keys }) => keys.includes(type));
  const catchAll = index < 0;
  if (catchAll && !TERMINAL.includes(type)) index = listen.handlers.findIndex(({ keys }) => keys.includes('_'));
  const handler = listen.handlers[index];
  return handler === undefined
    ? undefined
    : { index, type: handler.type, catchAll, parallel: handler.parallel === true };
}

function withoutType(message: MapValue, keep: boolean): MapValue {
  const fields = emptyMap();
  // Not `for … of`, which makes a pair of each.
  message.entries.forEach((item, key) => {
    if (keep || key !== 'type') fields.entries.set(key, share(item));
  });
  return fields;
}

function expectsReply(message: MapValue): boolean {
  return NEEDS_REPLY.includes(textOf(message, 'type')) || get(message, 'expects_reply') === true;
}

function unhandled(vm: Vm, state: State, message: MapValue): void {
  if (!isSupervised(state)) systemEvent(vm, isListen(state) ? 'listen:unhandled' : 'listen:log', message);
  if (expectsReply(message)) reply(vm, state, message, unanswered(state));
}

/** Of a session that somebody else opened: what is not answered is left to the next who may. */
function isSupervised(state: State): boolean {
  return textOf(state, 'agent') === SUPERVISED;
}

function unanswered(state: State): Readonly<Record<string, Value>> {
  return isSupervised(state) ? { passed: true } : { error: 'unhandled' };
}

/** Once an agent has ended its work it waits for no answer; the next prompt must not find one. */
function reply(vm: Vm, state: State, message: MapValue, content: Readonly<Record<string, Value>>): void {
  const id = get(message, 'id') ?? null;
  const response = record({
    type: 'response',
    in_reply_to: textOf(message, 'type'),
    ...(id === null ? {} : { in_reply_to_id: id }),
    ...content,
  });
  const mock = vm.mocks.get(mockName(get(state, 'target')));
  if (mock !== undefined) {
    mock.calls.push(response);
    set(wholeOf(state), 'reply', response);
  } else if (state === wholeOf(state) || get(wholeOf(state), 'settled') !== true)
    vm.outbox.push({ kind: 'agent_reply', session: textOf(state, 'session'), line: stringify(response) });
}

/** The session's state; a handler beside it has one of its own. */
function wholeOf(state: State): State {
  const whole = get(state, 'of');
  return isMap(whole) ? whole : state;
}

/** A message that does not fit its handler's schema ends the session, unless the agent says to skip it. */
function invalid(vm: Vm, state: State, errors: readonly string[]): number {
  const message = stateOf(get(state, 'message'));
  const type = textOf(message, 'type');
  systemEvent(vm, 'listen:invalid', record({ type, errors: array([...errors]), message }));
  const text = `message "${type}" does not fit its schema: ${errors.join('; ')}`;
  if (expectsReply(message)) reply(vm, state, message, { error: text });
  const agent = agentOf(vm, textOf(state, 'agent'));
  const policy = agent.config.on_invalid ?? agent.manifest?.on_invalid;
  if (policy === 'skip' && get(state, 'observed') === true) return afterObserver(vm, state);
  if (policy === 'skip' && !TERMINAL.includes(type)) return ROUTE.again;
  const error = errorValue('AgentError', text, { kind: 'schema', agent: agent.name, details: array([...errors]) });
  close(vm, state, 'schema');
  return finish(vm, state, errValue(error));
}

function close(vm: Vm, state: State, reason: string): void {
  const session = textOf(state, 'session');
  if (session !== '' && !session.startsWith('mock:')) vm.outbox.push({ kind: 'agent_close', session, reason });
  set(state, 'session', '');
}

/** The outcome a `result` or `error` message stands for. */
function terminal(vm: Vm, state: State): Value {
  const message = stateOf(get(state, 'message'));
  const agent = textOf(state, 'agent');
  if (textOf(message, 'type') === 'error') {
    const said = get(message, 'message') ?? 'the agent reported an error';
    // As its session shows it.
    const text = typeof said === 'string' ? said : stringify(said);
    const parts = {
      kind: 'reported',
      agent,
      errorCode: get(message, 'code') ?? null,
      details: withoutType(message, false),
    };
    return errValue(errorValue('AgentError', text, parts));
  }
  const payload = withoutType(message, false);
  const type = get(state, 'type');
  if (typeof type === 'object' && type !== null && type.kind === 'type') return typedResult(vm, agent, payload, type);
  if (!isListen(state)) return okValue(resultText(payload));
  const declared = declaredResult(vm, state);
  return declared === undefined ? okValue(payload) : typedResult(vm, agent, payload, declared);
}

/** Of `listen … as T` or `execute_with_schema<T>`. */
function declaredResult(vm: Vm, state: State): ResultType | undefined {
  const text = listenOf(vm, state)?.result;
  return text === undefined ? undefined : { kind: 'type', text, type: parseType(text) };
}

/** `break v` in a handler: the agent is ended, and v, which must fit as a result must, is the outcome. */
function broken(vm: Vm, state: State, value: Value): number {
  close(vm, state, 'break');
  set(state, 'broken', value);
  const declared = declaredResult(vm, state);
  const given = share(value);
  return finish(
    vm,
    state,
    declared === undefined ? okValue(given) : typedResult(vm, textOf(state, 'agent'), given, declared),
  );
}

function finish(vm: Vm, state: State, result: Value): number {
  set(state, 'result', result);
  close(vm, state, 'done');
  rememberTurn(state, result);
  if (!isListen(state)) return ROUTE.finished;
  const agent = textOf(state, 'agent');
  if (isErr(result)) systemEvent(vm, 'listen:error', record({ agent, error: display(result.value) }));
  else systemEvent(vm, 'listen:complete', record({ agent }));
  return ROUTE.finished;
}

function rememberTurn(state: State, result: Value): void {
  const { options } = targetOf(get(state, 'target'));
  if (options.memory === undefined || options.remember === false || isErr(result)) return;
  const message = get(state, 'message');
  const payload = isMap(message) ? withoutType(message, false) : emptyMap();
  remember(options.memory, 'user', textOf(state, 'prompt'));
  remember(options.memory, 'assistant', resultText(state.entries.has('broken') ? get(state, 'broken') : payload));
}

/** state, value of the handler → a ROUTE. Handlers of `result`, `error`, `exit` and `stderr` only observe. */
const replied: Native = (stack, at, _count, vm) => {
  const state = stateOf(stack[at]);
  const message = stateOf(get(state, 'message'));
  if (get(state, 'observed') === true) return afterObserver(vm, state);
  if (TERMINAL.includes(textOf(message, 'type'))) return finish(vm, state, terminal(vm, state));
  const { value, failed } = answerOf(stack[at + 1]);
  if (failed) reply(vm, state, message, { error: typeof value === 'string' ? value : display(value) });
  else if (value !== null) reply(vm, state, message, { value });
  else if (expectsReply(message)) {
    if (!isSupervised(state)) systemEvent(vm, 'listen:unhandled', message);
    reply(vm, state, message, unanswered(state));
  }
  return ROUTE.again;
};

/** state, error → ROUTE.finished: an uncaught error in a handler ends the session. */
const handlerFailed: Native = (stack, at, _count, vm) => {
  const state = stateOf(stack[at]);
  const cause = stack[at + 1] ?? null;
  if (isSupervised(state)) return supervisorFailed(vm, state, cause);
  close(vm, state, 'handler');
  return finish(vm, state, handlerError(state, cause));
};

/** The session goes on without its word about this one, and asks it the next. */
function supervisorFailed(vm: Vm, state: State, cause: Value): number {
  const message = stateOf(get(state, 'message'));
  const error = display(cause);
  systemEvent(vm, 'listen:error', record({ message, error }));
  if (expectsReply(message)) reply(vm, state, message, { error });
  return ROUTE.again;
}

/** state, error → what a handler beside the session ends with: the error, unless the session goes on without it. */
const taskFailed: Native = (stack, at, _count, vm) => {
  const state = stateOf(stack[at]);
  const cause = stack[at + 1] ?? null;
  if (!isSupervised(state)) return handlerError(state, cause);
  supervisorFailed(vm, state, cause);
  return null;
};

function handlerError(state: State, cause: Value): Value {
  const type = textOf(stateOf(get(state, 'message')), 'type');
  const message = `the handler of "${type}" failed: ${display(cause)}`;
  const parts = { kind: 'handler', agent: textOf(state, 'agent'), source: share(cause) };
  return errValue(errorValue('AgentError', message, parts));
}

/** state, handlers → the closure that runs the handler beside the session, with a state of its own for this message. */
const handlerTask: Native = (stack, at, _count, vm) => {
  const state = stateOf(stack[at]);
  const target = vm.program.prelude.get('$listen_beside');
  assert(target !== undefined, 'a function that runs a handler beside its listen');
  const { closure, args } = callOf(vm, state, stack[at + 1], get(state, 'handler'));
  const own = record({ of: state });
  for (const name of ['target', 'agent', 'listen', 'message', 'session']) set(own, name, get(state, name));
  return { kind: 'closure', target, captures: [own, closure, args] };
};

/** state, handlers, index → [closure, arguments] for `$apply`. */
const handlerCall: Native = (stack, at, _count, vm) => {
  const { closure, args } = callOf(vm, stateOf(stack[at]), stack[at + 1], stack[at + 2]);
  return array([closure, args]);
};

function callOf(
  vm: Vm,
  state: State,
  handlers: Value,
  index: Value,
): { readonly closure: Value; readonly args: Value } {
  if (typeof handlers !== 'object' || handlers === null || handlers.kind !== 'array')
    throw wrong('handlers', 'a list', handlers);
  const closure = typeof index === 'number' ? handlers.items[index] : undefined;
  const params = typeof index === 'number' ? (listenOf(vm, state)?.handlers[index]?.params ?? 1) : 1;
  return { closure, args: array(params === 0 ? [] : [get(state, 'param')]) };
}

export const AGENT_INTERNALS = {
  ...SCRIPT_INTERNALS,
  $agent_begin: beginSession,
  $agent_open: { start: startOpen, finish: finishOpen },
  $agent_next: { start: startNext, finish: finishNext },
  $listen_started: started,
  $listen_route: route,
  $listen_call: handlerCall,
  $listen_replied: replied,
  $listen_failed: handlerFailed,
  $listen_task: handlerTask,
  $listen_broken: taskFailed,
  $agent_result: ((stack, at) => get(stateOf(stack[at]), 'result')) satisfies Native,
  $is_agent: ((stack, at) => {
    const value = stack[at];
    if (typeof value !== 'object' || value === null) return false;
    if (value.kind === 'ref') return value.of === 'agent';
    return value.kind === 'builder' && value.target.of === 'agent';
  }) satisfies Native,
};
