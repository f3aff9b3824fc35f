import { type Json, unreachable } from '@concerto/base';
import type { IrField, IrMcp, IrTool } from '@concerto/ir';
import * as z from 'zod';
import { PERMISSIONS } from '../check/check-permission.ts';
import { type ResourceRef, typeOf } from '../check/facts.ts';
import { ANY } from '../check/types.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { AgentItem, ConfigField, FunctionItem, McpItem, ModelItem, StoreItem, ToolItem } from '../syntax/item.ts';
import { constantJson, constantOf } from './constant-json.ts';
import { irField } from './declare-types.ts';
import { configJson, decoratorText, irDecorators } from './decorators.ts';
import { objectSchema } from './json-schema.ts';
import type { ModuleBuilder } from './module-builder.ts';
import { typeText } from './type-text.ts';

/** Models, agents, tools, MCP servers and stores. Pipelines have code and come later. */
export function declareResources(builder: ModuleBuilder, manifest: Manifest | undefined): void {
  for (const resource of builder.facts.resources) {
    const { item } = resource;
    switch (item.kind) {
      case 'ModelItem':
        declareModel(builder, resource, item);
        break;
      case 'AgentItem':
        declareAgent(builder, resource, item, manifest);
        break;
      case 'ToolItem':
        declareTool(builder, resource, item);
        break;
      case 'McpItem':
        declareMcp(builder, resource, item, manifest);
        break;
      case 'StoreItem':
        declareStore(builder, resource, item);
        break;
      case 'PipelineItem':
      case 'ConnectionItem':
        break;
      default:
        unreachable(item);
    }
  }
}

type Config = { [name: string]: Json };

function config(builder: ModuleBuilder, fields: readonly ConfigField[], ...apart: readonly string[]): Config {
  const entries = fields
    .filter((field) => !apart.includes(field.name.text))
    .map((field) => [field.name.text, configJson(builder, field.value)]);
  return Object.fromEntries(entries);
}

function textField(builder: ModuleBuilder, fields: readonly ConfigField[], name: string): string | undefined {
  const field = fields.find((candidate) => candidate.name.text === name);
  const value = field && configJson(builder, field.value);
  return typeof value === 'string' ? value : undefined;
}

function declareModel(builder: ModuleBuilder, resource: ResourceRef, item: ModelItem): void {
  const tools = item.fields.find((field) => field.name.text === 'tools');
  const listed = tools === undefined ? [] : configJson(builder, tools.value);
  const memory = textField(builder, item.fields, 'memory');
  builder.module.models.push({
    name: builder.resourceName(resource),
    connection: textField(builder, item.fields, 'provider') ?? '',
    config: config(builder, item.fields, 'provider', 'tools', 'memory'),
    tools: Array.isArray(listed) ? listed.filter((name) => typeof name === 'string') : [],
    ...(memory === undefined ? {} : { memory }),
    decorators: irDecorators(builder, item.decorators),
  });
}

function declareAgent(
  builder: ModuleBuilder,
  resource: ResourceRef,
  item: AgentItem,
  manifest: Manifest | undefined,
): void {
  const connector = textField(builder, item.fields, 'connector') ?? '';
  const { params, ...table } = { ...manifest?.agents[connector] };
  builder.module.agents.push({
    name: builder.resourceName(resource),
    connector,
    config: config(builder, item.fields, 'connector'),
    decorators: irDecorators(builder, item.decorators),
    ...(manifest?.agents[connector] === undefined ? {} : { manifest: plainJson(table) }),
    ...(params === undefined ? {} : { params: plainJson(params) }),
  });
}

/** A table of the manifest without the keys that were not written. */
export function plainJson(table: object): Config {
  return z.record(z.string(), z.json()).parse(JSON.parse(JSON.stringify(table)));
}

