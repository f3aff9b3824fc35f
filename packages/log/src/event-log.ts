/**
 * The durable record. Every session has four streams; a position is how many entries a stream holds, so the
 * first entry has position 1 and `after: 0` means everything.
 *
 * - `domain`: what was decided, the input of `evolve`; the authority.
 * - `commands`: what the agent's owner must do, written only together with the decision that caused it.
 * - `journal`: what its worker said and was given, as it was: what a program goes on from, and hears its agents through.
 * - `events`: what clients see. The log stamps each entry's JSON with `"seq": position`, so the stored text is
 *   the text that goes to a client, never parsed again.
 */
export type StreamName = 'domain' | 'commands' | 'journal' | 'events';
export const streamNames: readonly StreamName[] = ['domain', 'commands', 'journal', 'events'];

export type NewEntry = {
  readonly type: string;
  /** The text of a JSON object; not parsed by the log. A `LazyEntry` makes it when it is read. */
  readonly data: string;
  /**
   * `aside` entries are written between positions and take none: acknowledgements that another program may read
   * from the stream but that no client's cursor counts.
   */
  readonly aside?: true | undefined;
};

export type Entry = {
  readonly position: number;
  readonly type: string;
  readonly data: string;
  /** What `data` says, where the store has that at hand: not to be changed. */
  readonly value?: object | undefined;
};

export type StreamAppend = {
  readonly stream: StreamName;
  /** Refuse unless the stream holds exactly this many entries. */
  readonly expected?: number;
  readonly entries: readonly NewEntry[];
};

/** Longest `type` plus `data` of one entry, and longest document, in UTF-16 units; more is refused with `too-large`. */
export const MAX_ENTRY_LENGTH = 32 * 1024 * 1024;

/** A small mutable record beside the streams: session index rows, templates, idempotency keys. */
export type DocumentWrite = {
  readonly collection: string;
  readonly key: string;
  /** JSON text; undefined deletes. A `LazyDocument` makes it when it is read. */
  readonly value: string | undefined;
  /** Listing order (descending, then by key descending) within the collection; 0 when absent. */
  readonly sort?: number;
  /** One value by which listings can be filtered. */
  readonly tag?: string;
  /** Milliseconds since the epoch after which the document is gone. */
  readonly expiresAt?: number;
};

export type StoredDocument = {
  readonly key: string;
  readonly value: string;
  readonly sort: number;
  readonly tag?: string;
};

export type Append = {
  readonly session: string;
  /**
   * Refuse unless this lease is held at this epoch: a writer that lost its session writes nothing. A lease is lost
   * when another acquires it or when it is released; after its time has run out others may take it, and until one
   * does its holder may still write and renew.
   */
  readonly fence?: { readonly lease: string; readonly epoch: number } | undefined;
  readonly streams: readonly StreamAppend[];
  readonly documents?: readonly DocumentWrite[];
  /**
   * What follows from it in another session, made when it is known where this one stands: in the same commit where the
   * store can, and never without it. It may be asked for more than once; undefined when nothing follows.
   */
  readonly next?: ((positions: Positions) => Append | undefined) | undefined;
  /** Both or neither: nothing is written unless something follows and is taken. Only where the store `joins`. */
  readonly joined?: true | undefined;
};

export type Positions = Readonly<Partial<Record<StreamName, number>>>;

export type Appended =
  /** Head of each stream named, after the append; and what became of what followed from it. */
  | { readonly kind: 'appended'; readonly positions: Positions; readonly next?: Appended }
  | { readonly kind: 'conflict'; readonly stream: StreamName; readonly actual: number }
  | { readonly kind: 'fenced'; readonly epoch: number }
  /** What should have followed was refused, or nothing followed, and so nothing of it was written. */
  | { readonly kind: 'unjoined' };

export type ReadRequest = {
  readonly session: string;
  readonly stream: StreamName;
  readonly after: number;
  readonly limit: number;
};

