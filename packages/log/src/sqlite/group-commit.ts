import { LogError } from '../event-log.ts';

/** What an operation may ask for while its transaction is open. */
export type Commit = {
  afterCommit(action: () => void): void;
  /** A moment after the commit: whoever waits for it goes on before those who only watch. */
  announce(action: () => void): void;
  /** Takes back what the operation changed outside the database. */
  onRollback(action: () => void): void;
};

export type Transactions = {
  begin(): void;
  commit(): void;
  rollback(): void;
};

export type GroupCommit = {
  /** Runs the operation in a transaction shared with whatever else is waiting; settles when that is durable. */
  run<T>(operation: (commit: Commit) => T): Promise<T>;
  /** Commits what is waiting, then refuses. */
  finish(): void;
};

/** Most operations in one transaction: bounds how long one commit keeps the process from other work. */
const MAX_BATCH = 1_024;
/** Most operations waiting: beyond it the disk is not keeping up, and the caller is told so at once. */
const MAX_WAITING = 65_536;

type Waiting = {
  /** Inside a transaction; what it returns settles the caller. */
  readonly apply: (commit: Commit) => () => void;
  readonly reject: (error: unknown) => void;
};

/**
 * A commit costs one fsync however much it holds, so everything that queued while the last one ran goes into the next.
 * If a shared transaction fails, each operation is tried in its own: one that cannot be stored fails alone.
 */
export function groupCommit(transactions: Transactions, failure: (error: unknown) => LogError): GroupCommit {
  let waiting: Waiting[] = [];
  let scheduled = false;
  let finished = false;
  const announcements = deferred();

  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      flush();
    });
  };

  const flush = (): void => {
    if (waiting.length === 0) return;
    const batch = waiting.splice(0, MAX_BATCH);
    if (waiting.length > 0) schedule();
    const error = commitTogether(transactions, batch, announcements.add);
    if (error === undefined) return;
    for (const operation of batch) {
      const alone = batch.length === 1 ? error : commitTogether(transactions, [operation], announcements.add);
      if (alone !== undefined) operation.reject(failure(alone.cause));
    }
  };

  return {
    run<T>(operation: (commit: Commit) => T): Promise<T> {
      if (finished) return Promise.reject(new LogError('closed', 'the log is closed'));
      if (waiting.length >= MAX_WAITING) {
        return Promise.reject(new LogError('unavailable', `the store is too slow: ${MAX_WAITING} writes are waiting`));
      }
      return new Promise<T>((resolve, reject) => {
        const apply = (commit: Commit): (() => void) => {
          const result = operation(commit);
          return () => resolve(result);
        };
        waiting.push({ apply, reject });
        schedule();
      });
    },
    finish() {
      finished = true;
      while (waiting.length > 0) flush();
      announcements.now();
    },
  };
}

type Actions = readonly (() => void)[];

function deferred(): { readonly add: (actions: Actions) => void; readonly now: () => void } {
  let due: (() => void)[] = [];
  const now = (): void => {
    const actions = due;
    due = [];
    for (const action of actions) action();
  };
  return {
    add: (actions) => {
      if (actions.length === 0) return;
      if (due.length === 0) setImmediate(now);
      due.push(...actions);
    },
    now,
  };
}

function commitTogether(
  transactions: Transactions,
  batch: readonly Waiting[],
  announce: (actions: Actions) => void,
): { cause: unknown } | undefined {
  const afterCommit: (() => void)[] = [];
  const onRollback: (() => void)[] = [];
  const announced: (() => void)[] = [];
  const commit: Commit = {
    afterCommit: (action) => afterCommit.push(action),
    announce: (action) => announced.push(action),
    onRollback: (action) => onRollback.push(action),
  };
  let settle: (() => void)[];
  try {
    transactions.begin();
    settle = batch.map(({ apply }) => apply(commit));
    transactions.commit();
  } catch (cause) {
    transactions.rollback();
    for (const action of onRollback.reverse()) action();
    return { cause };
  }
  for (const action of settle) action();
  for (const action of afterCommit) action();
  announce(announced);
  return undefined;
}
