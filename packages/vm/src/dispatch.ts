import type { Json } from '@concerto/base';
import { type BuiltinName, builtinMethods, type IrMcp } from '@concerto/ir';
import { display, messageOf, typeName } from './display.ts';
import { fault } from './fault.ts';
import { implementation } from './implementations.ts';
import { fromJson } from './json.ts';
import type { Implementation, Vm } from './machine.ts';
import type { LinkedFunction } from './program.ts';
import { emptyMap, type RefValue, stringKey, type Value } from './value.ts';

/** What a call runs. */
export type Callee =
  | Implementation
  | {
      readonly kind: 'function';
      readonly name: string;
      readonly target: LinkedFunction;
      readonly captures: readonly Value[];
    }
  /** Something callable that is itself the first argument. */
  | { readonly kind: 'bound'; readonly receiver: Value; readonly target: Implementation }
  | { readonly kind: 'field'; readonly value: Value };

/** What calling a value runs: a closure, a built-in, a model (`M("hi")` is `M.execute("hi")`). */
export function calleeOf(value: Value): Exclude<Callee, { kind: 'field' }> {
  if (typeof value === 'object' && value !== null) {
    switch (value.kind) {
      case 'closure':
        return { kind: 'function', name: value.target.name, target: value.target, captures: value.captures };
      case 'builtin':
        return implementation(value.name);
      case 'ref':
        if (value.of === 'model' || value.of === 'agent') {
          return {
            kind: 'bound',
            receiver: value,
            target: implementation(value.of === 'model' ? 'ModelRef.execute' : 'AgentRef.execute'),
          };
        }
        if (value.of === 'pipeline')
          return { kind: 'bound', receiver: value, target: implementation('PipelineRef.run') };
        break;
      case 'builder':
        return { kind: 'bound', receiver: value, target: implementation('Builder.execute') };
      default:
        break;
    }
  }
  throw fault('TypeError', `${typeName(value)} is not a function`);
}

/** The method a receiver has: of its type, then built in, then a function in a field. */
export function findMethod(vm: Vm, receiver: Value, name: string): Exclude<Callee, { kind: 'bound' }> {
  const type = methodType(receiver);
  const own = vm.program.methods.get(type)?.get(name);
  if (own !== undefined) return { kind: 'function', name: own.name, target: own, captures: [] };
  const general = typeName(receiver);
  const ownGeneral = general === type ? undefined : vm.program.methods.get(general)?.get(name);
  if (ownGeneral !== undefined) return { kind: 'function', name: ownGeneral.name, target: ownGeneral, captures: [] };
  // Asked for as `Trait::method`, of a value that nobody checked: it may have a method of that name all the same.
  const qualified = name.lastIndexOf('::');
  if (qualified >= 0) return findMethod(vm, receiver, name.slice(qualified + 2));
  const builtin = builtinMethod(receiver, name);
  if (builtin !== undefined) return implementation(builtin);
  const held = functionIn(receiver, name);
  if (held !== undefined) return { kind: 'field', value: held };
  if (isMcp(receiver)) return mcpMethod(name);
  // A present optional value is held bare: it still has the methods of Option.
  const optional = builtinMethods('Option').get(name) ?? builtinMethods('Any').get(name);
  if (optional !== undefined) return implementation(optional);
  throw fault('TypeError', `${describe(receiver)} has no method '${name}'`, { kind: 'no_method' });
}

function isMcp(value: Value): value is RefValue {
  return typeof value === 'object' && value !== null && value.kind === 'ref' && value.of === 'mcp';
}

/** `Server.tool(args)`: a method of an MCP server is a call of that tool; a declared one gives its arguments names. */
function mcpMethod(name: string): Implementation {
  const call = implementation('McpRef.call');
  if (call.kind !== 'request') return call;
  return {
    ...call,
    min: 1,
    max: 65,
    start: ([server, ...args], vm) => {
      const tool = declaredTool(vm, server, name);
      // One that is not declared takes a map.
      const given = tool === undefined ? args[0] : namedArguments(tool, args);
      const started = call.start([server, name, given], vm);
      if (!('request' in started) || started.request.kind !== 'mcp_call' || tool?.returns === undefined) return started;
      return { request: { ...started.request, returns: tool.returns } };
    },
  };
}

type DeclaredTool = IrMcp['tools'][number];

function declaredTool(vm: Vm, server: Value, name: string): DeclaredTool | undefined {
  if (!isMcp(server)) return undefined;
  const declared = vm.program.module.mcp.find((candidate) => candidate.name === server.name);
  return declared?.tools.find((candidate) => candidate.name === name);
}

function namedArguments(tool: DeclaredTool, args: readonly Value[]): Value {
  const given = emptyMap();
  parametersOf(tool.parameters).forEach(([param, schema], index) => {
    const value = args[index] === undefined ? declaredDefault(schema) : args[index];
    // None is an argument that is left out: to most servers null is something else.
    if (value !== undefined && !isNone(value)) given.entries.set(stringKey(param), value);
  });
  return given;
}

function parametersOf(parameters: Json): readonly (readonly [string, Json])[] {
  if (typeof parameters !== 'object' || parameters === null || !('properties' in parameters)) return [];
  return Object.entries(parameters.properties ?? {});
}

function isNone(value: Value): boolean {
  return typeof value === 'object' && value !== null && value.kind === 'none';
}

/** What the block declares is sent: the server may have another default, or none. */
function declaredDefault(schema: Json): Value {
  if (typeof schema !== 'object' || schema === null || !('default' in schema)) return undefined;
  return fromJson(schema.default);
}

function describe(value: Value): string {
  if (value === null || value === undefined) return 'nil';
  return typeName(value) === 'Function' ? display(value) : typeName(value);
}

/** Under which name a program's own methods are kept. */
function methodType(value: Value): string {
  if (typeof value === 'object' && value !== null) {
    if (value.kind === 'struct' || value.kind === 'enum') return value.type.name;
    if (value.kind === 'ref') return value.name;
    if (value.kind === 'builder') return value.target.name;
  }
  return typeName(value);
}

function builtinMethod(value: Value, name: string): BuiltinName | undefined {
  if (messageOf(value) === undefined) return builtinMethods(typeName(value)).get(name);
  return builtinMethods('Error').get(name) ?? builtinMethods('String').get(name);
}

function functionIn(value: Value, name: string): Value {
  if (typeof value !== 'object' || value === null) return undefined;
  let held: Value;
  if (value.kind === 'map') held = value.entries.get(stringKey(name));
  else if (value.kind === 'struct') held = value.fields[value.type.slots.get(name) ?? -1] ?? value.extra?.get(name);
  return held ?? undefined;
}
