import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';

/** A longer journal is not read back: it is held in memory while it is replayed. */
const LONGEST_JOURNAL_BYTES = 1024 * 1024 * 1024;
const NEWLINE = 10;

export type JournalProblem =
  | 'busy'
  | 'unreadable'
  | 'unwritable'
  | 'damaged'
  | 'changed'
  | 'diverged'
  | 'unfinished'
  | 'secret';

/** A journal that cannot be used, and why. The file is then as it was. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
  readonly code: JournalProblem;

  constructor(code: JournalProblem, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** Where a journal's lines are kept: read from the start, then written at the end. */
export type JournalTape = {
  /** How it is called in an error. */
  readonly path: string;
  /** Number of the line that was read last. */
  readonly line: number;
  next(): string | undefined;
  /** From here on it is written. */
  startWriting(): void;
  append(lines: readonly string[]): void;
  /** What was appended is lost no more: at once, or when what is returned resolves. */
  sync(): Promise<void> | undefined;
  close(): void;
  /** Without it, it is always read from the start. */
  readonly marks?: JournalMarks;
  /** What is written of it so far, to be read once more; `isWhole`: from the start, whatever is marked. */
  again?(isWhole: boolean): Promise<JournalTape>;
};

/** On a tape with marks what is read begins after the last one; only its first line is always there. */
export type JournalMarks = {
  readonly last: string | undefined;
  /** So much was written, or computed, since the last that the next one is worth what it costs. */
  isDue(slices: number): boolean;
  mark(text: string): Promise<void>;
  /** The run is over. */
  forget(): void;
};

/** A file of lines of JSON: read from its start, then written at its end. A torn last line is as if it was not there. */
export class JournalFile implements JournalTape {
  readonly path: string;
  readonly #file: number;
  readonly #lock: string | undefined;
  #read: Buffer;
  #at = 0;
  #line = 0;
  #isSynced = true;
  #isWriting = false;

  /** `readOnly` for a replay that never goes on. */
  constructor(path: string, { readOnly }: { readonly readOnly: boolean }) {
    this.path = path;
    this.#lock = readOnly ? undefined : takeLock(path);
    try {
      this.#file = openSync(path, readOnly ? 'r' : 'a+', 0o600);
    } catch (cause) {
      this.#unlock();
      throw new JournalError('unreadable', `cannot open the journal ${path}: ${messageOf(cause)}`, cause);
    }
    try {
      const whole = readWhole(this.#file, path);
      this.#read = whole.subarray(0, endOfLines(whole));
    } catch (cause) {
      this.close();
      throw cause;
    }
  }

  /** Number of the line that was read last. */
  get line(): number {
    return this.#line;
  }

  get hasMore(): boolean {
    return this.#at < this.#read.length;
  }

  next(): string | undefined {
    if (!this.hasMore) return undefined;
    const end = this.#read.indexOf(NEWLINE, this.#at);
    const text = this.#read.toString('utf8', this.#at, end);
    this.#at = end + 1;
    this.#line++;
    return text;
  }

  /** From here on it is written: what was torn at its end goes. */
  startWriting(): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    ftruncateSync(this.#file, this.#read.length);
    this.#read = Buffer.alloc(0);
    this.#at = 0;
  }

  append(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    this.#isSynced = false;
    this.#try(() => {
      for (let written = 0; written < bytes.length; ) written += writeSync(this.#file, bytes, written);
    });
  }

  /** What was appended survives the machine, not only us. */
  sync(): undefined {
    if (this.#isSynced) return;
    this.#isSynced = true;
    this.#try(() => fdatasyncSync(this.#file));
  }

  /** What is not in the journal must not happen: a disk that is full ends the run. */
  #try(write: () => void): void {
    try {
      write();
    } catch (cause) {
      throw new JournalError('unwritable', `cannot write the journal ${this.path}: ${messageOf(cause)}`, cause);
    }
  }

  close(): void {
    closeSync(this.#file);
    this.#unlock();
  }

  #unlock(): void {
    if (this.#lock !== undefined) rmSync(this.#lock, { force: true });
  }
}

function readWhole(file: number, path: string): Buffer {
  const { size } = fstatSync(file);
  if (size > LONGEST_JOURNAL_BYTES) {
    throw new JournalError('unreadable', `the journal ${path} is longer than ${LONGEST_JOURNAL_BYTES} bytes`);
  }
  const whole = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    const count = readSync(file, whole, length, size - length, length);
    if (count === 0) break;
    length += count;
  }
  return whole.subarray(0, length);
}

/** Where the last whole line ends. A machine that goes down may leave a line that has its length and not its text. */
function endOfLines(bytes: Buffer): number {
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  if (end < 2) return 0;
  const start = bytes.lastIndexOf(NEWLINE, end - 2) + 1;
  return bytes.subarray(start, end).includes(0) ? start : end;
}

/** Two runs that write one journal would both be lost. */
function takeLock(path: string): string {
  const lock = `${path}.lock`;
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(lock, `${process.pid}\n`, { flag: 'wx', mode: 0o600 });
      return lock;
    } catch (cause) {
      if (!isCode(cause, 'EEXIST')) {
        throw new JournalError('unreadable', `cannot write ${lock}: ${messageOf(cause)}`, cause);
      }
      const holder = holderOf(lock);
      if (holder !== undefined && isAlive(holder)) {
        throw new JournalError(
          'busy',
          `the journal ${path} is in use by process ${holder}; if that is something else, remove ${lock}`,
        );
      }
      rmSync(lock, { force: true });
    }
  }
  throw new JournalError('busy', `the journal ${path} is in use`);
}

function holderOf(lock: string): number | undefined {
  try {
    const id = Number(readFileSync(lock, 'utf8').trim());
    return Number.isSafeInteger(id) && id > 0 ? id : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(id: number): boolean {
  if (id === process.pid) return false;
  try {
    process.kill(id, 0);
    return true;
  } catch (cause) {
    return isCode(cause, 'EPERM');
  }
}

function isCode(cause: unknown, code: string): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === code;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
