import { DelimiterMatch } from './delimiter-match.ts';
import { type DelimiterWord, delimiterAt } from './delimiters.ts';
import { EventSink } from './event-sink.ts';
import type { SignalEvent } from './events.ts';
import { FenceTracker } from './fence-tracker.ts';
import { type ResolvedSignalOptions, resolveSignalOptions, type SignalOptions } from './signal-options.ts';
import { SignalsMisuseError } from './signals-misuse-error.ts';
import { isWellFormed, TextInput } from './text-input.ts';
import { Turn } from './turn.ts';

export type SignalParser = {
  /** Takes the next piece of the turn and emits every event it makes certain. */
  push(input: string | Uint8Array): void;
  /** Ends the turn. A second call does nothing. */
  finish(): void;
  /** The turn is over: whatever else is pushed is ignored. */
  readonly done: boolean;
};

/** A parser for one turn of model output. `onEvent` must not push to the same parser. */
export function createSignalParser(options: SignalOptions, onEvent: (event: SignalEvent) => void): SignalParser {
  return new Parser(resolveSignalOptions(options), onEvent);
}

const LF = 0x0a;
const SPACE = 0x20;
const SIGN = 0xa7;

/** Up to this length a loop over the characters is cheaper than a search and a check. */
const SMALL_CHUNK = 16;

/** Up to this length looking at each line is cheaper than three searches. */
const SHORT_TEXT = 256;

class Parser implements SignalParser {
  private readonly lenient: boolean;
  private readonly sink: EventSink;
  private readonly turn: Turn;
  private readonly input = new TextInput();
  private readonly match: DelimiterMatch;
  private readonly fence = new FenceTracker();
  private finished = false;
  /** The position is inside a line that needs no watching, and the input is plain text: the quick way is open. */
  private midLine = false;
  /** Of the chunk being read: the next of each at or after the position, its length if none; -1 when not known. */
  private nextLine = -1;
  private nextSign = -1;
  private nextTick = -1;
  private nextTilde = -1;

  constructor(options: ResolvedSignalOptions, onEvent: (event: SignalEvent) => void) {
    this.lenient = options.mode === 'lenient';
    this.sink = new EventSink(onEvent, options.now, options.mode === 'strict');
    this.turn = new Turn(this.sink, options);
    this.match = new DelimiterMatch(options.mode);
    this.match.beginLine(true);
  }

  get done(): boolean {
    return this.sink.done || this.finished;
  }

  push(input: string | Uint8Array): void {
    if (this.midLine && typeof input === 'string') {
      if (input.length <= SMALL_CHUNK) {
        if (isPlainPiece(input)) {
          this.sink.tick();
          this.turn.append(input, 0, input.length);
          return;
        }
      } else if (isWellFormed(input)) {
        this.sink.tick();
        this.forget();
        const line = this.nextLook(input, 0);
        if (line === -1) this.turn.append(input, 0, input.length);
        else this.consume(input, this.readTo(input, 0, line));
        return;
      }
    }
    if (this.finished) throw new SignalsMisuseError('push_after_finish', 'push after finish: a parser reads one turn');
    this.sink.tick();
    this.forget();
    this.consume(this.input.accept(input), 0);
  }

  finish(): void {
    if (this.finished) return;
    this.finished = true;
    this.sink.tick();
    this.forget();
    this.consume(this.input.finish(), 0);
    this.midLine = false;
    if (this.sink.done) return;
    if (this.match.active) this.endMatch();
    this.fence.endLine();
    this.turn.finish(this.fence.inside && this.fence.suppressed);
  }

  /** Another text is about to be read. */
  private forget(): void {
    this.nextLine = -1;
    this.nextSign = -1;
    this.nextTick = -1;
    this.nextTilde = -1;
  }

  private consume(text: string, from: number): void {
    let at = from;
    while (at < text.length && !this.sink.done) {
      if (this.match.active) at = this.readMatch(text, at);
      else if (this.fence.watching) at = this.readFenceLine(text, at);
      else at = this.lenient ? this.readLenientLines(text, at) : this.readLines(text, at);
    }
    this.midLine = this.input.plain && !this.lenient && !this.match.active && !this.fence.watching && !this.sink.done;
  }

  /** From inside a line to the next line start that needs a look, or the end of the text. */
  private readLines(text: string, from: number): number {
    const line = this.nextLook(text, from);
    if (line !== -1) return this.readTo(text, from, line);
    this.turn.append(text, from, text.length);
    return text.length;
  }

  /** From inside a line over the start of `line`, with the delimiter that stands there whole. */
  private readTo(text: string, from: number, line: number): number {
    this.turn.append(text, from, line);
    const whole = text.charCodeAt(line) === SIGN && !this.fence.inside;
    const word = whole ? delimiterAt(text, line) : undefined;
    if (word === undefined) {
      this.match.beginLine(true);
      return line;
    }
    if (!this.sink.done) this.delimiter(word, false);
    const at = line + word.length + 2;
    // The usual first line of a block opens no fence.
    if (this.match.active && this.isPlainLine(text, at)) this.match.clear();
    return at;
  }

  /** The first line after `from` that needs a look; -1 when there is none. */
  private nextLook(text: string, from: number): number {
    return text.length - from <= SHORT_TEXT ? this.stepLines(text, from) : this.searchLines(text, from);
  }

  /** By looking at each. */
  private stepLines(text: string, from: number): number {
    for (let end = text.indexOf('\n', from); end !== -1; end = text.indexOf('\n', end + 1)) {
      if (!this.isPlainLine(text, end + 1)) return end + 1;
    }
    return -1;
  }

