import { err, ok } from '@concerto/base';
import { isLongerThanMessage, type LlmContent, messageLengthMax, withText, wordsOf } from '@concerto/protocol';
import { find } from '../archive.ts';
import { wake } from '../session/advance.ts';
import { type Draft, record, traceOf } from '../session/draft.ts';
import { pendingMax, repeatKnownForMs } from '../session/limits.ts';
import type { Refusal, Wish } from '../session/session-command.ts';
import type { SessionState } from '../session/session-state.ts';
import { statusOf } from '../session/status.ts';
import { entryOf, listedEntries, pendingEntries, type QueueEntry } from './queue.ts';

type QueueWish = Extract<
  Wish,
  { type: 'enqueue' | 'edit' | 'promote' | 'cancel-message' | 'reorder' | 'resend' | 'drop' }
>;
type Verdict = { readonly ok: true; readonly value: undefined } | { readonly ok: false; readonly error: Refusal };

const done: Verdict = ok(undefined);

export function decideQueue(draft: Draft, wish: QueueWish): Verdict {
  // From a caller that lost the answer: whatever became of the message since, this was granted.
  if (isRepeat(draft)) return done;
  switch (wish.type) {
    case 'enqueue':
      return enqueue(draft, wish);
    case 'reorder':
      return reorder(draft, wish.ids, wish.version);
    case 'edit':
    case 'promote':
    case 'cancel-message':
    case 'resend':
    case 'drop':
      return change(draft, wish);
  }
}

function isRepeat({ state, asked }: Draft): boolean {
  const grantedAt = asked.cause === undefined ? undefined : find(state.queue.granted, asked.cause);
  return grantedAt !== undefined && asked.at - grantedAt <= repeatKnownForMs;
}

function enqueue(draft: Draft, wish: Extract<QueueWish, { type: 'enqueue' }>): Verdict {
  const { state } = draft;
  const known = entryOf(state.queue, wish.messageId);
  if (known !== undefined) {
    const same = known.content === wish.content && isSame(known.objective, wish.objective);
    return same ? done : refuse('id_in_use', `message ${wish.messageId} exists with other content`);
  }
  // What a program says to its agent is its own business: the agent's line has a limit.
  const bad = (wish.source === 'program' ? undefined : badContent(wish)) ?? closed(state);
  if (bad !== undefined) return err(bad);
  if (listedEntries(state.queue).length >= pendingMax) {
    return err({
      code: 'queue_full',
      max: pendingMax,
      message: `${pendingMax} messages are pending, the most there may be`,
    });
  }
  const { messageId, content, objective, priority, source, context, listens } = wish;
  const beside = { ...(context === undefined ? {} : { context }), ...(objective === undefined ? {} : { objective }) };
  record(draft, {
    type: 'message-enqueued',
    messageId,
    content,
    priority,
    source,
    ...beside,
    listens,
    ...traceOf(draft),
  });
  if (draft.state.hold?.kind === 'interrupted') record(draft, { type: 'queue-continued' });
  wake(draft);
  return done;
}

function closed(state: SessionState): Refusal | undefined {
  const status = statusOf(state);
  if (state.end === undefined && status !== 'cancelling') return undefined;
  return { code: 'session_closed', message: `the session is ${status} and takes no messages` };
}

/** Without any words only where that was said in full: a run that was given nothing to do. */
export function badContent({
  content,
  objective,
}: {
  readonly content: string;
  readonly objective?: LlmContent | undefined;
}): Refusal | undefined {
  const lengthMin = objective?.parts.length === 0 ? 0 : 1;
  if (content.length >= lengthMin && !isLongerThanMessage(content)) return undefined;
  return { code: 'invalid_content', message: `content must have 1 to ${messageLengthMax} characters` };
}

function refuse(
  code: Exclude<
    Refusal['code'],
    'queue_full' | 'stale_order' | 'wrong_status' | 'withdrawn' | 'lifecycle_request_in_progress'
  >,
  message: string,
): Verdict {
  return err({ code, message });
}

