import type { Json } from '@concerto/base';
import type { ModelAnswer, ModelRequest } from '@concerto/vm';
import { mockAnswer } from './mock-model.ts';
import { type ProgramConnection, type RequestContext, WorldFailure } from './program-world.ts';

/** One turn with a model: the offline mock, or whoever the world brings. A missing key is an error, never a mock. */
export async function performModel(request: ModelRequest, context: RequestContext): Promise<ModelAnswer> {
  const { world, signal } = context;
  const connection = findConnection(context, request.connection);
  const named = withModelName(request, connection);
  if (world.mockModels || connection?.provider === 'mock') return mockAnswer(named);
  if (connection === undefined) {
    throw new WorldFailure(
      'connection',
      `model ${request.model}: there is no connection "${request.connection}"; add [connections.${request.connection}] to Concerto.toml`,
    );
  }
  const { api_key_env: variable } = connection;
  if (typeof variable === 'string' && (world.environment[variable] ?? '') === '') {
    throw new WorldFailure(
      'auth',
      `model ${request.model}: the key of connection "${request.connection}" is missing; set ${variable}, or run with --mock`,
    );
  }
  if (world.callModel === undefined) {
    throw new WorldFailure(
      'unavailable',
      `model ${request.model}: no provider can be reached from here; run with --mock`,
    );
  }
  return world.callModel(named, connection, signal);
}

function findConnection({ module }: RequestContext, name: string): ProgramConnection | undefined {
  const connections = module.manifest?.connections;
  if (!isTable(connections)) return undefined;
  const found = Object.hasOwn(connections, name) ? connections[name] : undefined;
  return isTable(found) ? found : undefined;
}

/** `base` may be an alias of the connection; without it the connection's default counts. */
function withModelName(request: ModelRequest, connection: ProgramConnection | undefined): ModelRequest {
  const written = request.config.base ?? connection?.default_model;
  const aliases = connection?.models;
  const alias = typeof written === 'string' && isTable(aliases) ? aliases[written] : undefined;
  const base = alias ?? written;
  return base === undefined ? request : { ...request, config: { ...request.config, base } };
}

function isTable(data: Json | undefined): data is { readonly [key: string]: Json } {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}
