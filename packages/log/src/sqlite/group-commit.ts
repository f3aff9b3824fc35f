import { LogError } from '../event-log.ts';

/** What an operation may ask for while its group is being made. */
export type Commit = {
  /** To be done in the tables themselves, when the group is stored. */
  inPlace(action: () => void): void;
  afterCommit(action: () => void): void;
  /** Takes back what the operation changed elsewhere than in streams and documents. */
  onRollback(action: () => void): void;
};

export type Transactions = {
  /** Stores what the operations changed in memory, and does what they want done in the tables; throws when it cannot. */
  commit(inPlace: Actions): void;
  /** Takes back what the operations changed in memory. */
  rollback(): void;
};

export type Failures = {
  /** Somebody else holds the file at this moment. */
  isHeld(cause: unknown): boolean;
  of(cause: unknown): LogError;
};

export type GroupCommit = {
  /** Runs the operation in a group with whatever else is waiting, stored by one commit; settles when that is durable. */
  run<T>(operation: (commit: Commit) => T): Promise<T>;
  /** Commits what is waiting, then refuses. */
  finish(): void;
};

/** Most operations in one group: bounds how long one commit keeps the process from other work. */
const MAX_BATCH = 1_024;
/** Most operations waiting: beyond it the disk is not keeping up, and the caller is told so at once. */
const MAX_WAITING = 65_536;
/** After so long without a commit nobody is busy writing: whoever comes now is not kept waiting for company. */
const QUIET_MS = 0.1;
/** How long a file that another program holds is waited for (a backup tool, for example), without holding up our own process. */
const HELD_MS = 2_000;
const HELD_PAUSE_MS = 25;

type Waiting = {
  /** What it returns settles the caller. */
  readonly apply: (commit: Commit) => () => void;
  readonly reject: (error: unknown) => void;
};

/**
 * A commit costs one fsync however much it holds, so everything that queued while the last one ran goes into the next,
 * with whatever else this turn of the loop brings. After a quiet moment there is nothing to be gathered: what comes then
 * is committed at once, before the turn goes on with what others want of it.
 * If a shared commit fails, each operation is tried in its own: one that cannot be stored fails alone. Where the
 * file is held by another program nobody is at fault: all wait, and then all fail.
 */
export function groupCommit(
  transactions: Transactions,
  failures: Failures,
  elapsed: () => number = () => performance.now(),
): GroupCommit {
  let waiting: Waiting[] = [];
  let scheduled = false;
  let finished = false;
  let heldSince: number | undefined;
  let committedAt = Number.NEGATIVE_INFINITY;

  const schedule = (afterMs?: number): void => {
    if (scheduled) return;
    scheduled = true;
    if (afterMs === undefined) soon(flush, elapsed() - committedAt > QUIET_MS);
    else setTimeout(flush, afterMs);
  };

  const flush = (): void => {
    scheduled = false;
    if (waiting.length === 0) return;
    const batch = waiting.splice(0, MAX_BATCH);
    if (waiting.length > 0) schedule();
    const error = commitTogether(transactions, batch);
    committedAt = elapsed();
    if (error === undefined) {
      heldSince = undefined;
      return;
    }
    if (failures.isHeld(error.cause)) return held(batch, error.cause);
    for (const operation of batch) {
      const alone = batch.length === 1 ? error : commitTogether(transactions, [operation]);
      if (alone !== undefined) operation.reject(failures.of(alone.cause));
    }
  };

  /** They keep their places; once it has lasted too long each is told at its first try. */
  const held = (batch: readonly Waiting[], cause: unknown): void => {
    heldSince ??= elapsed();
    if (elapsed() - heldSince >= HELD_MS) {
      for (const operation of batch) operation.reject(failures.of(cause));
      return;
    }
    waiting.unshift(...batch);
    if (finished) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HELD_PAUSE_MS);
    else schedule(HELD_PAUSE_MS);
  };

  return {
    run<T>(operation: (commit: Commit) => T): Promise<T> {
      if (finished) return Promise.reject(new LogError('closed', 'the log is closed'));
      if (waiting.length >= MAX_WAITING) return Promise.reject(tooSlow());
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
    },
  };
}

function tooSlow(): LogError {
  return new LogError('unavailable', `the store is too slow: ${MAX_WAITING} writes are waiting`);
}

/** Not within the call itself: what is asked for in the same breath goes into the same commit. */
function soon(go: () => void, isQuiet: boolean): void {
  if (isQuiet) queueMicrotask(go);
  else setImmediate(go);
}

type Actions = readonly (() => void)[];

function commitTogether(transactions: Transactions, batch: readonly Waiting[]): { cause: unknown } | undefined {
  const inPlace: (() => void)[] = [];
  const afterCommit: (() => void)[] = [];
  const onRollback: (() => void)[] = [];
  const commit: Commit = {
    inPlace: (action) => inPlace.push(action),
    afterCommit: (action) => afterCommit.push(action),
    onRollback: (action) => onRollback.push(action),
  };
  let settle: (() => void)[];
  try {
    settle = batch.map(({ apply }) => apply(commit));
    transactions.commit(inPlace);
  } catch (cause) {
    transactions.rollback();
    for (const action of onRollback.reverse()) action();
    return { cause };
  }
  for (const action of settle) action();
  for (const action of afterCommit) action();
  return undefined;
}
