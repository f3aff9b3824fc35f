/** How many times its patience a call may take, whatever it says meanwhile. */
const TIMES_IN_ALL = 10;

/** How long a call may still take: anew with every word of progress, and not at all while somebody is asked for it. */
export class CallPatience {
  readonly #late = new AbortController();
  readonly #ms: number;
  #left: number;
  #since = 0;
  #asked = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
    this.#left = ms * TIMES_IN_ALL;
    this.#start();
  }

  /** Aborts when it has run out. */
  get late(): AbortSignal {
    return this.#late.signal;
  }

  progressed(): void {
    if (this.#asked > 0) return;
    this.#stop();
    this.#start();
  }

  /** Stands still for as long as the question is open. */
  async during<T>(question: Promise<T>): Promise<T> {
    if (this.#asked++ === 0) this.#stop();
    try {
      return await question;
    } finally {
      if (--this.#asked === 0) this.#start();
    }
  }

  /** The call is over. */
  end(): void {
    clearTimeout(this.#timer);
    this.#asked = Number.POSITIVE_INFINITY;
  }

  #start(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#late.abort(), Math.max(0, Math.min(this.#ms, this.#left)));
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#left -= performance.now() - this.#since;
  }
}
