import type { Append, Appended, DocumentWrite, Lease, NewEntry, StreamName } from '../event-log.ts';
import { stampPrefix } from '../stamp-seq.ts';
import type { StoreRecord } from '../store.ts';
import type { OperationResult } from './redis-batches.ts';
import { sortText } from './sort-text.ts';

/** The arguments of the script's operations; each function's order is the order in which the script takes them. */

export function appendOperation({ session, fence, streams, documents = [] }: Append): string[] {
  let header = `${fence === undefined ? 'a' : 'f'}${documents.length} ${session}`;
  const args = [header];
  if (fence !== undefined) args.push(fence.lease, String(fence.epoch));
  for (const { stream, expected, entries } of streams) {
    header += ` ${stream}:${expected ?? ''}:`;
    for (const entry of entries) {
      const kind = kindOf(stream, entry);
      header += kind;
      args.push(entry.type, kind === 's' ? stampPrefix(entry.data) : entry.data);
    }
  }
  args[0] = header;
  for (const write of documents) args.push(...documentArguments(write, 'put'));
  return args;
}

/** Aside, stamped with its position by the script, or plain. */
function kindOf(stream: StreamName, entry: NewEntry): 'a' | 's' | 'p' {
  if (entry.aside) return 'a';
  return stream === 'events' ? 's' : 'p';
}

export function appendedFrom(request: Append, result: OperationResult): Appended {
  const [kind, ...values] = result.split(' ');
  if (kind === 'fenced') return { kind, epoch: Number(values[0]) };
  if (kind === 'conflict') {
    const stream = request.streams[Number(values[0]) - 1]?.stream ?? 'domain';
    return { kind, stream, actual: Number(values[1]) };
  }
  const positions: Partial<Record<StreamName, number>> = {};
  for (const [index, { stream }] of request.streams.entries()) positions[stream] = Number(values[index]);
  return { kind: 'appended', positions };
}

export function documentOperation(write: DocumentWrite, mode: 'put' | 'create'): string[] {
  return ['document', ...documentArguments(write, mode)];
}

function documentArguments(write: DocumentWrite, mode: 'put' | 'create'): string[] {
  const { collection, key, value, sort = 0, tag, expiresAt } = write;
  return [
    value === undefined ? 'delete' : mode,
    encodeURIComponent(collection),
    key,
    sortText(sort),
    expiresAt === undefined ? '' : String(Math.ceil(expiresAt)),
    tagText(tag),
    value ?? '',
  ];
}

/** Nothing for no tag, `:` and its encoded text for one, an empty one too. */
export function tagText(tag: string | undefined): string {
  return tag === undefined ? '' : `:${encodeURIComponent(tag)}`;
}

export function leaseFrom(result: OperationResult): Lease {
  const [kind, number, ...owner] = result.split(' ');
  if (kind === 'held') return { kind, by: owner.join(' '), expiresInMs: Number(number) };
  return { kind: 'acquired', epoch: Number(number) };
}

export function loadOperation(record: StoreRecord): string[] {
  switch (record.kind) {
    case 'stream':
      return ['loadStream', record.session, record.stream, String(record.head), String(record.oldest - 1)];
    case 'entry': {
      const { session, stream, position, aside, type, data } = record;
      return ['loadEntry', session, stream, String(position), String(aside), type, data];
    }
    case 'document':
      return documentOperation(record, 'put');
    case 'lease':
      return ['loadLease', record.name, String(record.epoch)];
  }
}
