import type { Page } from '@concerto/log';
import { nextCursor, placeHeaders, positionOf, type StreamPlace } from '@concerto/wires';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { entriesThatFit, firstPageEntries } from '../event-feed.ts';
import { goneUpTo, type SharedStream, streamWire, tellStream } from '../folded-wires.ts';
import type { LogTail } from '../log-tails.ts';
import { ProblemError } from '../problem.ts';
import type { OnNode, ServerContext } from '../server-context.ts';
import { SharedFolds } from '../shared-fold.ts';
import { writeStream } from '../wire-stream.ts';
import { found } from './session-routes.ts';

/** How long a long poll waits before it says that there is nothing new. */
const longPollMs = 20_000;

const common = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' };

/** Durable Streams, the reading half: a session's events as a stream of JSON that is closed when the session is over. */
export function streamRoutes(context: ServerContext): Hono<OnNode> {
  const waitMs = context.longPollMs ?? longPollMs;
  const routes = new Hono<OnNode>();
  const folds = new SharedFolds(streamWire);
  routes.get('/sessions/:id', async (c) => {
    const session = c.req.param('id');
    found((await context.sessions.exists(session)) ? true : undefined, c);
    const reader = new StreamReader(context, session);
    const head = await context.log.head(session, 'events');
    if (c.req.method === 'HEAD') return await headAnswer(reader, head);
    const live = c.req.query('live');
    if (live !== undefined && live !== 'long-poll' && live !== 'sse') {
      throw new ProblemError(400, 'bad_live', '`live` is "long-poll" or "sse"');
    }
    const from = readOffset(c, head, live !== undefined);
    if (live === undefined) return await catchUp(c, reader, from);
    return await context.tails.with(session, async (tail) =>
      live === 'sse'
        ? await serveFrames(context, c, { reader, shared: folds.of(tail), from })
        : await longPoll(c, { reader, tail, from }, waitMs),
    );
  });
  return routes;
}

function readOffset(c: Context, head: number, isLive: boolean): number {
  const given = c.req.queries('offset') ?? [];
  const [offset] = given;
  if (given.length > 1) throw new ProblemError(400, 'bad_offset', '`offset` is given once');
  if (offset === undefined && isLive)
    throw new ProblemError(400, 'bad_offset', '`live` needs an `offset`; "-1" is the beginning');
  const position = positionOf(offset ?? '-1', head);
  if (position === undefined) throw new ProblemError(400, 'bad_offset', `${JSON.stringify(offset)} is not an offset`);
  return position;
}

type Batch = StreamPlace & { readonly texts: readonly string[] };

class StreamReader {
  readonly #context: ServerContext;
  readonly #session: string;
  #limit = firstPageEntries;

  constructor(context: ServerContext, session: string) {
    this.#context = context;
    this.#session = session;
  }

  async read(after: number): Promise<Batch> {
    const page = await this.#page(after, this.#limit);
    if (page.oldest > after + 1) throw goneUpTo(page.oldest - 1);
    if (page.entries.length > 0) this.#limit = entriesThatFit(page.entries);
    const position = page.entries.at(-1)?.position ?? after;
    const isUpToDate = position >= page.head;
    const isClosed = isUpToDate && (await this.isClosed(page.head));
    return { texts: page.entries.map(({ data }) => data), position, isUpToDate, isClosed };
  }

  /** `finish` is the last event there will ever be. */
  async isClosed(head: number): Promise<boolean> {
    if (head === 0) return false;
    return (await this.#page(head - 1, 1)).entries[0]?.type === 'finish';
  }

  async #page(after: number, limit: number): Promise<Page> {
    return await this.#context.log.read({ session: this.#session, stream: 'events', after, limit });
  }
}

async function headAnswer(reader: StreamReader, head: number): Promise<Response> {
  const place = { position: head, isUpToDate: true, isClosed: await reader.isClosed(head) };
  const { 'stream-up-to-date': _upToDate, ...headers } = placeHeaders(place);
  return new Response(null, { headers: { ...common, 'cache-control': 'no-store', ...headers } });
}

async function catchUp(c: Context, reader: StreamReader, from: number): Promise<Response> {
  const batch = await reader.read(from);
  const etag = `"${from}:${batch.position}${batch.isClosed ? ':closed' : ''}"`;
  const caching = { etag, 'cache-control': c.req.query('offset') === 'now' ? 'no-store' : 'private, no-cache' };
  const headers = { ...common, ...caching, ...placeHeaders(batch) };
  if (c.req.header('if-none-match') === etag) return new Response(null, { status: 304, headers });
  return new Response(`[${batch.texts.join(',')}]`, { headers });
}

type Polled = { readonly reader: StreamReader; readonly tail: LogTail; readonly from: number };

async function longPoll(c: Context<OnNode>, { reader, tail, from }: Polled, waitMs: number): Promise<Response> {
  const left = AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(waitMs)]);
  const cursor = nextCursor(c.req.query('cursor'), Date.now());
  for (;;) {
    const seen = tail.growths;
    const batch = await reader.read(from);
    const headers = { ...common, 'cache-control': 'no-store', 'stream-cursor': cursor, ...placeHeaders(batch) };
    if (batch.texts.length > 0) return new Response(`[${batch.texts.join(',')}]`, { headers });
    if (batch.isClosed || left.aborted) return new Response(null, { status: 204, headers });
    await tail.grown(seen, left);
  }
}

type Live = { readonly reader: StreamReader; readonly shared: SharedStream; readonly from: number };

async function serveFrames({ feeds }: ServerContext, c: Context<OnNode>, live: Live): Promise<Response> {
  const headers = {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
  };
  // Whatever is wrong is said before the stream begins.
  const first = await live.reader.read(live.from);
  const cursor = nextCursor(c.req.query('cursor'), Date.now());
  const options = { headers, reader: c.get('person') };
  await writeStream(feeds, c.env.outgoing, options, (left) => tellStream(live.shared, { ...first, cursor }, left));
  return RESPONSE_ALREADY_SENT;
}
