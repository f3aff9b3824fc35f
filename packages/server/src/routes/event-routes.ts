import { isAgentEventType } from '@concerto/protocol';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { checkCursor, readCursor, readLimit } from '../cursor.ts';
import type { Wire } from '../event-feed.ts';
import { streamEvents } from '../event-stream.ts';
import type { ServerContext } from '../server-context.ts';
import { found } from './session-routes.ts';

type Node = { Bindings: HttpBindings };

export function eventRoutes(context: ServerContext): Hono<Node> {
  const routes = new Hono<Node>();
  routes.get(
    '/:id/events',
    async (c) => await serveEvents(context, c, { session: c.req.param('id'), wire: 'session' }),
  );
  return routes;
}

/** Live by default; `?format=json` gives one page instead. */
export async function serveEvents(
  context: ServerContext,
  c: Context<Node>,
  target: { readonly session: string; readonly wire: Wire },
): Promise<Response> {
  const after = readCursor(c);
  found((await context.sessions.exists(target.session)) ? true : undefined, c);
  checkCursor(after, await context.log.head(target.session, 'events'));
  if (c.req.query('format') === 'json') return await page(context, c, { ...target, after });
  await streamEvents(context.feeds, { ...target, after }, c.env.outgoing);
  return RESPONSE_ALREADY_SENT;
}

async function page(
  { log }: ServerContext,
  c: Context,
  target: { readonly session: string; readonly wire: Wire; readonly after: number },
): Promise<Response> {
  const limit = readLimit(c, { fallback: 500, max: 5_000 });
  const read = await log.read({ session: target.session, stream: 'events', after: target.after, limit });
  const entries = target.wire === 'run' ? read.entries.filter((entry) => isAgentEventType(entry.type)) : read.entries;
  const position = read.entries.at(-1)?.position ?? target.after;
  const more = position < read.head;
  // The stored texts are the answer's texts: joined, never parsed.
  const events = entries.map((entry) => entry.data).join(',');
  return new Response(`{"events":[${events}],"position":${position},"more":${more}}`, {
    headers: { 'content-type': 'application/json' },
  });
}
