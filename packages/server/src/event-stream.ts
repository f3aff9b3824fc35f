import type { ServerResponse } from 'node:http';
import type { Wire } from './event-feed.ts';
import type { EventFeeds } from './event-feeds.ts';

export const pingEveryMs = 15_000;
/** A reader that takes nothing for this long is cut off; it comes back with its cursor and loses nothing. */
export const stalledAfterMs = 60_000;

const ping = Buffer.from(': ping\n\n');

export type Stream = {
  readonly session: string;
  readonly wire: Wire;
  readonly after: number;
};

/**
 * Serves server-sent events on a Node response until the session's last event, or until the reader leaves. There is
 * no queue: the connection is a cursor into the log, and it moves only when the socket has taken what was written.
 */
export async function streamEvents(feeds: EventFeeds, stream: Stream, response: ServerResponse): Promise<void> {
  const left = new AbortController();
  response.on('close', () => left.abort());
  response.on('error', () => left.abort());
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    connection: 'keep-alive',
    'x-accel-buffering': 'no',
  });
  response.write(ping);
  const pings = setInterval(() => {
    if (!response.writableNeedDrain) response.write(ping);
  }, pingEveryMs);
  const feed = feeds.open(stream.session, stream.wire);
  try {
    let cursor = stream.after;
    while (!left.signal.aborted) {
      const frames = await feed.after(cursor);
      if (frames === undefined) {
        await feed.grown(cursor, left.signal);
        continue;
      }
      cursor = frames.to;
      if (frames.bytes.length > 0 && !response.write(frames.bytes) && !(await drained(response, left.signal))) break;
      if (frames.last) break;
    }
  } finally {
    clearInterval(pings);
    feeds.release(stream.session, stream.wire);
    response.end();
  }
}

/** False when the reader left or stalled; a stalled socket is destroyed, which frees what the kernel holds for it. */
async function drained(response: ServerResponse, left: AbortSignal): Promise<boolean> {
  if (left.aborted) return false;
  return await new Promise<boolean>((resolve) => {
    const settle = (ok: boolean): void => {
      clearTimeout(stalled);
      response.off('drain', onDrain);
      left.removeEventListener('abort', onLeft);
      resolve(ok);
    };
    const onDrain = (): void => settle(true);
    const onLeft = (): void => settle(false);
    const stalled = setTimeout(() => {
      response.destroy();
      settle(false);
    }, stalledAfterMs);
    response.once('drain', onDrain);
    left.addEventListener('abort', onLeft);
  });
}
