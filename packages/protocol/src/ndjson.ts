/** Longest line we take, in bytes without its line end. */
export const lineLengthMax = 8 * 1024 * 1024;

export type LineErrorCode = 'line-too-long' | 'invalid-utf8';

/** A line that is not what the wire promises. Told beside the good lines: the stream goes on after it. */
export class LineError extends Error {
  override readonly name = 'LineError';
  readonly code: LineErrorCode;
  /** For `invalid-utf8`: the line, each bad sequence replaced by U+FFFD. */
  readonly text: string | undefined;

  constructor(code: LineErrorCode, message: string, text?: string) {
    super(message);
    this.code = code;
    this.text = text;
  }
}

/** A line without its line end, or what is wrong with it. */
export type Line = string | LineError;

// The one thing of the platform this room needs; both Node and browsers have it.
declare const TextDecoder: new (
  label: 'utf-8',
  options: { readonly fatal: boolean; readonly ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };

const lf = 10;
const cr = 13;
const byteOrderMark = '\uFEFF';
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const replacingUtf8 = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

/** Memory kept between lines; a longer line's buffer is given back. */
const keptBuffer = 64 * 1024;

/**
 * Cuts a byte stream into lines at LF, tolerating CRLF and a byte order mark at the start. A chunk is decoded once and
 * its lines are slices of it; only a line that crosses chunks is copied.
 */
export class LineSplitter {
  readonly #limit: number;
  /** The line that has no LF yet: the first `#heldLength` bytes. */
  #held = new Uint8Array(1024);
  #heldLength = 0;
  /** The line that has no LF yet is over the limit and already reported: skip to its end. */
  #skipping = false;
  #atStart = true;

  constructor(limit: number = lineLengthMax) {
    this.#limit = limit;
  }

  /** The lines that this chunk completes, in order. */
  push(chunk: Uint8Array): Line[] {
    const lines: Line[] = [];
    let start = 0;
    if (this.#skipping || this.#heldLength > 0) {
      const end = chunk.indexOf(lf);
      if (end === -1) {
        this.#hold(chunk, lines);
        return lines;
      }
      this.#finishHeld(chunk.subarray(0, end), lines);
      start = end + 1;
    }
    const last = chunk.lastIndexOf(lf);
    if (last >= start) {
      this.#cut(chunk.subarray(start, last + 1), lines);
      start = last + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start), lines);
    return lines;
  }

  /** The last line, when it has no LF. */
  end(): Line[] {
    const lines: Line[] = [];
    if (this.#heldLength > 0) this.#finishHeld(new Uint8Array(0), lines);
    this.#skipping = false;
    return lines;
  }

  /** Bytes that begin at a line's start and end with an LF. */
  #cut(bytes: Uint8Array, lines: Line[]): void {
    const text = bytes.length <= this.#limit ? decodeStrictly(bytes) : undefined;
    if (text === undefined) return this.#cutEach(bytes, lines);
    let start = this.#afterByteOrderMark(text);
    for (let end = text.indexOf('\n', start); end !== -1; end = text.indexOf('\n', start)) {
      lines.push(text.slice(start, text.charCodeAt(end - 1) === cr && end > start ? end - 1 : end));
      start = end + 1;
    }
  }

  /** The slow way, a line at a time: some line is over the limit or not UTF-8, and only that one may suffer. */
  #cutEach(bytes: Uint8Array, lines: Line[]): void {
    let start = 0;
    for (let end = bytes.indexOf(lf); end !== -1; end = bytes.indexOf(lf, start)) {
      this.#pushLine(bytes.subarray(start, end), lines);
      start = end + 1;
    }
  }

  #pushLine(bytes: Uint8Array, lines: Line[]): void {
    const line = bytes[bytes.length - 1] === cr ? bytes.subarray(0, -1) : bytes;
    if (line.length > this.#limit) {
      this.#atStart = false;
      lines.push(tooLong(this.#limit));
      return;
    }
    const text = decodeStrictly(line);
    if (text !== undefined) {
      lines.push(text.slice(this.#afterByteOrderMark(text)));
      return;
    }
    const replaced = replacingUtf8.decode(line);
    lines.push(invalidUtf8(replaced.slice(this.#afterByteOrderMark(replaced))));
  }

  #hold(bytes: Uint8Array, lines: Line[]): void {
    if (this.#skipping || bytes.length === 0) return;
    const length = this.#heldLength + bytes.length;
    // One byte over the limit may still be the CR of the line's end.
    const over = length - this.#limit;
    if (over > 1 || (over === 1 && bytes[bytes.length - 1] !== cr)) {
      this.#skipping = true;
      this.#atStart = false;
      this.#release();
      lines.push(tooLong(this.#limit));
      return;
    }
    if (length > this.#held.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#held.length));
      larger.set(this.#held.subarray(0, this.#heldLength));
      this.#held = larger;
    }
    this.#held.set(bytes, this.#heldLength);
    this.#heldLength = length;
  }

  #finishHeld(rest: Uint8Array, lines: Line[]): void {
    if (!this.#skipping) this.#hold(rest, lines);
    // Reported just now by `#hold`, or long ago; either way its end is here.
    if (this.#skipping) {
      this.#skipping = false;
      return;
    }
    this.#pushLine(this.#held.subarray(0, this.#heldLength), lines);
    this.#release();
  }

  #release(): void {
    this.#heldLength = 0;
    if (this.#held.length > keptBuffer) this.#held = new Uint8Array(1024);
  }

  #afterByteOrderMark(text: string): number {
    const length = this.#atStart && text.startsWith(byteOrderMark) ? 1 : 0;
    this.#atStart = false;
    return length;
  }
}

function decodeStrictly(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    // Not UTF-8: the caller finds out which line it is.
    return undefined;
  }
}

function tooLong(limit: number): LineError {
  return new LineError('line-too-long', `a line is longer than the limit of ${limit} bytes; it was skipped`);
}

function invalidUtf8(text: string): LineError {
  return new LineError('invalid-utf8', 'a line is not valid UTF-8; the bad bytes were replaced', text);
}
