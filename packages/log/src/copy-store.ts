import { createHash, type Hash } from 'node:crypto';
import { unreachable } from '@concerto/base';
import { type EventLog, LogError } from './event-log.ts';
import { DUMP_BATCH, type Store, type StoreRecord } from './store.ts';

export type CopyProgress = {
  readonly phase: 'reading' | 'copying' | 'verifying';
  readonly records: number;
  readonly total?: number;
};

export type CopyReport = {
  readonly streams: number;
  readonly entries: number;
  readonly documents: number;
  readonly leases: number;
};

export type CopyOptions = {
  readonly now: () => number;
  readonly onProgress?: (progress: CopyProgress) => void;
};

/** Documents that end sooner are copied but not compared: they may vanish while we look. */
const COMPARED_LIFETIME_MS = 60 * 60 * 1_000;
/** Differences named in the error; there may be more. */
const NAMED_DIFFERENCES = 5;

/** Stands in a store while it is the target of a copy, and after one that was cut. */
const copying = { collection: '@store', key: 'copying' } as const;

/** Throws when a copy into this store was begun and not finished: it looks like a store and has not everything. */
export async function refuseUnfinishedCopy(store: EventLog): Promise<void> {
  if ((await store.getDocument(copying.collection, copying.key)) === undefined) return;
  throw new LogError(
    'corrupt',
    'this store is a copy that was not finished; remove it and copy again (`concerto store copy FROM TO`)',
  );
}

/**
 * Copies a whole store into an empty one and proves that nothing is missing or changed: count and hash of every stream
 * and every collection, read back from the target. Nobody may write to the source meanwhile.
 */
export async function copyStore(from: Store, to: Store, { now, onProgress }: CopyOptions): Promise<CopyReport> {
  await checkEmpty(to);
  const comparedUntil = now() + COMPARED_LIFETIME_MS;
  const source = tally(comparedUntil);
  await eachBatch(from, (batch, records) => {
    checkUnused(batch);
    source.add(batch);
    onProgress?.({ phase: 'reading', records });
  });
  await to.putDocument({ ...copying, value: '{}', sort: 0 });
  const sent = tally(comparedUntil);
  await eachBatch(from, async (batch, records) => {
    await to.load(batch);
    sent.add(batch);
    onProgress?.({ phase: 'copying', records, total: source.report().records });
  });
  const arrived = tally(comparedUntil);
  await eachBatch(to, (batch, records) => {
    arrived.add(batch);
    onProgress?.({ phase: 'verifying', records, total: source.report().records });
  });
  const changed = differences(source.sums(), sent.sums());
  if (changed.length > 0) {
    throw new LogError(
      'unavailable',
      `the source was written while it was copied (${list(changed)}); stop what uses it and copy again into an empty store`,
    );
  }
  const wrong = differences(source.sums(), arrived.sums());
  if (wrong.length > 0) {
    throw new LogError(
      'corrupt',
      `the copy differs from its source in ${list(wrong)}; do not use it, copy again into an empty store`,
    );
  }
  await to.putDocument({ ...copying, value: undefined, sort: 0 });
  const { streams, entries, documents, leases } = source.report();
  return { streams, entries, documents, leases };
}

async function eachBatch(
  store: Store,
  visit: (batch: readonly StoreRecord[], records: number) => void | Promise<void>,
): Promise<void> {
  let records = 0;
  for await (const batch of together(store.dump())) {
    records += batch.length;
    await visit(batch, records);
  }
}

/** A short stream is a batch of its own, and every batch that is loaded waits for the disk. */
async function* together(batches: AsyncIterable<readonly StoreRecord[]>): AsyncGenerator<readonly StoreRecord[]> {
  let gathered: StoreRecord[] = [];
  for await (const batch of batches) {
    for (const record of batch) {
      if (record.kind !== 'document' || record.collection !== copying.collection) gathered.push(record);
    }
    if (gathered.length < DUMP_BATCH) continue;
    yield gathered;
    gathered = [];
  }
  if (gathered.length > 0) yield gathered;
}

