import { AsyncLocalStorage } from 'node:async_hooks';
import { type ConcertoClient, concertoClient } from '@concerto/client';
import { createMcpHandler, isLegacyRequest, type ServerEventBus } from '@modelcontextprotocol/server';
import { HttpSessions } from './http-sessions.ts';
import { watchResources } from './resource-updates.ts';
import { type About, mcpServerFor } from './serve-mcp.ts';
import { Waits } from './waits.ts';

/** One call of the streamable HTTP transport; `authorization` is the caller's own. */
export type McpDoor = {
  readonly answer: (request: Request, authorization: string | undefined) => Promise<Response>;
  readonly close: () => Promise<void>;
};

/** Everything that is asked is a call of the API with the caller's own token: what it may not do there, it may not here. */
export function mcpOverHttp(about: About & { readonly url: () => string }): McpDoor {
  const callers = new AsyncLocalStorage<ConcertoClient>();
  const clientFor = (token: string | undefined): ConcertoClient =>
    concertoClient({ url: about.url(), ...(token === undefined ? {} : { token }) });
  const callerOf = (): ConcertoClient => callers.getStore() ?? clientFor(undefined);
  const waits = new Waits();
  const serving = { version: about.version, waits };
  const sessions = new HttpSessions(serving);
  // One that opens no connection of 2025-11-25 has nowhere to hear of changes; one of 2026-07-28 listens on its own.
  const handler = createMcpHandler(({ era }) => mcpServerFor(callerOf(), { ...serving, subscribe: era === 'modern' }), {
    bus: busOf(callerOf),
  });
  return {
    answer: async (request, authorization) => {
      const given = authorization ?? request.headers.get('authorization') ?? '';
      const token = /^Bearer\s+(.+)$/i.exec(given)?.[1];
      const client = clientFor(token);
      return await callers.run(client, async () => {
        const held = (await isLegacyRequest(request)) ? await sessions.answer(request, { token, client }) : undefined;
        return held ?? (await handler.fetch(request));
      });
    },
    close: async () => {
      await waits.end();
      await sessions.close();
      await handler.close();
    },
  };
}

/** Whoever listens watches with a token of its own; nothing is published between them. */
function busOf(callerOf: () => ConcertoClient): ServerEventBus {
  return {
    publish: () => undefined,
    subscribe: (listener) => {
      const left = new AbortController();
      void watchResources(callerOf(), left.signal, (uri) => listener({ kind: 'resource_updated', uri }));
      return () => left.abort();
    },
  };
}
