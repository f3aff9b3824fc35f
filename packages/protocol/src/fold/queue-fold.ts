import type { Message } from '../agent-event.ts';
import type { EventOf } from './cells.ts';
import type { Queue } from './session-view.ts';

export const emptyQueue: Queue = { pending: [], version: undefined };

/** The messages that wait, in the order of delivery: Immediate before Queued, each as it came or was put. */
export function queueAfter(queue: Queue, { message, version = queue.version, order }: EventOf<'message'>): Queue {
  const placed = place(queue.pending, message);
  if (order === undefined) return { pending: placed, version };
  const rank = new Map(order.map((id, index) => [id, index]));
  const last = order.length;
  const pending = placed.toSorted((a, b) => (rank.get(a.id) ?? last) - (rank.get(b.id) ?? last));
  return { pending, version };
}

function place(pending: readonly Message[], message: Message): readonly Message[] {
  const at = pending.findIndex(({ id }) => id === message.id);
  if (message.status !== 'pending') return at < 0 ? pending : pending.filter((_, index) => index !== at);
  // Edited where it stands; one that was promoted goes to the end of its new lane.
  if (pending[at]?.priority === message.priority) return pending.with(at, message);
  const others = at < 0 ? pending : pending.filter((_, index) => index !== at);
  if (message.priority === 'queued') return [...others, message];
  const immediate = others.filter(({ priority }) => priority === 'immediate');
  return [...immediate, message, ...others.filter(({ priority }) => priority !== 'immediate')];
}
