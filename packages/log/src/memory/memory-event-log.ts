import { appendBoth, type Done, type Refused } from '../append-both.ts';
import { checkAppend, checkDocument } from '../check-append.ts';
import { type Append, type Appended, LogError, type StreamName } from '../event-log.ts';
import { type GrowthSignal, growthSignal } from '../growth-signal.ts';
import { decideAcquire, type HeldLease, holds } from '../lease-rules.ts';
import type { Store, StoreRecord } from '../store.ts';
import { type MemoryDocuments, memoryDocuments, toStored } from './memory-documents.ts';
import { dumpMemory, loadIntoMemory } from './memory-records.ts';
import {
  appendTo,
  keepRecent,
  type MemoryStreams,
  memoryStreams,
  readFrom,
  sizeOf,
  trimThrough,
} from './memory-streams.ts';

export type MemoryState = {
  readonly now: () => number;
  readonly recentChars: number;
  readonly streams: MemoryStreams;
  readonly documents: MemoryDocuments;
  readonly leases: Map<string, HeldLease>;
  readonly growth: GrowthSignal;
  closed: boolean;
};

/**
 * A log that lives as long as its process: for programs that are run by themselves, for tests and simulations. The clock is
 * the caller's. Where nobody will replay what happened, `recentChars` bounds what is held of events and commands.
 */
export function memoryEventLog(options: {
  readonly now: () => number;
  readonly recentChars?: number | undefined;
}): Store {
  const { now, recentChars = Number.POSITIVE_INFINITY } = options;
  const state: MemoryState = {
    now,
    recentChars,
    streams: memoryStreams(),
    documents: memoryDocuments(now),
    leases: new Map(),
    growth: growthSignal(),
    closed: false,
  };
  return {
    ...streamCalls(state),
    ...documentCalls(state),
    ...leaseCalls(state),
    async *dump(): AsyncGenerator<readonly StoreRecord[]> {
      checkOpen(state);
      yield* dumpMemory(state);
    },
    load: async (records) => {
      checkOpen(state);
      loadIntoMemory(state, records);
    },
    size: async () => {
      checkOpen(state);
      return sizeOfAll(state);
    },
    ping: async () => checkOpen(state),
    close: async () => {
      state.closed = true;
      state.growth.emitNow();
    },
  };
}

/** In UTF-16 units, which is near enough for a store that is gone with its process. */
function sizeOfAll({ streams, documents }: MemoryState): number {
  let size = 0;
  for (const { content } of streams.all()) {
    for (const entry of content.entries) size += sizeOf(entry);
    for (const { data } of content.asides) size += data.length;
  }
  for (const { document } of documents.all()) size += document.value.length;
  return size;
}

function checkOpen(state: MemoryState): void {
  if (state.closed) throw new LogError('closed', 'the log is closed');
}

function streamCalls(
  state: MemoryState,
): Pick<Store, 'joins' | 'append' | 'read' | 'head' | 'onGrowth' | 'onRewind' | 'trim' | 'listSessions'> {
  const { streams } = state;
  return {
    joins: true,
    append: async (request) => {
      checkOpen(state);
      return appendAll(state, request);
    },
    read: async ({ session, stream, after, limit }) => {
      checkOpen(state);
      return readFrom(streams.find(session, stream), stream, { after, limit });
    },
    head: async (session, stream) => {
      checkOpen(state);
      return streams.find(session, stream).head;
    },
    onGrowth: (listener, session) => state.growth.listen(listener, session),
    // It lives and dies with whoever remembers it.
    onRewind: () => () => undefined,
    trim: async (session, stream, throughPosition) => {
      checkOpen(state);
      trimThrough(streams.find(session, stream), throughPosition);
    },
    listSessions: async (after, limit) => {
      checkOpen(state);
      return streams
        .names()
        .filter((name) => after === undefined || name > after)
        .slice(0, limit);
    },
  };
}

function appendAll(state: MemoryState, request: Append): Appended {
  checkAppend(request);
  return appendBoth(request, {
    headOf: (session, stream) => state.streams.find(session, stream).head,
    refusal: (append) => refusal(state, append),
    append: (append) => appended(state, append),
  });
}

function refusal({ streams, leases }: MemoryState, request: Append): Refused | undefined {
  const { fence } = request;
  if (fence !== undefined && !holds(leases.get(fence.lease), fence.epoch)) {
    return { kind: 'fenced', epoch: leases.get(fence.lease)?.epoch ?? 0 };
  }
  for (const { stream, expected } of request.streams) {
    const actual = streams.find(request.session, stream).head;
    if (expected !== undefined && expected !== actual) return { kind: 'conflict', stream, actual };
  }
  return undefined;
}

function appended({ streams, documents, growth, recentChars }: MemoryState, request: Append): Done {
  const positions: Partial<Record<StreamName, number>> = {};
  let grew = false;
  for (const { stream, entries } of request.streams) {
    const target =
      entries.length === 0 ? streams.find(request.session, stream) : streams.obtain(request.session, stream);
    const before = target.head;
    appendTo(target, stream, entries);
    if (stream === 'events' || stream === 'commands') keepRecent(target, recentChars);
    grew ||= target.head > before;
    positions[stream] = target.head;
  }
  for (const write of request.documents ?? []) documents.put(write);
  if (grew) growth.emitSoon(request.session);
  return { kind: 'appended', positions };
}

function documentCalls(
  state: MemoryState,
): Pick<Store, 'putDocument' | 'createDocument' | 'getDocument' | 'listDocuments'> {
  const { documents } = state;
  return {
    putDocument: async (write) => {
      checkOpen(state);
      checkDocument(write);
      documents.put(write);
    },
    createDocument: async (write) => {
      checkOpen(state);
      checkDocument(write);
      if (documents.get(write.collection, write.key) !== undefined) return false;
      documents.put(write);
      return true;
    },
    getDocument: async (collection, key) => {
      checkOpen(state);
      const found = documents.get(collection, key);
      return found && toStored(found);
    },
    listDocuments: async (request) => {
      checkOpen(state);
      return documents.list(request);
    },
  };
}

function leaseCalls(state: MemoryState): Pick<Store, 'acquireLease' | 'renewLease' | 'releaseLease'> {
  const { leases, now } = state;
  return {
    acquireLease: async (request) => {
      checkOpen(state);
      const decided = decideAcquire(leases.get(request.name), request, now());
      if (decided.kind === 'acquired') {
        leases.set(request.name, { epoch: decided.epoch, owner: request.owner, expiresAt: now() + request.ttlMs });
      }
      return decided;
    },
    renewLease: async ({ name, owner, ttlMs, epoch }) => {
      checkOpen(state);
      if (!holds(leases.get(name), epoch)) return false;
      leases.set(name, { epoch, owner, expiresAt: now() + ttlMs });
      return true;
    },
    releaseLease: async ({ name, epoch }) => {
      checkOpen(state);
      if (holds(leases.get(name), epoch)) leases.set(name, { epoch, owner: undefined, expiresAt: 0 });
    },
  };
}
