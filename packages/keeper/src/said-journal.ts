import { closeSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from 'node:fs';

/** All that an agent ever wrote on its stdout, in a file that only its user can read. */
export class SaidJournal {
  readonly #file: string;
  readonly #handle: number;
  /** Where the file begins in what was said; 0 unless it was cut. */
  #base = 0;
  #length = 0;

  constructor(file: string) {
    this.#file = file;
    this.#handle = openSync(file, 'w+', 0o600);
  }

  get length(): number {
    return this.#length;
  }

  /** Nothing that was said is missing. */
  get isWhole(): boolean {
    return this.#base === 0;
  }

  get fileLength(): number {
    return this.#length - this.#base;
  }

  append(chunk: Uint8Array): void {
    for (let done = 0; done < chunk.length; ) {
      const written = writeSync(this.#handle, chunk, done, chunk.length - done, this.#length + done - this.#base);
      done += written;
    }
    this.#length += chunk.length;
  }

  /** What was said from a position on, at most so much of it. */
  read(from: number, max: number): Buffer {
    const piece = Buffer.allocUnsafe(Math.min(max, this.#length - from));
    const got = readSync(this.#handle, piece, 0, piece.length, from - this.#base);
    return piece.subarray(0, got);
  }

  /** Forgets all that was said up to now: nobody can take the agent up any more, but it can go on. */
  cut(): void {
    ftruncateSync(this.#handle, 0);
    this.#base = this.#length;
  }

  remove(): void {
    closeSync(this.#handle);
    rmSync(this.#file, { force: true });
  }
}