  /** By looking for the few characters that matter: in a long text there are more lines than those. */
  private searchLines(text: string, from: number): number {
    let at = from;
    while (at < text.length) {
      const candidate = this.findCandidate(text, at);
      const line = lineStartBefore(text, from, candidate);
      if (line !== -1) return line;
      at = candidate + 1;
    }
    return -1;
  }

  /** The next character that may begin a delimiter or a fence, or the end of the text. */
  private findCandidate(text: string, at: number): number {
    const sign = this.findSign(text, at);
    if (!this.turn.fenced) return sign;
    if (this.nextTick < at) this.nextTick = find(text, '`', at);
    if (this.nextTilde < at) this.nextTilde = find(text, '~', at);
    return Math.min(sign, this.nextTick, this.nextTilde);
  }

  /** The same where a sign anywhere may begin a delimiter. */
  private readLenientLines(text: string, from: number): number {
    let start = from;
    let at = from;
    for (;;) {
      const line = this.findLine(text, at);
      const sign = this.findSign(text, at);
      if (sign < line) {
        this.turn.append(text, start, sign);
        if (this.sink.done) return text.length;
        if (this.turn.signMayBegin) {
          this.match.beginSigns();
          return sign;
        }
        start = sign;
        at = sign + 1;
        continue;
      }
      if (line === text.length) {
        this.turn.append(text, start, line);
        return line;
      }
      at = line + 1;
      if (this.isPlainLine(text, at)) continue;
      this.turn.append(text, start, at);
      this.match.beginLine(true);
      return at;
    }
  }

  /** More of a line that may open or close a fence. */
  private readFenceLine(text: string, from: number): number {
    const line = this.findLine(text, from);
    const sign = this.lenient ? this.findSign(text, from) : line;
    const to = Math.min(line, sign);
    this.fence.feed(text, from, to);
    if (sign < line) {
      this.turn.append(text, from, sign);
      // Feed the sign too: should it turn out to be text, the line's run of marks has ended.
      this.fence.feed(text, sign, sign + 1);
      this.match.beginSigns();
      return sign;
    }
    if (line === text.length) {
      this.turn.append(text, from, line);
      return line;
    }
    this.fence.endLine();
    this.turn.append(text, from, line + 1);
    this.match.beginLine(true);
    return line + 1;
  }

  private findLine(text: string, from: number): number {
    if (this.nextLine < from) this.nextLine = find(text, '\n', from);
    return this.nextLine;
  }

  private findSign(text: string, from: number): number {
    if (this.nextSign < from) this.nextSign = find(text, '§', from);
    return this.nextSign;
  }

  /** Whether the line at `at` can neither be a delimiter nor a fence; false when the text ends too early to know. */
  private isPlainLine(text: string, at: number): boolean {
    for (let column = 0; column < 4; column++) {
      if (at + column >= text.length) return false;
      const code = text.charCodeAt(at + column);
      if (code === SPACE) continue;
      if (code === SIGN) return false;
      return !((code === 0x60 || code === 0x7e) && this.turn.fenced);
    }
    return true;
  }

  private readMatch(text: string, from: number): number {
    const { match } = this;
    // In a fence nothing is held back: the match only finds out whether the fence hides a delimiter.
    const echo = this.fence.inside;
    const outcome = match.step(text, from);
    let at = match.at;
    if (echo) {
      this.turn.append(text, from, at);
      match.takeCertain();
    } else {
      this.append(match.takeCertain());
    }
    if (outcome === 'pending' || this.sink.done) return at;
    if (outcome === 'delimiter' && !match.escaped) {
      if (echo) this.fence.suppressed = true;
      else {
        const bareLine = !match.colon && text.charCodeAt(at) === LF;
        if (bareLine) at++;
        this.recognise(bareLine);
        return at;
      }
    } else if (!echo) {
      this.append(outcome === 'delimiter' ? match.unescaped() : match.verbatim());
    }
    match.clear();
    if (outcome === 'fence' && this.turn.fenced) this.fence.begin(text.charCodeAt(at));
    return at;
  }

  private endMatch(): void {
    const { match } = this;
    const delimiter = match.finish() === 'delimiter';
    if (this.fence.inside) {
      if (delimiter && !match.escaped) this.fence.suppressed = true;
      match.clear();
    } else if (delimiter && !match.escaped) {
      this.recognise(false);
    } else {
      this.append(delimiter ? match.unescaped() : match.verbatim());
      match.clear();
    }
  }

  private recognise(lineRead: boolean): void {
    const word = this.match.recognised();
    this.match.clear();
    if (word !== undefined) this.delimiter(word, lineRead);
  }

  /** A delimiter is complete; `lineRead` when its line's end is, too. */
  private delimiter(word: DelimiterWord, lineRead: boolean): void {
    this.fence.reset();
    this.turn.delimiter(word);
    if (lineRead) this.match.beginLine(true);
    // The first line of a block, after the colon, may open a fence.
    else if (this.turn.fenced) this.match.beginLine(false);
  }

  private append(text: string): void {
    this.turn.append(text, 0, text.length);
  }
}

function find(text: string, character: string, from: number): number {
  const found = text.indexOf(character, from);
  return found === -1 ? text.length : found;
}

/**
 * Where the line begins of which `at` is the first character after at most three spaces; -1 when it is not, or when
 * the line began before `from`.
 */
function lineStartBefore(text: string, from: number, at: number): number {
  let start = at;
  while (start > from && at - start < 3 && text.charCodeAt(start - 1) === SPACE) start--;
  return start > from && text.charCodeAt(start - 1) === LF ? start : -1;
}

/** Whether short text has no line feed and no surrogate to look after. */
function isPlainPiece(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === LF || (code & 0xf800) === 0xd800) return false;
  }
  return true;
}
