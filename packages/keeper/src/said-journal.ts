import { closeSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from 'node:fs';

/** So much waits for the file: to write each line there would hold up the next, and nothing of it outlives us anyway. */
const tailMax = 32 * 1024;

/** All that an agent ever wrote on its stdout, in a file that only its user can read, and the end of it in memory. */
export class SaidJournal {
  readonly #file: string;
  readonly #handle: number;
  /** Where the file begins in what was said; 0 unless it was cut. */
  #base = 0;
  /** So much has its place; of it the last `#tailLength` bytes are not in the file. */
  #placed = 0;
  readonly #tail = Buffer.allocUnsafeSlow(tailMax);
  #tailLength = 0;
  /** What came after that and found none: the disk is full. */
  #waiting: Uint8Array[] = [];
  #waitingLength = 0;

  constructor(file: string) {
    this.#file = file;
    this.#handle = openSync(file, 'w+', 0o600);
  }

  get length(): number {
    return this.#placed + this.#waitingLength;
  }

  /** Nothing that was said is missing. */
  get isWhole(): boolean {
    return this.#base === 0;
  }

  /** While it has not, nothing more should be read of the agent. */
  get hasRoom(): boolean {
    return this.#waitingLength === 0;
  }

  get fileLength(): number {
    return this.#placed - this.#base;
  }

  append(chunk: Uint8Array): void {
    if (this.hasRoom && this.#place(chunk)) return;
    this.#waiting.push(chunk);
    this.#waitingLength += chunk.length;
  }

  /** Tries once more what found no place. */
  settle(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#place(next); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#waitingLength -= next.length;
    }
  }

  /** What was said from a position on, at most so much of it. */
  read(from: number, max: number): Buffer {
    if (from >= this.#placed) {
      const start = from - this.#placed;
      return Buffer.concat(this.#waiting).subarray(start, start + max);
    }
    const tailStart = this.#placed - this.#tailLength;
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
    this.#placed = this.length;
    this.#base = this.#placed;
    this.#tailLength = 0;
    this.#waiting = [];
    this.#waitingLength = 0;
  }

  remove(): void {
    closeSync(this.#handle);
    rmSync(this.#file, { force: true });
  }

  /** False when the file takes no more; what it took of it before that is written there again. */
  #place(chunk: Uint8Array): boolean {
    try {
      if (this.#tailLength + chunk.length > tailMax) {
        this.#write(this.#tail.subarray(0, this.#tailLength), this.#placed - this.#tailLength);
        this.#tailLength = 0;
      }
      if (chunk.length > tailMax) this.#write(chunk, this.#placed);
      else {
        this.#tail.set(chunk, this.#tailLength);
        this.#tailLength += chunk.length;
      }
    } catch {
      return false;
    }
    this.#placed += chunk.length;
    return true;
  }

  #write(bytes: Uint8Array, at: number): void {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.#handle, bytes, done, bytes.length - done, at + done - this.#base);
    }
  }
}