async function checkEmpty(store: Store): Promise<void> {
  for await (const batch of store.dump()) {
    if (batch.length > 0) throw new LogError('bad-url', 'the target already holds something; copy into an empty store');
  }
}

function checkUnused(batch: readonly StoreRecord[]): void {
  for (const record of batch) {
    if (record.kind !== 'lease' || record.heldBy === undefined) continue;
    throw new LogError(
      'unavailable',
      `the source is in use: ${record.heldBy} holds ${record.name}; stop every server and runner that uses it, then copy`,
    );
  }
}

type Sum = { readonly count: number; readonly hash: string };

type Tally = {
  add(batch: readonly StoreRecord[]): void;
  /** Of all that was added: count and hash of each stream, each collection, and the leases. */
  sums(): ReadonlyMap<string, Sum>;
  report(): CopyReport & { readonly records: number };
};

function tally(comparedUntil: number): Tally {
  const ordered = new Map<string, Sum>();
  // Of the stream that is being told: a hash that is not ended yet takes far more memory than one that is.
  let open: { readonly name: string; readonly hash: Hash; count: number } | undefined;
  // Stores list these in orders of their own, so their hashes are added up instead of chained.
  const unordered = new Map<string, { count: number; sum: bigint }>();
  const report = { streams: 0, entries: 0, documents: 0, leases: 0, records: 0 };

  const end = (): void => {
    if (open !== undefined) ordered.set(open.name, { count: open.count, hash: open.hash.digest('hex') });
    open = undefined;
  };
  const chain = (name: string, fields: readonly unknown[]): void => {
    if (open?.name !== name) end();
    open ??= { name, hash: createHash('sha256'), count: 0 };
    open.count++;
    open.hash.update(JSON.stringify(fields));
  };
  const sum = (name: string, fields: readonly unknown[]): void => {
    const found = unordered.get(name) ?? { count: 0, sum: 0n };
    unordered.set(name, found);
    found.count++;
    const digest = createHash('sha256').update(JSON.stringify(fields)).digest('hex');
    found.sum = BigInt.asUintN(256, found.sum + BigInt(`0x${digest}`));
  };
  const addOne = (record: StoreRecord): void => {
    report.records++;
    switch (record.kind) {
      case 'stream':
        report.streams++;
        chain(`${record.session}/${record.stream}`, [record.head, record.oldest]);
        break;
      case 'entry': {
        report.entries++;
        const { session, stream, position, aside, type, data } = record;
        chain(`${session}/${stream}`, [position, aside, type, data]);
        break;
      }
      case 'document': {
        report.documents++;
        const { collection, key, value, sort, tag = null, expiresAt = null } = record;
        if (expiresAt !== null && expiresAt <= comparedUntil) break;
        sum(`documents ${collection}`, [key, value, sort, tag, expiresAt]);
        break;
      }
      case 'lease':
        report.leases++;
        sum('leases', [record.name, record.epoch]);
        break;
      default:
        unreachable(record);
    }
  };
  return {
    add: (batch) => batch.forEach(addOne),
    sums: () => {
      end();
      const sums = new Map(ordered);
      for (const [name, { count, sum: total }] of unordered) sums.set(name, { count, hash: total.toString(16) });
      return sums;
    },
    report: () => report,
  };
}

function differences(expected: ReadonlyMap<string, Sum>, actual: ReadonlyMap<string, Sum>): string[] {
  const names = new Set([...expected.keys(), ...actual.keys()]);
  return [...names].flatMap((name) => {
    const want = expected.get(name) ?? { count: 0, hash: '' };
    const have = actual.get(name) ?? { count: 0, hash: '' };
    if (want.count === have.count && want.hash === have.hash) return [];
    return [want.count === have.count ? `${name}: other content` : `${name}: ${have.count} of ${want.count}`];
  });
}

function list(names: readonly string[]): string {
  const more = names.length - NAMED_DIFFERENCES;
  return `${names.slice(0, NAMED_DIFFERENCES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
