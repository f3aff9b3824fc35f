const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LF = 0x0a;

/** Below this, looking at each character is cheaper than three searches. */
const SKIP_FROM = 16;

export type ScanStop = 'none' | 'depth' | 'calls' | 'element';

/** What stands next at the level of the outer array. */
const VALUE_OR_CLOSE = 0;
const VALUE = 1;
const COMMA_OR_CLOSE = 2;

/**
 * Follows the brackets and strings of a CALLS block, each character once, for the limits, for the elements that are
 * complete, and for the question whether a position lies inside a string. It does not judge: JSON.parse does.
 */
export class JsonScanner {
  private readonly maxDepth: number;
  private readonly maxCalls: number;
  inString = false;
  private escaped = false;
  private depth = 0;
  /** The content is an array, so its elements are counted. */
  private array = false;
  private any = false;
  private expect = VALUE_OR_CLOSE;
  private count = 0;
  /** Something no valid array of objects has at the outer level was seen. */
  faulty = false;
  /** The position after the last character of the last scan. */
  at = 0;
  /** Of the piece being scanned: the next line feed, its length if none; -1 when not known. */
  private nextLine = -1;
  /** Where in the scanned piece the element in progress begins; -1 outside, 0 when it began in an earlier piece. */
  elementStart = -1;

  constructor(maxDepth: number, maxCalls: number) {
    this.maxDepth = maxDepth;
    this.maxCalls = maxCalls;
  }

  reset(): void {
    this.inString = false;
    this.escaped = false;
    this.depth = 0;
    this.array = false;
    this.any = false;
    this.expect = VALUE_OR_CLOSE;
    this.count = 0;
    this.faulty = false;
    this.elementStart = -1;
  }

  /** The next scan reads another piece, from here. */
  begin(at: number): void {
    this.at = at;
    this.nextLine = -1;
  }

  /** Reads `text[from, to)` and stops early at a limit or after a complete object of the outer array. */
  scan(text: string, from: number, to: number): ScanStop {
    let at = from;
    while (at < to) {
      if (this.inString) {
        if (!this.escaped && to - at >= SKIP_FROM) {
          if (this.nextLine < at) {
            this.nextLine = text.indexOf('\n', at);
            if (this.nextLine === -1) this.nextLine = text.length;
          }
          const end = Math.min(this.nextLine, to);
          if (at < end) {
            at = this.skipString(text, at, end);
            continue;
          }
        }
        this.stringCharacter(text.charCodeAt(at++));
        continue;
      }
      const code = text.charCodeAt(at++);
      if (code === 0x20 || code === LF || code === 0x0d || code === 0x09) continue;
      // The mask lets the four brackets through, and a few characters that mean nothing to `structure`.
      if (this.depth > 1 && code !== QUOTE && (code | 0x26) !== 0x7f) continue;
      const stop = this.structure(code, at - 1);
      if (stop !== 'none') {
        this.at = at;
        return stop;
      }
    }
    this.at = to;
    return 'none';
  }

  private stringCharacter(code: number): void {
    // No valid string holds a raw line feed, so it is the place to come to our senses.
    if (code === LF) {
      this.inString = false;
      this.escaped = false;
    } else if (this.escaped) this.escaped = false;
    else if (code === BACKSLASH) this.escaped = true;
    else if (code === QUOTE) this.inString = false;
  }

  /** From inside a string to after its closing quote, its line's end, or `end`. */
  private skipString(text: string, from: number, end: number): number {
    let at = from;
    for (;;) {
      const quote = text.indexOf('"', at);
      const stop = quote === -1 || quote >= end ? end : quote;
      let slashes = stop;
      while (slashes > at && text.charCodeAt(slashes - 1) === BACKSLASH) slashes--;
      const odd = ((stop - slashes) & 1) === 1;
      if (stop === end) {
        this.escaped = odd;
        return end;
      }
      at = stop + 1;
      if (!odd) {
        this.inString = false;
        return at;
      }
      if (at === end) return at;
    }
  }

  private structure(code: number, at: number): ScanStop {
    let over = false;
    if (!this.any) {
      this.any = true;
      this.array = code === 0x5b;
    } else if (this.array && this.depth === 1) over = this.outer(code, at);
    else if (this.depth === 0) this.faulty = true;
    let stop: ScanStop = 'none';
    if (code === QUOTE) this.inString = true;
    else if (code === 0x5b || code === 0x7b) {
      this.depth++;
      if (this.depth > this.maxDepth) stop = 'depth';
    } else if (code === 0x5d || code === 0x7d) {
      if (this.depth > 0) this.depth--;
      if (this.array && this.depth === 1 && this.elementStart !== -1) stop = 'element';
    }
    // The limit speaks last, when the character has had its effect: a lenient parser reads on after it.
    return over ? 'calls' : stop;
  }

  /** One visible character at the level of the outer array; true when it begins one element too many. */
  private outer(code: number, at: number): boolean {
    if (code === 0x2c) {
      if (this.expect !== COMMA_OR_CLOSE) this.faulty = true;
      this.expect = VALUE;
    } else if (code === 0x5d) {
      if (this.expect === VALUE) this.faulty = true;
    } else if (this.expect === COMMA_OR_CLOSE) {
      this.faulty = true;
    } else {
      this.expect = COMMA_OR_CLOSE;
      this.count++;
      if (this.count > this.maxCalls) return true;
      if (code === 0x7b) this.elementStart = at;
      else this.faulty = true;
    }
    return false;
  }
}
