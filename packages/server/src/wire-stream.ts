import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { EventFeeds, OpenStream } from './event-feeds.ts';
import type { KnownPerson } from './people/people.ts';

/** As for every reader: one that takes nothing for so long is cut off, and comes back. */
const stalledAfterMs = 60_000;

const ping = ': ping\n\n';

/**
 * Writes what a wire says on a Node response, at the pace at which it is taken; resolves when all is said or the reader
 * has left. `say` is told to stop by its signal.
 */
export async function writeStream(
  feeds: EventFeeds,
  response: ServerResponse,
  { headers, reader }: { readonly headers: Readonly<Record<string, string>>; readonly reader: KnownPerson },
  say: (left: AbortSignal) => AsyncIterable<Uint8Array | string>,
): Promise<void> {
  const left = new AbortController();
  response.on('close', () => left.abort());
  response.on('error', () => left.abort());
  const stream: OpenStream = {
    reader,
    ping: () => {
      if (!response.writableNeedDrain && !response.writableEnded) response.write(ping);
    },
    cut: () => response.destroy(),
  };
  feeds.connections.add(stream);
  try {
    response.writeHead(200, headers);
    response.flushHeaders();
    for await (const text of say(left.signal)) {
      if (left.signal.aborted) return;
      if (text.length > 0 && !response.write(text)) await drained(response, left.signal);
    }
    response.end();
  } catch {
    // The store failed, or the reader stalled, under a stream whose status is long sent: the reader comes back.
    response.destroy();
  } finally {
    feeds.connections.delete(stream);
    left.abort();
  }
}

async function drained(response: ServerResponse, left: AbortSignal): Promise<void> {
  const late = AbortSignal.timeout(stalledAfterMs);
  await once(response, 'drain', { signal: AbortSignal.any([left, late]) });
}
