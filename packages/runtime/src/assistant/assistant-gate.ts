/** Why a turn is aborted that the next owner goes on with: what works for it is not ended. */
export const leftToNext = Symbol('left to the next owner');

/** Holds whoever comes by while it is closed. */
export class Gate {
  #opened: Promise<void> | undefined;
  #open: () => void = () => {};

  get isClosed(): boolean {
    return this.#opened !== undefined;
  }

  close(): void {
    this.#opened ??= new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#opened = undefined;
    this.#open();
  }

  /** Rejects when the signal aborts, also for who need not wait. */
  async pass(signal: AbortSignal): Promise<void> {
    while (this.#opened !== undefined) await orAborted(this.#opened, signal);
    signal.throwIfAborted();
  }
}

/** The work goes on unseen when the signal aborts first. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let leave: () => void = () => {};
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(new Error('the turn was interrupted', { cause: signal.reason }));
    signal.addEventListener('abort', leave, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
