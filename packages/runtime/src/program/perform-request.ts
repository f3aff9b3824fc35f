import { setTimeout as sleep } from 'node:timers/promises';
import { type Json, unreachable } from '@concerto/base';
import type { Clock } from '../ports.ts';
import type { ProgramRequest } from './machine/machine.ts';
import { performFile } from './perform-file.ts';
import { performHttp } from './perform-http.ts';
import { performRandom } from './perform-random.ts';
import type { ProgramAgents } from './program-agents.ts';
import type { ProgramModels } from './program-models.ts';
import { type ProgramWorld, WorldFailure } from './program-world.ts';

/** What lives longer than one request. */
export type RequestRooms = {
  readonly world: ProgramWorld;
  readonly agents: ProgramAgents;
  readonly models: ProgramModels;
};

/** `signal` aborts when nobody waits for the answer any more. An agent's next message is not asked for here. */
export async function performRequest(
  request: Exclude<ProgramRequest, { kind: 'agent_next' }>,
  { world, agents, models }: RequestRooms,
  signal: AbortSignal,
): Promise<Json> {
  const refused = world.refuses?.(request);
  if (refused !== undefined) throw new WorldFailure('refused', refused);
  switch (request.kind) {
    case 'ask':
      return world.ask(request.channel, request.payload, signal, request.id);
    case 'flush':
      return null;
    case 'sleep':
      await slept(Math.max(0, request.ms), world.clock, signal);
      return null;
    case 'now':
      return world.clock?.now() ?? Date.now();
    case 'random':
      return performRandom(request);
    case 'env':
      return request.name === null ? definedVariables(world.environment) : (world.environment[request.name] ?? null);
    case 'file':
      return performFile(request, world.directory);
    case 'http':
      return performHttp(request, signal, listedHosts(world.environment));
    case 'model':
      return models.ask(request, signal);
    case 'model_next':
      return models.next(request.stream, signal);
    case 'mcp_call':
      return models.callTool(request, signal);
    case 'mcp_tools':
      return models.tools(request.server, signal);
    case 'agent_open':
      return agents.open(request, signal);
    case 'agent_about':
      return agents.about(request.agent, signal);
    case 'agent_shutdown':
      await agents.shutdown(request.agent);
      return null;
    case 'session':
      if (world.session === undefined) {
        throw new WorldFailure('unsupported', 'a test has no sessions');
      }
      return await world.session(request);
    default:
      return unreachable(request);
  }
}

/** Of this machine or its network, that programs may ask for somebody else. */
function listedHosts({ CONCERTO_HTTP_HOSTS: listed = '' }: Readonly<Record<string, string | undefined>>): string[] {
  return listed.split(',').flatMap((host) => (host.trim() === '' ? [] : [host.trim().toLowerCase()]));
}

function definedVariables(environment: Readonly<Record<string, string | undefined>>): Json {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
}

async function slept(ms: number, clock: Clock | undefined, signal: AbortSignal): Promise<void> {
  if (clock === undefined) return await sleep(ms, undefined, { signal });
  await new Promise<void>((resolve) => {
    const cancel = clock.at(clock.now() + ms, resolve);
    signal.addEventListener('abort', cancel, { once: true });
  });
}
