import type { EventLog, StreamName } from './event-log.ts';

/** What a store holds, as a list of plain facts that any other store can take. */
export type StoreRecord =
  /** Before the entries of its stream. */
  | {
      readonly kind: 'stream';
      readonly session: string;
      readonly stream: StreamName;
      readonly head: number;
      readonly oldest: number;
    }
  | {
      readonly kind: 'entry';
      readonly session: string;
      readonly stream: StreamName;
      readonly position: number;
      /** 0 for the entry at this position, n for the n-th aside after it. */
      readonly aside: number;
      readonly type: string;
      /** As stored: events carry their `seq`. */
      readonly data: string;
    }
  | {
      readonly kind: 'document';
      readonly collection: string;
      readonly key: string;
      readonly value: string;
      readonly sort: number;
      readonly tag?: string;
      readonly expiresAt?: number;
    }
  /** `heldBy` while its time has not run out. */
  | { readonly kind: 'lease'; readonly name: string; readonly epoch: number; readonly heldBy?: string };

/** Most records in one batch of a dump. */
export const DUMP_BATCH = 512;

/** A log that can be moved: everything out, everything in. */
export type Store = EventLog & {
  /** All records in batches; entries of one stream in their order, after its `stream` record. */
  dump(): AsyncIterable<readonly StoreRecord[]>;
  /** Takes records of a dump, in their order. Only for a store that had nothing when loading began. */
  load(records: readonly StoreRecord[]): Promise<void>;
};
