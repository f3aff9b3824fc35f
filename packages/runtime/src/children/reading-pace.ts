/** So much is forgotten at a time. */
const forgetEvery = 512;

type Forget = (through: number) => Promise<void>;

/** How far somebody who reads may be behind whoever writes; and, where it will not be read again, that it is forgotten. */
export class ReadingPace {
  readonly #unreadMax: number;
  readonly #forget: Forget | undefined;
  #position = 0;
  #forgotten = 0;
  #isOver = false;
  #waiting: (() => void)[] = [];

  constructor(unreadMax: number, forget: Forget | undefined) {
    this.#unreadMax = unreadMax;
    this.#forget = forget;
  }

  /** Undefined where more may be written after `head`; else resolves when some of it was read. */
  room(head: number): Promise<void> | undefined {
    if (this.#isOver || head - this.#position < this.#unreadMax) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async read(position: number): Promise<void> {
    this.#position = Math.max(this.#position, position);
    this.#wake();
    if (this.#forget === undefined || this.#position - this.#forgotten < forgetEvery) return;
    this.#forgotten = this.#position;
    await this.#forget(this.#position);
  }

  /** Nobody reads any more, and nobody waits for that. */
  close(): void {
    this.#isOver = true;
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
