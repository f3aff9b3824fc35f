import { OverviewEvent } from '@concerto/protocol';
import { ClientError } from './client-error.ts';
import type { HttpCalls } from './http-calls.ts';
import { type FollowOptions, isAborted, parseJson, readFrames, retryable, wait } from './read-frames.ts';
import type { Frame } from './server-sent-events.ts';

export type WatchOptions = Omit<FollowOptions, 'after'>;

/**
 * Every session there is, then what changes, whatever happens to the connection: rows, and what waits for a person.
 * Ends when the signal aborts; throws a `ClientError` when the server refuses.
 */
export async function* watchSessions(
  calls: HttpCalls,
  options: WatchOptions = {},
): AsyncGenerator<OverviewEvent, void> {
  const { signal } = options;
  const tell = options.onState ?? (() => {});
  let cursor: number | undefined;
  for (let failures = 0; !isAborted(signal); ) {
    tell({ kind: 'connecting' });
    try {
      for await (const frame of readFrames(calls, { path: 'events', after: cursor, options, tell })) {
        const { event, seq } = readOverview(frame);
        cursor = seq;
        failures = 0;
        if (event !== undefined) yield event;
      }
      failures += 1;
      await wait(new ClientError('unreachable', 'the connection ended'), failures, { signal, tell });
    } catch (error) {
      if (isAborted(signal)) return;
      // The store has less than it had: begin again with what there is.
      if (error instanceof ClientError && error.code === 'cursor_ahead') cursor = undefined;
      failures += 1;
      await wait(error instanceof ClientError && error.code === 'cursor_ahead' ? error : retryable(error), failures, {
        signal,
        tell,
      });
    }
  }
}

/** An event of a kind that is newer than this client moves the cursor and is not told. */
function readOverview(frame: Frame): { readonly event: OverviewEvent | undefined; readonly seq: number } {
  const data: unknown = parseJson(frame.data);
  if (typeof data !== 'object' || data === null || !('seq' in data) || typeof data.seq !== 'number')
    throw new ClientError('bad_answer', 'an event without a position');
  const { seq, at: _at, ...rest }: { seq: number; at?: unknown } = { ...data, seq: data.seq };
  const parsed = OverviewEvent.safeParse(rest);
  return { event: parsed.success ? parsed.data : undefined, seq };
}
