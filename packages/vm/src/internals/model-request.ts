import type { Json, JsonObject } from '@concerto/base';
import type { IrModel, IrTool } from '@concerto/ir';
import { wrong } from '../builtins/arguments.ts';
import type { ModelMessage, ModelRequest, ModelTool } from '../effects.ts';
import { toJson } from '../json.ts';
import type { Vm } from '../machine.ts';
import { topLevelSchema } from '../schema.ts';
import type { BuilderOptions, Value } from '../value.ts';
import { cacheMs, timeoutMs } from './decorators.ts';
import { modelOf, targetOf } from './model-target.ts';
import { get, items, type State, stateOf, textOf } from './state.ts';

/** What one turn sends to a model. */
export function modelRequest(vm: Vm, state: State): ModelRequest {
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
    cacheMs: cacheMs(model.decorators),
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