function change(draft: Draft, wish: Exclude<QueueWish, { type: 'enqueue' | 'reorder' }>): Verdict {
  const { messageId } = wish;
  const entry = entryOf(draft.state.queue, messageId);
  if (entry === undefined) return refuse('no_such_message', `there is no message ${messageId}`);
  switch (wish.type) {
    case 'edit': {
      const refusal = badContent(wish) ?? notPending(entry);
      if (refusal !== undefined) return err(refusal);
      const edited = editedContent(entry, wish);
      if (entry.content !== edited.content || !isSame(entry.objective, edited.objective))
        record(draft, { type: 'message-edited', messageId, ...edited });
      return done;
    }
    case 'promote': {
      const refusal = notPending(entry);
      if (refusal !== undefined) return err(refusal);
      if (entry.priority === 'immediate') {
        return refuse('already_immediate', `message ${messageId} is already immediate`);
      }
      record(draft, { type: 'message-promoted', messageId });
      wake(draft);
      return done;
    }
    case 'cancel-message':
    case 'drop': {
      // Gone is gone: asking twice is not an error.
      if (entry.state === 'cancelled') return done;
      const refusal = entry.state === 'uncertain' ? undefined : notPending(entry);
      if (refusal !== undefined) return err(refusal);
      const reason = entry.state === 'uncertain' ? 'dropped; the agent may have received it' : 'cancelled by the user';
      record(draft, { type: 'message-cancelled', messageId, reason });
      return done;
    }
    case 'resend': {
      if (entry.state !== 'uncertain') {
        return refuse('not_uncertain', `message ${messageId} is ${entry.state}; only an uncertain one is sent again`);
      }
      const refusal = closed(draft.state);
      if (refusal !== undefined) return err(refusal);
      record(draft, { type: 'message-resent', messageId });
      if (draft.state.hold?.kind === 'interrupted') record(draft, { type: 'queue-continued' });
      wake(draft);
      return done;
    }
  }
}

function isSame(one: LlmContent | undefined, other: LlmContent | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A text in place of a message with files is a text in place of its text. */
function editedContent(
  entry: QueueEntry,
  { content, objective }: Extract<QueueWish, { type: 'edit' }>,
): { readonly content: string; readonly objective?: LlmContent } {
  const edited = objective ?? (entry.objective === undefined ? undefined : withText(entry.objective, content));
  return edited === undefined ? { content } : { content: wordsOf(edited), objective: edited };
}

function notPending(entry: QueueEntry): Refusal | undefined {
  switch (entry.state) {
    case 'pending':
      return undefined;
    case 'dispatched':
      return { code: 'in_flight', message: `message ${entry.id} is being handed to the agent` };
    case 'delivered':
      return { code: 'already_delivered', message: `message ${entry.id} was delivered` };
    case 'uncertain':
      return { code: 'uncertain', message: `message ${entry.id} may have been delivered: send it again or drop it` };
    case 'cancelled':
      return { code: 'cancelled', message: `message ${entry.id} was cancelled` };
  }
}

/** Names the queued lane; ids of others that are still listed may stand in it and keep their own place. */
function reorder(draft: Draft, listed: readonly string[], version: number): Verdict {
  const { queue } = draft.state;
  const lane = pendingEntries(queue).filter((entry) => entry.priority === 'queued');
  const known = new Set(lane.map((entry) => entry.id));
  const others = new Set(listedEntries(queue).flatMap((entry) => (known.has(entry.id) ? [] : entry.id)));
  const ids = listed.filter((id) => !others.has(id));
  const exact = ids.length === lane.length && new Set(ids).size === ids.length && ids.every((id) => known.has(id));
  if (version < queue.orderVersion || version > queue.version || !exact) {
    return err({
      code: 'stale_order',
      version: queue.version,
      message: 'the queue has changed: the order must name every queued message that is pending, once',
    });
  }
  if (ids.some((id, index) => lane[index]?.id !== id)) record(draft, { type: 'messages-reordered', ids });
  return done;
}
