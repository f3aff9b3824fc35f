export function isWhitespace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/**
 * Trims one block as it streams: leading whitespace is dropped, a later run is held until a visible character of the
 * block follows. A run longer than the limit is content as a whole.
 */
export class HeldWhitespace {
  private readonly limit: number;
  /** The run held back. */
  run = '';
  /** A visible character has been taken. */
  opened = false;
  /** The current run was over the limit; more of it passes through. */
  private overflowing = false;

  constructor(limit: number) {
    this.limit = limit;
  }

  reset(): void {
    this.run = '';
    this.opened = false;
    this.overflowing = false;
  }

  /** The content that `text[from, to)` makes certain; often the text itself. */
  take(text: string, from: number, to: number): string {
    let end = to;
    while (end > from && isWhitespace(text.charCodeAt(end - 1))) end--;
    if (end === from) return this.opened && to > from ? this.takeRun(text.slice(from, to)) : '';
    let begin = from;
    if (!this.opened) {
      while (isWhitespace(text.charCodeAt(begin))) begin++;
      this.opened = true;
    }
    let out = begin === 0 && end === text.length ? text : text.slice(begin, end);
    if (this.run !== '') {
      out = this.run + out;
      this.run = '';
    }
    this.overflowing = false;
    return end === to ? out : out + this.takeRun(text.slice(end, to));
  }

  /** More whitespace inside the block; returns it when it is content. */
  takeRun(whitespace: string): string {
    if (this.overflowing) return whitespace;
    this.run += whitespace;
    if (this.run.length <= this.limit) return '';
    const content = this.run;
    this.run = '';
    this.overflowing = true;
    return content;
  }
}
