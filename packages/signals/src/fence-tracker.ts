import { isWhitespace } from './held-whitespace.ts';

const BACKTICK = 0x60;

/** Follows the code fences of one block, one line at a time; the text itself flows elsewhere. */
export class FenceTracker {
  /** Inside a fenced code block. */
  inside = false;
  /** The current line may open or close a fence, so its characters have to be fed. */
  watching = false;
  /** An unescaped delimiter was taken as text in the fence that is open. */
  suppressed = false;
  /** The character and length of the fence that is open. */
  private fence = 0;
  private size = 0;
  /** Of the current line: its character, its run, and whether the run is over. */
  private mark = 0;
  private run = 0;
  private past = false;

  reset(): void {
    this.inside = false;
    this.watching = false;
    this.suppressed = false;
  }

  /** A line begins with a possible mark after at most three spaces. */
  begin(mark: number): void {
    this.watching = !this.inside || mark === this.fence;
    this.mark = mark;
    this.run = 0;
    this.past = false;
  }

  /** More of the watched line, without its line feed. */
  feed(text: string, from: number, to: number): void {
    let at = from;
    if (!this.past) {
      while (at < to && text.charCodeAt(at) === this.mark) at++;
      this.run += at - from;
      if (at === to) return;
      this.past = true;
      if (this.run < (this.inside ? this.size : 3)) this.watching = false;
    }
    if (!this.watching) return;
    if (this.inside) {
      while (at < to && isWhitespace(text.charCodeAt(at))) at++;
      if (at < to) this.watching = false;
    } else if (this.mark === BACKTICK && text.slice(at, to).includes('`')) {
      this.watching = false;
    }
  }

  /** The watched line is over. */
  endLine(): void {
    if (!this.watching) return;
    this.watching = false;
    if (this.run < (this.inside ? this.size : 3)) return;
    this.inside = !this.inside;
    this.fence = this.mark;
    this.size = this.run;
    this.suppressed = false;
  }
}
