import { unreachable } from '@concerto/base';
import type { StreamName } from '../event-log.ts';
import { DUMP_BATCH, type StoreRecord } from '../store.ts';
import { toStored } from './memory-documents.ts';
import type { MemoryState } from './memory-event-log.ts';
import { type MemoryStream, readFrom } from './memory-streams.ts';

export function* dumpMemory(state: MemoryState): Generator<readonly StoreRecord[]> {
  let batch: StoreRecord[] = [];
  for (const record of records(state)) {
    batch.push(record);
    if (batch.length < DUMP_BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function* records({ streams, documents, leases, now }: MemoryState): Generator<StoreRecord> {
  for (const { session, stream, content } of streams.all()) {
    yield { kind: 'stream', session, stream, head: content.head, oldest: content.oldest };
    for (const entry of inOrder(content, stream)) yield { kind: 'entry', session, stream, ...entry };
  }
  for (const { collection, document } of documents.all()) {
    const { expiresAt } = document;
    yield { kind: 'document', collection, ...toStored(document), ...(expiresAt !== undefined && { expiresAt }) };
  }
  for (const [name, { epoch, owner, expiresAt }] of leases) {
    yield { kind: 'lease', name, epoch, ...(owner !== undefined && expiresAt > now() && { heldBy: owner }) };
  }
}

type InOrder = { position: number; aside: number; type: string; data: string };

function inOrder(content: MemoryStream, name: StreamName): InOrder[] {
  const { entries } = readFrom(content, name, { after: 0, limit: content.head });
  const all = [
    ...entries.map(({ position, type, data }) => ({ position, type, data, aside: 0 })),
    ...content.asides.map(({ index, ...entry }) => ({ ...entry, aside: index })),
  ];
  return all.sort((a, b) => a.position - b.position || a.aside - b.aside);
}

export function loadIntoMemory({ streams, documents, leases }: MemoryState, batch: readonly StoreRecord[]): void {
  for (const record of batch) {
    switch (record.kind) {
      case 'stream': {
        const stream = streams.obtain(record.session, record.stream);
        stream.head = record.head;
        stream.oldest = record.oldest;
        break;
      }
      case 'entry': {
        const { position, aside, type, data } = record;
        const stream = streams.obtain(record.session, record.stream);
        if (aside === 0) stream.entries.push({ position, type, data });
        else stream.asides.push({ position, index: aside, type, data });
        break;
      }
      case 'document':
        documents.put(record);
        break;
      case 'lease':
        leases.set(record.name, { epoch: record.epoch, owner: undefined, expiresAt: 0 });
        break;
      default:
        unreachable(record);
    }
  }
}
