import { assert } from '@concerto/base';
import { type Append, type Appended, type EventLog, LogError, type StreamName } from '../event-log.ts';
import { growthSignal } from '../growth-signal.ts';
import { checkEntry } from '../stamp.ts';
import { checkDocument, memoryDocuments, toStored } from './memory-documents.ts';
import { decideAcquire, type HeldLease, holds } from './memory-leases.ts';
import { appendTo, emptyStream, type MemoryStream, readFrom, trimThrough } from './memory-streams.ts';

type SessionStreams = Partial<Record<StreamName, MemoryStream>>;

/** A log that lives as long as its process: for tests, simulations and trying things out. The clock is the caller's. */
export function memoryEventLog(options: { readonly now: () => number }): EventLog {
  const { now } = options;
  const sessions = new Map<string, SessionStreams>();
  const leases = new Map<string, HeldLease>();
  const documents = memoryDocuments(now);
  const growth = growthSignal();
  let closed = false;

  const open = (): void => {
    if (closed) throw new LogError('closed', 'the log is closed');
  };
  const find = (session: string, stream: StreamName): MemoryStream => sessions.get(session)?.[stream] ?? emptyStream();
  const obtain = (session: string, stream: StreamName): MemoryStream => {
    let streams = sessions.get(session);
    if (streams === undefined) sessions.set(session, (streams = {}));
    return (streams[stream] ??= emptyStream());
  };

  const refusal = ({ session, fence, streams }: Append): Appended | undefined => {
    if (fence !== undefined && !holds(leases.get(fence.lease), fence.epoch)) {
      return { kind: 'fenced', epoch: leases.get(fence.lease)?.epoch ?? 0 };
    }
    for (const { stream, expected } of streams) {
      const actual = find(session, stream).head;
      if (expected !== undefined && expected !== actual) return { kind: 'conflict', stream, actual };
    }
    return undefined;
  };

  const append = (request: Append): Appended => {
    checkAppend(request);
    const refused = refusal(request);
    if (refused !== undefined) return refused;
    const positions: Partial<Record<StreamName, number>> = {};
    let grew = false;
    for (const { stream, entries } of request.streams) {
      const target = entries.length === 0 ? find(request.session, stream) : obtain(request.session, stream);
      const before = target.head;
      appendTo(target, stream, entries);
      grew ||= target.head > before;
      positions[stream] = target.head;
    }
    for (const write of request.documents ?? []) documents.put(write);
    if (grew) growth.emit(request.session);
    return { kind: 'appended', positions };
  };

  return {
    append: async (request) => {
      open();
      return append(request);
    },
    read: async ({ session, stream, after, limit }) => {
      open();
      return readFrom(find(session, stream), after, limit);
    },
    head: async (session, stream) => {
      open();
      return find(session, stream).head;
    },
    onGrowth: (listener) => growth.listen(listener),
    trim: async (session, stream, throughPosition) => {
      open();
      trimThrough(find(session, stream), throughPosition);
    },

    putDocument: async (write) => {
      open();
      checkDocument(write);
      documents.put(write);
    },
    createDocument: async (write) => {
      open();
      checkDocument(write);
      if (documents.get(write.collection, write.key) !== undefined) return false;
      documents.put(write);
      return true;
    },
    getDocument: async (collection, key) => {
      open();
      const found = documents.get(collection, key);
      return found && toStored(found);
    },
    listDocuments: async (request) => {
      open();
      return documents.list(request);
    },

    acquireLease: async (request) => {
      open();
      const decided = decideAcquire(leases.get(request.name), request, now());
      if (decided.kind === 'acquired') {
        leases.set(request.name, { epoch: decided.epoch, owner: request.owner, expiresAt: now() + request.ttlMs });
      }
      return decided;
    },
    renewLease: async ({ name, owner, ttlMs, epoch }) => {
      open();
      if (!holds(leases.get(name), epoch)) return false;
      leases.set(name, { epoch, owner, expiresAt: now() + ttlMs });
      return true;
    },
    releaseLease: async ({ name, epoch }) => {
      open();
      if (holds(leases.get(name), epoch)) leases.set(name, { epoch, owner: undefined, expiresAt: 0 });
    },

    listSessions: async (after, limit) => {
      open();
      const names = [...sessions.keys()].sort();
      return names.filter((name) => after === undefined || name > after).slice(0, limit);
    },
    ping: async () => open(),
    close: async () => {
      closed = true;
    },
  };
}

export function checkAppend(request: Append): void {
  const named = new Set(request.streams.map(({ stream }) => stream));
  assert(named.size === request.streams.length, 'an append names a stream once');
  for (const { entries } of request.streams) for (const entry of entries) checkEntry(entry);
  for (const write of request.documents ?? []) checkDocument(write);
}
