import { overviewStream } from '@concerto/runtime';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { checkCursor, readCursor } from '../cursor.ts';
import { streamEvents, streamHeaders } from '../event-stream.ts';
import { readFlag } from '../query-choice.ts';
import type { OnNode, ServerContext } from '../server-context.ts';

const pageRows = 500;

/** One stream for a watcher of everything. */
export function overviewRoutes(context: ServerContext): Hono<OnNode> {
  const routes = new Hono<OnNode>();
  routes.get('/events', async (c) => {
    const tree = readFlag(c, 'tree') === true;
    const rows = readFlag(c, 'rows') !== false;
    const given = c.req.query('after') ?? c.req.header('last-event-id');
    const head = await context.log.head(overviewStream, 'events');
    const after = given === undefined ? head : readCursor(c);
    checkCursor(after, head);
    if (c.req.method === 'HEAD') return new Response(null, { headers: streamHeaders });
    const wantsRows = given === undefined && rows;
    // The position was read before the rows: what changes meanwhile is told again, never missed.
    const preface = wantsRows ? await currentRows(context, head, tree) : undefined;
    const stream = {
      session: overviewStream,
      wire: tree ? 'session' : 'roots',
      after,
      reader: c.get('person'),
      ...(preface === undefined ? {} : { preface }),
    } as const;
    await streamEvents(context.feeds, stream, c.env.outgoing);
    return RESPONSE_ALREADY_SENT;
  });
  return routes;
}

async function currentRows({ sessions }: ServerContext, head: number, tree: boolean): Promise<Buffer> {
  const at = new Date().toISOString();
  let text = '';
  let cursor: string | undefined;
  do {
    const page = await sessions.list({ limit: pageRows, tree, ...(cursor === undefined ? {} : { cursor }) });
    for (const summary of page.sessions) {
      text += `id: ${head}\ndata: ${JSON.stringify({ type: 'session', summary, at, seq: head })}\n\n`;
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return Buffer.from(text);
}
