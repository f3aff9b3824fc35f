import { setTimeout as sleep } from 'node:timers/promises';
import { type Json, unreachable } from '@concerto/base';
import { performFile } from './perform-file.ts';
import { performHttp } from './perform-http.ts';
import { performModel } from './perform-model.ts';
import { performRandom } from './perform-random.ts';
import type { ProgramAgents } from './program-agents.ts';
import type { ProgramStreams } from './program-streams.ts';
import { answerJson, type ProgramRequest, type RequestContext, WorldFailure } from './program-world.ts';

/** What lives longer than one request. */
export type RequestRooms = { readonly agents: ProgramAgents; readonly streams: ProgramStreams };

export async function performRequest(
  request: ProgramRequest,
  context: RequestContext,
  rooms: RequestRooms,
): Promise<Json> {
  const { world, signal } = context;
  switch (request.kind) {
    case 'ask':
      return world.ask(request.channel, request.payload, signal);
    case 'flush':
      return null;
    case 'sleep':
      await sleep(Math.max(0, request.ms), undefined, { signal });
      return null;
    case 'now':
      return Date.now();
    case 'random':
      return performRandom(request);
    case 'env':
      return request.name === null ? definedVariables(world.environment) : (world.environment[request.name] ?? null);
    case 'file':
      return performFile(request, world.directory);
    case 'http':
      return performHttp(request, signal);
    case 'model': {
      const answer = await performModel(request, context);
      return request.stream ? rooms.streams.open(answer) : answerJson(answer);
    }
    case 'model_next':
      return rooms.streams.next(request.stream);
    case 'mcp_call':
    case 'mcp_tools':
      throw new WorldFailure('unavailable', `MCP server "${request.server}" cannot be reached from here`);
    case 'agent_open':
      return rooms.agents.open(request, signal);
    case 'agent_next':
      return rooms.agents.next(request.session, signal);
    case 'agent_shutdown':
      await rooms.agents.shutdown(request.agent);
      return null;
    default:
      return unreachable(request);
  }
}

function definedVariables(environment: Readonly<Record<string, string | undefined>>): Json {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
}
