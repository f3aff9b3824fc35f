import type { EventSink } from './event-sink.ts';
import { isWhitespace } from './held-whitespace.ts';

const CLOSE = 0x5d;

/**
 * The text of a result after `[SYSTEM:`. The final `]` and the whitespace round it are not content, so one bracket
 * and the runs before and after it are held until something visible follows.
 */
export class SystemBlock {
  private readonly sink: EventSink;
  private readonly limit: number;
  private block = 0;
  private opened = false;
  private before = '';
  private bracket = false;
  private after = '';
  private overflowing = false;

  constructor(sink: EventSink, limit: number) {
    this.sink = sink;
    this.limit = limit;
  }

  open(block: number): void {
    this.block = block;
    this.opened = false;
    this.before = '';
    this.bracket = false;
    this.after = '';
    this.overflowing = false;
  }

  append(text: string, from: number, to: number): void {
    const last = text.charCodeAt(to - 1);
    // The usual piece ends in something visible that is no bracket, and nothing is held.
    if (this.opened && last !== CLOSE && !isWhitespace(last)) {
      this.takeVisible(from === 0 && to === text.length ? text : text.slice(from, to));
      return;
    }
    let end = to;
    while (end > from && isWhitespace(text.charCodeAt(end - 1))) end--;
    let begin = from;
    while (begin < end && isWhitespace(text.charCodeAt(begin))) begin++;
    if (begin === end) {
      if (from < to) this.takeRun(text.slice(from, to));
      return;
    }
    if (begin > from) this.takeRun(text.slice(from, begin));
    if (text.charCodeAt(end - 1) === CLOSE) {
      let visible = end - 1;
      while (visible > begin && isWhitespace(text.charCodeAt(visible - 1))) visible--;
      if (visible > begin) this.takeVisible(text.slice(begin, visible));
      if (visible < end - 1) this.takeRun(text.slice(visible, end - 1));
      this.takeBracket();
    } else {
      this.takeVisible(text.slice(begin, end));
    }
    if (end < to) this.takeRun(text.slice(end, to));
  }

  private takeVisible(text: string): void {
    this.overflowing = false;
    if (!this.bracket && this.before === '') {
      this.emit(text);
      return;
    }
    const held = this.bracket ? `${this.before}]${this.after}` : this.before;
    this.before = '';
    this.after = '';
    this.bracket = false;
    this.emit(held + text);
  }

  private takeBracket(): void {
    this.overflowing = false;
    if (!this.bracket) {
      this.bracket = true;
      return;
    }
    const content = `${this.before}]`;
    this.before = this.after;
    this.after = '';
    this.emit(content);
  }

  private takeRun(whitespace: string): void {
    if (!this.opened && !this.bracket) return;
    if (this.overflowing) {
      this.emit(whitespace);
      return;
    }
    if (this.bracket) this.after += whitespace;
    else this.before += whitespace;
    if ((this.bracket ? this.after : this.before).length > this.limit) {
      this.takeVisible('');
      this.overflowing = true;
    }
  }

  private emit(content: string): void {
    this.opened = true;
    this.sink.emit({ type: 'system', content, timestamp: this.sink.time, block: this.block });
  }
}
