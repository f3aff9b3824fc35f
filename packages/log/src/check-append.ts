import { assert } from '@concerto/base';
import {
  type Append,
  type DocumentWrite,
  LogError,
  MAX_ENTRY_LENGTH,
  type NewEntry,
  streamNames,
} from './event-log.ts';
import { LazyDocument } from './lazy-document.ts';
import { LazyEntry } from './lazy-entry.ts';

/** Far below the limit, however far the size of an entry that is not made yet is from its length. */
const LAZY_LENGTH = MAX_ENTRY_LENGTH / 8;

/** Refuses what no store may take, so that every store refuses alike. */
export function checkAppend(request: Append): void {
  let named = 0;
  for (const { stream, entries } of request.streams) {
    const bit = 1 << streamNames.indexOf(stream);
    assert((named & bit) === 0, 'an append names a stream once');
    named |= bit;
    for (const entry of entries) checkEntry(entry);
  }
  for (const write of request.documents ?? []) checkDocument(write);
}

function checkEntry(entry: NewEntry): void {
  if (entry instanceof LazyEntry && entry.size < LAZY_LENGTH) return;
  if (entry.type.length + entry.data.length > MAX_ENTRY_LENGTH) {
    throw new LogError(
      'too-large',
      `an entry of type "${entry.type.slice(0, 64)}" has ${entry.data.length} characters; the limit is ${MAX_ENTRY_LENGTH}`,
    );
  }
  assert(isObjectText(entry.data), 'an entry is the text of a JSON object');
}

/** Ours has nothing around its braces; others may. */
function isObjectText(data: string): boolean {
  if (data.startsWith('{') && data.endsWith('}')) return true;
  return /^\s*\{/.test(data) && /\}\s*$/.test(data.slice(-16));
}

export function checkDocument(write: DocumentWrite): void {
  if (write instanceof LazyDocument) return;
  if ((write.value?.length ?? 0) <= MAX_ENTRY_LENGTH) return;
  throw new LogError(
    'too-large',
    `the document ${write.collection}/${write.key} has ${write.value?.length} characters; the limit is ${MAX_ENTRY_LENGTH}`,
  );
}
