import { assert } from '@concerto/base';
import { type IrAgent, type IrListen, SUPERVISED } from '@concerto/ir';
import { mockName } from '../builtins/functions.ts';
import { display } from '../display.ts';
import type { WorldError } from '../effects.ts';
import { type ErrorParts, errorValue, Fault, fault } from '../fault.ts';
import { fromJson, isList, toJson } from '../json.ts';
import type { Native, RequestFinish, RequestStart, Vm } from '../machine.ts';
import {
  array,
  errValue,
  type MapValue,
  NONE,
  type RefValue,
  record,
  type StructValue,
  some,
  type Value,
} from '../value.ts';
import { beginScript, nextScripted } from './agent-script.ts';
import { targetOf } from './model-target.ts';
import { answerOf, get, number, type State, stateOf, textOf } from './state.ts';

/** A session with an agent, or with the script of a mock: opening it and taking the next message. */

export function agentOf(vm: Vm, name: string): IrAgent {
  if (name === SUPERVISED) return SUPERVISED_AGENT;
  const agent = vm.program.module.agents.find((candidate) => candidate.name === name);
  assert(agent !== undefined, `an agent called ${name}`);
  return agent;
}

/** A session that somebody else opened: it has no declaration, and what does not fit a handler does not end it. */
const SUPERVISED_AGENT: IrAgent = { name: SUPERVISED, connector: '', config: { on_invalid: 'skip' }, decorators: [] };

/** target, listen index (-1 for execute), type, prompt → state. */
export const beginSession: Native = (stack, at, _count, vm) => {
  const { ref } = targetOf(stack[at]);
  if (ref.of !== 'agent' && !isSupervised(ref)) {
    throw fault(
      'TypeError',
      `listen needs an agent, and ${ref.name} is a ${ref.of}: use ${ref.name}.execute(…) without listen`,
    );
  }
  const listen = stack[at + 1];
  const index = typeof listen === 'number' ? listen : -1;
  return record({
    target: stack[at],
    agent: ref.name,
    listen: index,
    type: stack[at + 2] ?? null,
    prompt: promptText(stack[at + 3]),
    message: null,
    param: null,
    result: null,
    session: '',
    observed: false,
    exit: null,
    script: null,
    used: 0,
    turn: 0,
    reply: null,
    parallel: vm.program.module.listens[index]?.handlers.some((handler) => handler.parallel === true) ?? false,
    settled: false,
  });
};

function isSupervised({ of, name }: RefValue): boolean {
  return of === 'session' && name === SUPERVISED;
}

function promptText(value: Value): string {
  if (typeof value === 'object' && value !== null && value.kind === 'struct' && value.type.name === 'Prompt') {
    const messages = value.fields[value.type.slots.get('messages') ?? -1];
    if (typeof messages === 'object' && messages !== null && messages.kind === 'array') {
      return messages.items.map((item) => (isStruct(item) ? display(item.fields[1]) : display(item))).join('\n');
    }
  }
  return display(value ?? null);
}

function isMap(value: Value): value is MapValue {
  return typeof value === 'object' && value !== null && value.kind === 'map';
}

function isStruct(value: Value): value is StructValue {
  return typeof value === 'object' && value !== null && value.kind === 'struct';
}

export function listenOf(vm: Vm, state: State): IrListen | undefined {
  return vm.program.module.listens[number(state, 'listen')];
}

export function isListen(state: State): boolean {
  return number(state, 'listen') >= 0;
}

/** state → session id, or Err(AgentError). */
export const startOpen: RequestStart = ([value], vm) => {
  const state = stateOf(value);
  const { options } = targetOf(get(state, 'target'));
  const agent = agentOf(vm, textOf(state, 'agent'));
  const mock = vm.mocks.get(mockName(get(state, 'target')));
  if (mock !== undefined) {
    beginScript(state, mock);
    return { value: `mock:${agent.name}` };
  }
  return {
    request: {
      kind: 'agent_open',
      agent: agent.name,
      connector: agent.connector,
      config: { ...agent.manifest, ...agent.config },
      params: agent.params ?? null,
      prompt: textOf(state, 'prompt'),
      context: options.context === undefined ? undefined : toJson(options.context),
      timeoutSeconds: options.timeout ?? null,
      listen: isListen(state),
      stderr: listenOf(vm, state)?.handlers.some(({ keys }) => keys.includes('stderr')) ?? false,
      ...(agent.name === SUPERVISED ? { wants: listenOf(vm, state)?.handlers.flatMap(({ keys }) => keys) ?? [] } : {}),
    },
  };
};

export const finishOpen: RequestFinish = (answer, [value]) => {
  const state = stateOf(value);
  if (!answer.ok) return errValue(agentError(textOf(state, 'agent'), answer.error));
  return textOf(answerOf(fromJson(answer.value)), 'session');
};

export function agentError(agent: string, error: WorldError): StructValue {
  const details = fromJson(error.details);
  const exitCode = error.kind === 'exited' && isMap(details) ? get(details, 'code') : undefined;
  const parts: ErrorParts = {
    kind: error.kind ?? 'protocol',
    agent,
    errorCode: exitCode ?? fromJson(error.code),
    details,
  };
  return errorValue('AgentError', error.message, parts);
}

export const startNext: RequestStart = ([value], vm) => {
  const state = stateOf(value);
  const mock = vm.mocks.get(mockName(get(state, 'target')));
  if (mock !== undefined) return { value: nextScripted(state, mock) };
  return { request: { kind: 'agent_next', session: textOf(state, 'session') } };
};

/** The message as a map with its `type`, what was observed as a map without one, or Err(AgentError). */
export const finishNext: RequestFinish = (answer, [value]) => {
  const state = stateOf(value);
  if (!answer.ok) return errValue(agentError(textOf(state, 'agent'), answer.error));
  const { value: said } = answer;
  const message = typeof said === 'object' && said !== null && !isList(said) ? said.message : undefined;
  return message === undefined || message === null ? answerOf(fromJson(said)) : fromJson(message);
};

const startShutdown: RequestStart = ([value]) => {
  const { ref } = targetOf(value);
  return { request: { kind: 'agent_shutdown', agent: ref.name } };
};

/** What an agent announced: by the mock's field of that name, else by the agent itself. */
function announced(name: 'capabilities' | 'version', read: (found: Value) => Value) {
  const start: RequestStart = ([value], vm) => {
    const { ref } = targetOf(value);
    const mock = vm.mocks.get(mockName(value));
    if (mock !== undefined) return { value: read(mock.config.get(name)) };
    return { request: { kind: 'agent_about', agent: ref.name } };
  };
  const finish: RequestFinish = (answer, [value]) => {
    if (!answer.ok) throw new Fault(agentError(targetOf(value).ref.name, answer.error));
    return read(get(answerOf(fromJson(answer.value)), name));
  };
  return { start, finish };
}

function capabilityNames(found: Value): Value {
  const isList = typeof found === 'object' && found !== null && found.kind === 'array';
  return array(isList ? found.items.map(display) : []);
}

export const AGENT_ROWS = {
  'AgentRef.capabilities': announced('capabilities', capabilityNames),
  'AgentRef.version': announced('version', (found) =>
    found === undefined || found === null || found === NONE ? NONE : some(display(found)),
  ),
  'AgentRef.shutdown': { start: startShutdown, finish: (() => null) satisfies RequestFinish },
} as const;
