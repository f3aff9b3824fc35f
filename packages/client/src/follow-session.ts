import {
  AgentEvent,
  type FoldedEvent,
  finalStatuses,
  isAgentEventType,
  Session,
  SessionEvent,
  StoredEventSchema,
} from '@concerto/protocol';
import { ClientError } from './client-error.ts';
import { type HttpCalls, segment } from './http-calls.ts';
import { type FollowOptions, isAborted, parseJson, readFrames, retryable, wait } from './read-frames.ts';
import type { Frame } from './server-sent-events.ts';

/** Of a kind that is newer than this client: `unknown`, its fields as they were sent. */
export type FollowedEvent = FoldedEvent;

/**
 * Every event of a session from a position on, each once and in order, whatever happens to the connection. Ends after
 * `finish`, or when the signal aborts; throws a `ClientError` when the server refuses.
 */
export async function* followSession(
  calls: HttpCalls,
  id: string,
  options: FollowOptions = {},
): AsyncGenerator<FollowedEvent, void> {
  const { signal } = options;
  const tell = options.onState ?? (() => {});
  let cursor = options.after ?? 0;
  for (let failures = 0; !isAborted(signal); ) {
    tell({ kind: 'connecting' });
    const before = cursor;
    try {
      for await (const frame of readFrames(calls, {
        path: `sessions/${segment(id)}/events`,
        query: { after: cursor },
        options,
        tell,
      })) {
        const event = readEvent(frame);
        // The server sends what lies beyond the cursor; nothing at or before it may be shown twice.
        if (event.seq <= cursor) continue;
        cursor = event.seq;
        yield event;
        if (event.type === 'finish') return tell({ kind: 'ended' });
      }
      if (cursor === before && (await isOver(calls, id, cursor, signal))) return tell({ kind: 'ended' });
      failures = cursor === before ? failures + 1 : 1;
      await wait(new ClientError('unreachable', 'the connection ended'), failures, { signal, tell });
    } catch (error) {
      if (isAborted(signal)) return;
      failures = cursor === before ? failures + 1 : 1;
      await wait(retryable(error), failures, { signal, tell });
    }
  }
}

/** A stream that has nothing to say and ends may be one that has said everything. */
async function isOver(calls: HttpCalls, id: string, cursor: number, signal: AbortSignal | undefined): Promise<boolean> {
  const session = await calls.call({
    method: 'GET',
    path: `sessions/${segment(id)}`,
    answer: Session,
    ...(signal === undefined ? {} : { signal }),
  });
  return finalStatuses.includes(session.status) && session.position <= cursor;
}

function readEvent(frame: Frame): FollowedEvent {
  const stored = StoredEventSchema.safeParse(parseJson(frame.data));
  if (!stored.success)
    throw new ClientError('bad_answer', 'an event without type, time or position', { cause: stored.error });
  const { seq, at, ...event } = stored.data;
  const parsed = isAgentEventType(event.type) ? AgentEvent.safeParse(event) : SessionEvent.safeParse(event);
  return parsed.success ? { ...parsed.data, at, seq } : { type: 'unknown', raw: stored.data, at, seq };
}
