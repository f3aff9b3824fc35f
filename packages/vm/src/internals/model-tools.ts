import { assert } from '@concerto/base';
import { parseType } from '@concerto/ir';
import { share } from '../copy-on-write.ts';
import { display } from '../display.ts';
import { fault } from '../fault.ts';
import { stringify } from '../json.ts';
import type { Native } from '../machine.ts';
import { conform } from '../schema.ts';
import { array, emptyMap, record, type Value } from '../value.ts';
import { get, items, stateOf, textOf } from './state.ts';

/** state, call → [function, arguments] for a tool of the program, [server, tool, arguments] for MCP. */
export const toolTarget: Native = (stack, at, _count, vm) => {
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
export const toolDone: Native = (stack, at, _count, vm) => {
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
