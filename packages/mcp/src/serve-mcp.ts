import type { ConcertoClient } from '@concerto/client';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { serveSubscriptions, watchResources } from './resource-updates.ts';
import { registerSessions } from './session-resources.ts';
import { registerTasks, tasksExtension } from './session-tasks.ts';
import { registerTools } from './session-tools.ts';
import { Waits } from './waits.ts';

export type About = { readonly version: string };
export type Serving = About & { readonly subscribe: boolean; readonly waits: Waits };

const instructions =
  'Start agents and follow, steer, answer and stop them. `run_session` starts one and waits; `start_session` only starts it; `wait_for_session` waits until it is done or asks something; `answer_request` answers.';

/** A server that does what its caller may do, as whoever's token the client has. */
export function mcpServerFor(client: ConcertoClient, { version, subscribe, waits }: Serving): McpServer {
  const capabilities = {
    resources: { subscribe, listChanged: false },
    tools: { listChanged: false },
    extensions: { [tasksExtension]: {} },
  };
  const server = new McpServer({ name: 'concerto', version, title: 'Concerto' }, { instructions, capabilities });
  registerTools(server, client, waits);
  registerTasks(server, client);
  registerSessions(server, client);
  return server;
}

/** On standard input and output, until the other side leaves. */
export async function mcpOverStdio(
  client: ConcertoClient,
  about: About & { readonly signal: AbortSignal },
): Promise<void> {
  const left = new AbortController();
  const signal = AbortSignal.any([left.signal, about.signal]);
  const waits = new Waits();
  const handle = serveStdio(({ era }) => {
    const server = mcpServerFor(client, { ...about, subscribe: true, waits });
    if (era === 'legacy') serveSubscriptions(server, client, signal);
    // The newer protocol knows itself what was asked for.
    else
      void watchResources(client, signal, (uri) => {
        server.server.sendResourceUpdated({ uri }).catch(() => undefined);
      });
    return server;
  });
  process.stdin.once('end', () => left.abort());
  process.stdin.once('close', () => left.abort());
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });
  await waits.end();
  await handle.close();
}
