/** A place in a script that waits for the test, and at which the test can wait for the script. */
export class Gate {
  /** Resolves when the script has come to it. */
  readonly reached: Promise<void>;
  readonly #opened: Promise<void>;
  #reach: () => void = () => undefined;
  #open: () => void = () => undefined;

  constructor() {
    this.reached = new Promise((resolve) => {
      this.#reach = resolve;
    });
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#open();
  }

  /** For the server. */
  async pass(left: Promise<unknown>): Promise<void> {
    this.#reach();
    await Promise.race([this.#opened, left]);
  }
}
