import { OverviewEvent } from '@concerto/protocol';
import { ClientError } from './client-error.ts';
import type { HttpCalls } from './http-calls.ts';
import { type FollowOptions, isAborted, parseJson, readFrames, retryable, wait } from './read-frames.ts';
import type { Frame } from './server-sent-events.ts';

export type WatchOptions = FollowOptions & {
  /** Also the rows of sessions that others opened. */
  readonly tree?: boolean;
  /** `false`: only what changes; `onAnew` says when what there is has to be read. */
  readonly rows?: boolean;
  /** A connection stands that does not go on from an earlier one: whatever was known may be outdated. */
  readonly onAnew?: () => void;
};

/** With its position: what `after` takes. */
export type WatchedEvent = OverviewEvent & { readonly seq: number };

/**
 * Every session there is, then what changes, whatever happens to the connection: rows, and what waits for a person.
 * Ends when the signal aborts; throws a `ClientError` when the server refuses.
 */
export async function* watchSessions(calls: HttpCalls, options: WatchOptions = {}): AsyncGenerator<WatchedEvent, void> {
  const { signal, tree, rows } = options;
  let cursor = options.after;
  const tell: NonNullable<WatchOptions['onState']> = (state) => {
    options.onState?.(state);
    if (state.kind === 'live' && cursor === undefined) options.onAnew?.();
  };
  for (let failures = 0; !isAborted(signal); ) {
    tell({ kind: 'connecting' });
    const query = {
      ...(tree === undefined ? {} : { tree }),
      ...(rows === undefined ? {} : { rows }),
      ...(cursor === undefined ? {} : { after: cursor }),
    };
    let hasGap = false;
    try {
      for await (const frame of readFrames(calls, { path: 'events', query, options, tell })) {
        const { event, seq, isGap } = readOverview(frame);
        failures = 0;
        hasGap = isGap;
        cursor = isGap ? undefined : seq;
        // What is missing can be in any row.
        if (isGap) break;
        if (event !== undefined) yield { ...event, seq };
      }
      if (hasGap) continue;
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

type Read = { readonly event: OverviewEvent | undefined; readonly seq: number; readonly isGap: boolean };

/** An event of a kind that is newer than this client moves the cursor and is not told. */
function readOverview(frame: Frame): Read {
  const data: unknown = parseJson(frame.data);
  if (typeof data !== 'object' || data === null || !('seq' in data) || typeof data.seq !== 'number')
    throw new ClientError('bad_answer', 'an event without a position');
  const { seq, at: _at, ...rest }: { seq: number; at?: unknown; type?: unknown } = { ...data, seq: data.seq };
  const parsed = OverviewEvent.safeParse(rest);
  return { event: parsed.success ? parsed.data : undefined, seq, isGap: rest.type === 'gap' };
}