export type Page = {
  readonly entries: readonly Entry[];
  /** Position of the stream's last entry at the time of reading. */
  readonly head: number;
  /**
   * Position of the oldest entry still kept, 1 unless trimmed, `head + 1` when all were trimmed; a reader whose
   * `after + 1` is less has a gap.
   */
  readonly oldest: number;
};

export type ListRequest = {
  readonly collection: string;
  readonly tag?: string;
  /** Opaque, from the page before. */
  readonly cursor?: string;
  readonly limit: number;
};

export type DocumentPage = { readonly documents: readonly StoredDocument[]; readonly nextCursor?: string };

export type LeaseRequest = { readonly name: string; readonly owner: string; readonly ttlMs: number };

export type Lease =
  | { readonly kind: 'acquired'; readonly epoch: number }
  | { readonly kind: 'held'; readonly by: string; readonly expiresInMs: number };

export type EventLog = {
  /** An append and what follows from it (`next`) are one commit; else one comes after the other. */
  readonly joins: boolean;
  /** Atomic over all streams and documents named; resolves only when it is durable. */
  append(append: Append): Promise<Appended>;
  read(request: ReadRequest): Promise<Page>;
  head(session: string, stream: StreamName): Promise<number>;
  /**
   * Called after a commit with the session that grew, and once more when it may have grown unseen (a connection was
   * lost); a signal, never a payload. Of every session, or only of the one named. Returns the way to stop.
   */
  onGrowth(listener: (session: string) => void, session?: string): () => void;
  /**
   * Called when the store holds less than it had acknowledged (it was flushed, restored from an older copy, or a replica
   * took over that lagged): whatever is remembered of it may be false. Returns the way to stop.
   */
  onRewind(listener: () => void): () => void;
  /** Removes entries at or before the position; the stream's head stays. */
  trim(session: string, stream: StreamName, throughPosition: number): Promise<void>;

  putDocument(write: DocumentWrite): Promise<void>;
  /** Writes only if the key is absent (or expired); tells whether it did. */
  createDocument(write: DocumentWrite): Promise<boolean>;
  getDocument(collection: string, key: string): Promise<StoredDocument | undefined>;
  listDocuments(request: ListRequest): Promise<DocumentPage>;

  /** A new holder gets a higher epoch than any holder before it, for ever. The same owner re-acquiring gets a new epoch too. */
  acquireLease(request: LeaseRequest): Promise<Lease>;
  /** False when the lease was lost (see `Append.fence`). */
  renewLease(request: LeaseRequest & { readonly epoch: number }): Promise<boolean>;
  releaseLease(request: { readonly name: string; readonly epoch: number }): Promise<void>;

  /** Names of all sessions that have a stream, in ascending order, for copying a store. */
  listSessions(after: string | undefined, limit: number): Promise<readonly string[]>;
  /** Bytes that what it holds takes; falls when something is removed, whatever the system gets back of it. */
  size(): Promise<number>;
  /** Throws LogError when the store cannot take a durable write now. */
  ping(): Promise<void>;
  close(): Promise<void>;
};

export type LogErrorCode =
  | 'unavailable'
  /** It answers, and does not let us in: a wrong password, a user without rights, a newer format. */
  | 'refused'
  | 'full'
  | 'read-only'
  | 'corrupt'
  | 'closed'
  | 'bad-url'
  | 'too-large'
  /** A listing's cursor that this store did not write. */
  | 'bad-cursor';

export class LogError extends Error {
  readonly code: LogErrorCode;
  /** Who has the store open, when that is why it cannot be opened here. */
  readonly heldBy: string | undefined;

  constructor(code: LogErrorCode, message: string, options?: ErrorOptions & { readonly heldBy?: string }) {
    super(message, options);
    this.heldBy = options?.heldBy;
    this.name = 'LogError';
    this.code = code;
  }
}
