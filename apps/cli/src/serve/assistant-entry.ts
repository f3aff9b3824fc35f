import { nearest, ok } from '@concerto/base';
import type { Manifest, ManifestAssistant } from '@concerto/language';
import type { Models } from '@concerto/models';
import {
  type AssistantFunctionName,
  assistantFunctionNames,
  type CatalogEntry,
  readOutputSchema,
} from '@concerto/runtime';

type Surroundings = {
  readonly manifest: Manifest;
  readonly folder: string;
  readonly models: Models;
  readonly runs: boolean;
};

/** `[assistants.NAME]` as something a session can be started with. */
export function assistantEntry(name: string, { manifest, folder, models, runs }: Surroundings): CatalogEntry {
  const assistant = manifest.assistants[name];
  if (assistant === undefined) throw new Error(`there is no [assistants.${name}]`);
  const { connection, model, system, mode, temperature, tools, timeout, description, accepts, effort } = assistant;
  const { servers, ...rules } = Array.isArray(tools) ? { servers: tools } : tools;
  const functions = assistant.functions.filter(isFunction);
  const schema =
    assistant.output_schema === undefined ? ok(undefined) : readOutputSchema(assistant.output_schema, mode);
  const fault = (): string | undefined =>
    unknownFunction(assistant.functions) ??
    models.fault(connection, model)?.message ??
    unknownServer(servers, manifest) ??
    unknownAgent(assistant.agents, manifest) ??
    (schema.ok ? undefined : `output_schema ${schema.error}`);
  return {
    kind: 'assistant',
    name,
    spec: {
      models,
      connection,
      mode,
      functions,
      agents: assistant.agents,
      servers: Array.isArray(servers) ? declared(servers, manifest) : servers,
      directory: folder,
      ...rules,
      model,
      system,
      temperature,
      accepts,
      effort,
      outputSchema: schema.ok ? schema.value : undefined,
      contextTokens: assistant.context_tokens,
      maxSteps: assistant.max_steps,
      maxTokens: assistant.max_tokens,
    },
    ...(description === undefined ? {} : { description }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }),
    ...(assistant.per_session.length === 0 ? {} : { perSession: assistant.per_session }),
    ...(runs ? { fault } : {}),
  };
}

function declared(names: readonly string[], { mcp }: Manifest): Readonly<Record<string, unknown>> {
  return Object.fromEntries(names.map((name) => [name, mcp[name]]));
}

function unknownServer(servers: readonly string[] | object, { mcp }: Manifest): string | undefined {
  const unknown = Array.isArray(servers) ? servers.find((name: string) => !Object.hasOwn(mcp, name)) : undefined;
  return unknown === undefined
    ? undefined
    : `there is no MCP server "${unknown}"; add [mcp.${unknown}] to Concerto.toml`;
}

/** A name that is a function's too would be called in its place. */
function unknownAgent(names: readonly string[], { agents, assistants, programs }: Manifest): string | undefined {
  const known = [agents, assistants, programs].flatMap((table) => Object.keys(table));
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const meant = nearest(unknown, known);
    const hint = meant === undefined ? `add [agents.${unknown}] to Concerto.toml` : `did you mean "${meant}"?`;
    return `there is no agent, assistant or program "${unknown}"; ${hint}`;
  }
  const twice = names.find(isFunction);
  return twice === undefined ? undefined : `"${twice}" is a built-in function: call the agent otherwise`;
}

function unknownFunction(names: ManifestAssistant['functions']): string | undefined {
  const unknown = names.find((name) => !isFunction(name));
  if (unknown === undefined) return undefined;
  const meant = nearest(unknown, assistantFunctionNames);
  const hint = meant === undefined ? `there are ${assistantFunctionNames.join(', ')}` : `did you mean "${meant}"?`;
  return `there is no function "${unknown}"; ${hint}`;
}

function isFunction(name: string): name is AssistantFunctionName {
  return assistantFunctionNames.some((known) => known === name);
}
