import type { Entry, EventLog, Page } from '@concerto/log';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { checkCursor, readCursor, readLimit } from '../cursor.ts';
import { entriesThatFit, firstPageEntries, gapEvent, gapOf } from '../event-feed.ts';
import { endedStream, streamEvents, streamHeaders } from '../event-stream.ts';
import { type Wire, wires } from '../event-wires.ts';
import { readWord } from '../query-choice.ts';
import type { OnNode, ServerContext } from '../server-context.ts';
import { found } from './session-routes.ts';

export function eventRoutes(context: ServerContext): Hono<OnNode> {
  const routes = new Hono<OnNode>();
  routes.get(
    '/:id/events',
    async (c) => await serveEvents(context, c, { session: c.req.param('id'), wire: 'session' }),
  );
  return routes;
}

/** Live by default; `?format=json` gives one page instead. */
export async function serveEvents(
  context: ServerContext,
  c: Context<OnNode>,
  target: { readonly session: string; readonly wire: Wire },
): Promise<Response> {
  const after = readCursor(c);
  const isPage = readWord(c, 'format', 'json');
  found((await context.sessions.exists(target.session)) ? true : undefined, c);
  const head = await context.log.head(target.session, 'events');
  checkCursor(after, head);
  if (isPage) return await page(context, c, { ...target, after });
  // A stream has no end while the session lives, and HEAD has no body: it must not wait for one.
  if (c.req.method === 'HEAD') return new Response(null, { headers: streamHeaders });
  if (after === head && (await isOver(context, target.session, head))) return endedStream();
  await streamEvents(context.feeds, { ...target, after, reader: c.get('person') }, c.env.outgoing);
  return RESPONSE_ALREADY_SENT;
}

/** A page is whole in memory, here and at the caller's: events that are long make it shorter, and `more` says so. */
const pageBytesMax = 16 * 1024 * 1024;

async function readPage(
  log: EventLog,
  { session, after }: { readonly session: string; readonly after: number },
  limit: number,
): Promise<Page> {
  const entries: Entry[] = [];
  for (let bytes = 0, batch = firstPageEntries; ; ) {
    const page = await log.read({
      session,
      stream: 'events',
      after: entries.at(-1)?.position ?? after,
      limit: Math.min(batch, limit - entries.length),
    });
    entries.push(...page.entries);
    bytes += page.entries.reduce((sum, entry) => sum + entry.data.length, 0);
    if (page.entries.length === 0 || entries.length >= limit || bytes >= pageBytesMax) return { ...page, entries };
    batch = entriesThatFit(page.entries);
  }
}

/** `finish` is the last event there will ever be. */
async function isOver({ log }: ServerContext, session: string, head: number): Promise<boolean> {
  if (head === 0) return false;
  const { entries } = await log.read({ session, stream: 'events', after: head - 1, limit: 1 });
  return entries[0]?.type === 'finish';
}

async function page(
  { log }: ServerContext,
  c: Context,
  target: { readonly session: string; readonly wire: Wire; readonly after: number },
): Promise<Response> {
  const limit = readLimit(c, { fallback: 500, max: 5_000 });
  const read = await readPage(log, target, limit);
  const { isShown, before } = await wires[target.wire](log, target.session).shows(read);
  const shown = read.entries.filter(isShown).flatMap((entry) => [before?.(entry) ?? [], entry.data].flat());
  const missing = gapOf(read, target.after);
  const position = read.entries.at(-1)?.position ?? missing?.to ?? target.after;
  const more = position < read.head;
  const gap = missing === undefined ? [] : [gapEvent(missing)];
  // The stored texts are the answer's texts: joined, never parsed.
  const events = [...gap, ...shown].join(',');
  return new Response(`{"events":[${events}],"position":${position},"more":${more}}`, {
    headers: { 'content-type': 'application/json' },
  });
}