function declareTool(builder: ModuleBuilder, resource: ResourceRef, item: ToolItem): void {
  const name = builder.resourceName(resource);
  const fields: IrField[] = item.state.map((field) => ({
    ...irField(builder, field, undefined),
    type: 'Any',
  }));
  const struct = builder.module.structs.push({ name, kind: 'tool', fields }) - 1;
  builder.registerStruct(resource.path, struct);
  const methods: IrTool['methods'] = [];
  const table: { [method: string]: number } = {};
  for (const method of item.methods) {
    const index = builder.knownFunction(method.id);
    if (index === undefined) continue;
    if (method.self !== undefined) table[method.name.text] = index;
    const description = decoratorText(builder, method.decorators, 'describe');
    if (description === undefined) continue;
    const params = toolParameters(builder, method);
    methods.push({
      name: method.name.text,
      description,
      function: index,
      self: method.self !== undefined,
      params,
      parameters: objectSchema(builder.module, params),
      decorators: irDecorators(builder, method.decorators),
    });
  }
  builder.module.methods[name] = { ...builder.module.methods[name], ...table };
  const description = textField(builder, item.fields, 'description') ?? '';
  builder.module.tools.push({ name, description, struct, global: builder.toolGlobal(resource), methods });
}

/** `@param("name", "text")` describes a parameter. */
function toolParameters(builder: ModuleBuilder, method: FunctionItem): IrField[] {
  const described = new Map<string, string>();
  for (const decorator of method.decorators) {
    if (decorator.name.text !== 'param') continue;
    const [name, text] = decorator.arguments.map((arg) => configJson(builder, arg.value));
    if (typeof name === 'string' && typeof text === 'string') described.set(name, text);
  }
  return method.parameters.map((parameter) => {
    const constant = constantOf(builder, parameter.defaultValue);
    const description = described.get(parameter.name.text) ?? decoratorText(builder, parameter.decorators, 'describe');
    return {
      name: parameter.name.text,
      type: typeText(builder, builder.facts.locals.get(parameter.id)?.type ?? ANY),
      ...(parameter.defaultValue === undefined ? {} : { optional: true }),
      ...(constant === undefined ? {} : { default: constantJson(constant) }),
      ...(description === undefined ? {} : { description }),
    };
  });
}

function declareMcp(
  builder: ModuleBuilder,
  resource: ResourceRef,
  item: McpItem,
  manifest: Manifest | undefined,
): void {
  const name = builder.resourceName(resource);
  const table = manifest?.mcp[name];
  builder.module.mcp.push({
    name,
    config: { ...(table === undefined ? {} : plainJson(table)), ...config(builder, item.fields) },
    tools: [...item.methods.map((method) => declaredTool(builder, method)), ...askedTools(builder, item)],
  });
}

function declaredTool(builder: ModuleBuilder, method: FunctionItem): IrMcp['tools'][number] {
  const description = decoratorText(builder, method.decorators, 'describe');
  const written = decoratorText(builder, method.decorators, 'permission');
  const permission = PERMISSIONS.find((candidate) => candidate === written);
  return {
    name: method.name.text,
    ...(description === undefined ? {} : { description }),
    parameters: objectSchema(builder.module, toolParameters(builder, method)),
    returns: typeText(builder, builder.facts.mcpResults.get(method) ?? ANY),
    ...(permission === undefined ? {} : { permission }),
  };
}

/** What a server said it has, so that calls can name its arguments when it is not asked again. */
function askedTools(builder: ModuleBuilder, item: McpItem): IrMcp['tools'] {
  return (builder.facts.askedTools.get(item) ?? []).map(({ name, description, params, returns }) => ({
    name,
    ...(description === '' ? {} : { description }),
    parameters: objectSchema(
      builder.module,
      params.map((param) => ({ name: param.name, type: param.shape.type, optional: param.optional })),
    ),
    ...(returns === undefined ? {} : { returns: returns.type }),
  }));
}

function declareStore(builder: ModuleBuilder, resource: ResourceRef, item: StoreItem): void {
  const name = builder.resourceName(resource);
  const { hashmaps, ledgers, memories } = builder.module;
  switch (item.store) {
    case 'hashmap': {
      const type = typeOf(builder.facts, item.value);
      const [key = ANY, value = ANY] = type.kind === 'applied' ? type.args : [];
      hashmaps.push({ name, key: typeText(builder, key), value: typeText(builder, value) });
      return;
    }
    case 'ledger':
      ledgers.push({ name });
      return;
    case 'memory': {
      const limit = item.value.kind === 'CallExpression' ? item.value.arguments[0]?.value : undefined;
      const count = limit && configJson(builder, limit);
      memories.push(typeof count === 'number' && count > 0 ? { name, maxMessages: count } : { name });
      return;
    }
    default:
      unreachable(item.store);
  }
}
