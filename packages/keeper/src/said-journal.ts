import { closeSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from 'node:fs';

/** So much waits for the file: to write each line there would hold up the next, and nothing of it outlives us anyway. */
const tailMax = 32 * 1024;

/** All that an agent ever wrote on its stdout, in a file that only its user can read, and the end of it in memory. */
export class SaidJournal {
  readonly #file: string;
  readonly #handle: number;
  /** Where the file begins in what was said; 0 unless it was cut. */
  #base = 0;
  /** So much was said; of it the last `#tailLength` bytes are not in the file. */
  #length = 0;
  readonly #tail = Buffer.allocUnsafeSlow(tailMax);
  #tailLength = 0;

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
    if (this.#tailLength + chunk.length > tailMax) {
      this.#write(this.#tail.subarray(0, this.#tailLength), this.#length - this.#tailLength);
      this.#tailLength = 0;
    }
    if (chunk.length > tailMax) this.#write(chunk, this.#length);
    else {
      this.#tail.set(chunk, this.#tailLength);
      this.#tailLength += chunk.length;
    }
    this.#length += chunk.length;
  }

  /** What was said from a position on, at most so much of it. */
  read(from: number, max: number): Buffer {
    const tailStart = this.#length - this.#tailLength;
    if (from >= tailStart) {
      const start = from - tailStart;
      return Buffer.from(this.#tail.subarray(start, Math.min(start + max, this.#tailLength)));
    }
    const piece = Buffer.allocUnsafe(Math.min(max, tailStart - from));
    const got = readSync(this.#handle, piece, 0, piece.length, from - this.#base);
    return piece.subarray(0, got);
  }

  /** Forgets all that was said up to now: nobody can take the agent up any more, but it can go on. */
  cut(): void {
    ftruncateSync(this.#handle, 0);
    this.#base = this.#length;
    this.#tailLength = 0;
  }

  remove(): void {
    closeSync(this.#handle);
    rmSync(this.#file, { force: true });
  }

  #write(bytes: Uint8Array, at: number): void {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.#handle, bytes, done, bytes.length - done, at + done - this.#base);
    }
  }
}
