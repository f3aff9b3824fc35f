import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** A write for every emit costs more than the program; this much is gathered at most. */
const GATHERED_CHARACTERS = 16 * 1024;

/** Gathers small writes of one turn of the event loop. */
export class OutputBuffer {
  readonly #stream: Writable;
  #text = '';
  #scheduled = false;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  write(text: string): void {
    this.#text += text;
    if (this.#text.length >= GATHERED_CHARACTERS) this.flush();
    else if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(() => {
        this.#scheduled = false;
        this.flush();
      });
    }
  }

  /** Resolves when the reader has taken what was written: a slow one must not fill our memory. */
  async drained(): Promise<void> {
    this.flush();
    if (this.#stream.writableNeedDrain) await once(this.#stream, 'drain');
  }

  flush(): void {
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    this.#stream.write(text);
  }
}
