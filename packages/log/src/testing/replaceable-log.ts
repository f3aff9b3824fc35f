import type { EventLog } from '../event-log.ts';
import { growthSignal } from '../growth-signal.ts';
import { memoryEventLog } from '../memory/memory-event-log.ts';

/** A log in memory in whose place an empty one can be put, as a Redis that was flushed or failed over. */
export function replaceableLog(): { readonly log: EventLog; readonly replace: () => void } {
  const growth = growthSignal();
  const rewinds = growthSignal();
  const fresh = (): EventLog => {
    const log = memoryEventLog({ now: Date.now });
    log.onGrowth((session) => growth.emit(session));
    return log;
  };
  let current = fresh();
  return {
    log: {
      joins: current.joins,
      append: (request) => current.append(request),
      read: (request) => current.read(request),
      head: (session, stream) => current.head(session, stream),
      onGrowth: (listener, session) => growth.listen(listener, session),
      onRewind: (listener) => rewinds.listen(listener),
      trim: (session, stream, through) => current.trim(session, stream, through),
      putDocument: (write) => current.putDocument(write),
      createDocument: (write) => current.createDocument(write),
      getDocument: (collection, key) => current.getDocument(collection, key),
      listDocuments: (request) => current.listDocuments(request),
      acquireLease: (request) => current.acquireLease(request),
      renewLease: (request) => current.renewLease(request),
      releaseLease: (request) => current.releaseLease(request),
      listSessions: (after, limit) => current.listSessions(after, limit),
      size: () => current.size(),
      ping: () => current.ping(),
      close: () => current.close(),
    },
    replace: () => {
      current = fresh();
      rewinds.emit('');
    },
  };
}
