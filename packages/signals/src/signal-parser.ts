import { CallsBlock } from './calls-block.ts';
import { DelimiterMatch } from './delimiter-match.ts';
import type { DelimiterWord } from './delimiters.ts';
import { EventSink } from './event-sink.ts';
import type { SignalEvent } from './events.ts';
import { FenceTracker } from './fence-tracker.ts';
import { HeldWhitespace, isWhitespace } from './held-whitespace.ts';
import { type ResolvedSignalOptions, resolveSignalOptions, type SignalOptions } from './signal-options.ts';
import { SignalsMisuseError } from './signals-misuse-error.ts';
import { SystemBlock } from './system-block.ts';
import { isWellFormed, TextInput } from './text-input.ts';

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
const SYSTEM_PREFIX = '[SYSTEM:';

/** Up to this length a loop over the characters is cheaper than a search and a check. */
const SMALL_CHUNK = 16;

/** What the current text belongs to. */
const TEXT = 0;
const CALLS = 1;
const SYSTEM = 2;
/** After EXECUTE, before anything visible. */
const WAITING = 3;
/** After EXECUTE, in text that is not a result. */
const BABBLE = 4;

class Parser implements SignalParser {
  private readonly strict: boolean;
  private readonly lenient: boolean;
  private readonly options: ResolvedSignalOptions;
  private readonly sink: EventSink;
  private readonly input = new TextInput();
  private readonly match: DelimiterMatch;
  private readonly fence = new FenceTracker();
  private readonly held: HeldWhitespace;
  private readonly calls: CallsBlock;
  private readonly system: SystemBlock;

  private kind = TEXT;
  private type: 'think' | 'respond' = 'respond';
  private implicit = true;
  private block = 0;
  /** How much of `[SYSTEM:` has come while waiting. */
  private prefix = 0;
  /** A CALLS block has come since the last EXECUTE. */
  private batch = false;
  /** Valid calls wait for EXECUTE. */
  private unexecuted = false;
  private finished = false;
  /** The position is inside a line that needs no watching, and the input is plain text: the quick way is open. */
  private midLine = false;
  /** Of the chunk being read: the next line feed and sign at or after the position, its length if none; -1 unknown. */
  private nextLine = -1;
  private nextSign = -1;

  constructor(options: ResolvedSignalOptions, onEvent: (event: SignalEvent) => void) {
    this.options = options;
    this.strict = options.mode === 'strict';
    this.lenient = options.mode === 'lenient';
    this.sink = new EventSink(onEvent, options.now, this.strict);
    this.match = new DelimiterMatch(options.mode);
    this.held = new HeldWhitespace(options.maxHeldWhitespace);
    this.calls = new CallsBlock(this.sink, options);
    this.system = new SystemBlock(this.sink, options.maxHeldWhitespace);
    this.match.beginLine(true);
  }

  get done(): boolean {
    return this.sink.done || this.finished;
  }

  push(input: string | Uint8Array): void {
    if (this.midLine && typeof input === 'string' && isPlainPiece(input)) {
      this.sink.tick();
      this.append(input, 0, input.length);
      return;
    }
    if (this.finished) throw new SignalsMisuseError('push_after_finish', 'push after finish: a parser reads one turn');
    this.sink.tick();
    this.consume(this.input.accept(input));
    this.midLine = this.input.plain && !this.lenient && !this.match.active && !this.fence.watching && !this.sink.done;
  }

  finish(): void {
    if (this.finished) return;
    this.finished = true;
    this.midLine = false;
    this.sink.tick();
    this.consume(this.input.finish());
    if (this.sink.done) return;
    if (this.match.active) this.endMatch();
    if (this.kind === WAITING && this.prefix > 0) this.babble();
    this.fence.endLine();
    if (this.fence.inside && this.fence.suppressed) {
      this.sink.error('unclosed_fence', 'the turn ended inside a code fence that held a signal: close the fence');
    }
    this.closeBlock();
    this.reportUnexecuted();
    if (this.kind !== WAITING && this.kind !== BABBLE) this.sink.error('missing_end', 'the turn ended without §END:');
    this.sink.done = true;
  }

  private consume(text: string): void {
    this.nextLine = -1;
    this.nextSign = -1;
    let at = 0;
    while (at < text.length && !this.sink.done) {
      if (this.match.active) at = this.readMatch(text, at);
      else if (this.fence.watching) at = this.readFenceLine(text, at);
      else at = this.lenient ? this.readLenientLines(text, at) : this.readLines(text, at);
    }
  }

  /** From inside a line to the next line start that needs a look, or the end of the text. */
  private readLines(text: string, from: number): number {
    let at = from;
    for (;;) {
      const line = text.indexOf('\n', at);
      if (line === -1) {
        this.append(text, from, text.length);
        return text.length;
      }
      at = line + 1;
      if (this.isPlainLine(text, at)) continue;
      this.append(text, from, at);
      this.match.beginLine(true);
      return at;
    }
  }

  /** The same where a sign anywhere may begin a delimiter. */
  private readLenientLines(text: string, from: number): number {
    let start = from;
    let at = from;
    for (;;) {
      const line = this.findLine(text, at);
      const sign = this.findSign(text, at);
      if (sign < line) {
        this.append(text, start, sign);
        if (this.sink.done) return text.length;
        if (this.signMayBegin()) {
          this.match.beginSigns();
          return sign;
        }
        start = sign;
        at = sign + 1;
        continue;
      }
      if (line === text.length) {
        this.append(text, start, line);
        return line;
      }
      at = line + 1;
      if (this.isPlainLine(text, at)) continue;
      this.append(text, start, at);
      this.match.beginLine(true);
      return at;
    }
  }

  /** Inside a line a sign counts only in lenient text, not in a result and not in a JSON string. */
  private signMayBegin(): boolean {
    return this.kind === CALLS ? !this.calls.insideString() : this.kind !== SYSTEM;
  }

  /** More of a line that may open or close a fence. */
  private readFenceLine(text: string, from: number): number {
    const line = this.findLine(text, from);
    const sign = this.lenient ? this.findSign(text, from) : line;
    const to = Math.min(line, sign);
    this.fence.feed(text, from, to);
    if (sign < line) {
      this.append(text, from, sign);
      // Feed the sign too: should it turn out to be text, the line's run of marks has ended.
      this.fence.feed(text, sign, sign + 1);
      this.match.beginSigns();
      return sign;
    }
    if (line === text.length) {
      this.append(text, from, line);
      return line;
    }
    this.fence.endLine();
    this.append(text, from, line + 1);
    this.match.beginLine(true);
    return line + 1;
  }

  private findLine(text: string, from: number): number {
    if (this.nextLine < from) {
      const found = text.indexOf('\n', from);
      this.nextLine = found === -1 ? text.length : found;
    }
    return this.nextLine;
  }

  private findSign(text: string, from: number): number {
    if (this.nextSign < from) {
      const found = text.indexOf('§', from);
      this.nextSign = found === -1 ? text.length : found;
    }
    return this.nextSign;
  }

  /** Whether the line at `at` can neither be a delimiter nor a fence; false when the text ends too early to know. */
  private isPlainLine(text: string, at: number): boolean {
    for (let column = 0; column < 4; column++) {
      if (at + column >= text.length) return false;
      const code = text.charCodeAt(at + column);
      if (code === SPACE) continue;
      if (code === SIGN) return false;
      return !((code === 0x60 || code === 0x7e) && this.fencesApply());
    }
    return true;
  }

  private fencesApply(): boolean {
    return this.options.fences && this.kind === TEXT;
  }

  private readMatch(text: string, from: number): number {
    const { match } = this;
    // In a fence nothing is held back: the match only finds out whether the fence hides a delimiter.
    const echo = this.fence.inside;
    const outcome = match.step(text, from);
    let at = match.at;
    if (echo) {
      this.append(text, from, at);
      match.takeCertain();
    } else {
      this.appendAll(match.takeCertain());
    }
    if (outcome === 'pending' || this.sink.done) return at;
    if (outcome === 'delimiter' && !match.escaped) {
      if (echo) this.fence.suppressed = true;
      else {
        const bareLine = !match.colon && text.charCodeAt(at) === LF;
        if (bareLine) at++;
        this.delimiter(bareLine);
        return at;
      }
    } else if (!echo) {
      this.appendAll(outcome === 'delimiter' ? match.unescaped() : match.verbatim());
    }
    match.clear();
    if (outcome === 'fence' && this.fencesApply()) this.fence.begin(text.charCodeAt(at));
    return at;
  }

  private endMatch(): void {
    const { match } = this;
    const delimiter = match.finish() === 'delimiter';
    if (this.fence.inside) {
      if (delimiter && !match.escaped) this.fence.suppressed = true;
      match.clear();
    } else if (delimiter && !match.escaped) {
      this.delimiter(false);
    } else {
      this.appendAll(delimiter ? match.unescaped() : match.verbatim());
      match.clear();
    }
  }

  /** A delimiter is complete; `lineRead` when its line's end is, too. */
  private delimiter(lineRead: boolean): void {
    const word = this.match.recognised();
    this.match.clear();
    if (word === undefined) return;
    const afterCalls = this.kind === CALLS;
    this.closeBlock();
    this.fence.reset();
    if (this.strict && afterCalls && word !== 'EXECUTE') {
      this.sink.error('expected_execute', `§EXECUTE: must follow §CALLS:, not §${word}:`);
    }
    if (this.sink.done) return;
    this.open(word);
    if (lineRead) this.match.beginLine(true);
    // The first line of a block, after the colon, may open a fence.
    else if (this.fencesApply()) this.match.beginLine(false);
  }

  private open(word: DelimiterWord): void {
    switch (word) {
      case 'THINK':
      case 'RESPOND':
        this.kind = TEXT;
        this.type = word === 'THINK' ? 'think' : 'respond';
        this.implicit = false;
        this.block++;
        this.held.reset();
        return;
      case 'CALLS':
        this.kind = CALLS;
        this.batch = true;
        this.calls.open(++this.block);
        return;
      case 'EXECUTE':
        this.execute();
        return;
      case 'END':
        this.reportUnexecuted();
        if (this.sink.done) return;
        this.sink.done = true;
        this.sink.emit({ type: 'end', content: '', timestamp: this.sink.time });
        return;
    }
  }

  private execute(): void {
    if (!this.batch) this.sink.error('execute_without_calls', '§EXECUTE: without §CALLS: before it');
    if (this.sink.done) return;
    this.batch = false;
    this.unexecuted = false;
    this.kind = WAITING;
    this.prefix = 0;
    if (this.options.afterExecute === 'stop') this.sink.done = true;
    this.sink.emit({ type: 'execute', content: '', timestamp: this.sink.time });
  }

  private reportUnexecuted(): void {
    if (!this.unexecuted) return;
    this.sink.error('calls_without_execute', 'the calls did not run: §EXECUTE: must follow §CALLS:');
  }

  private closeBlock(): void {
    if (this.kind === CALLS && !this.sink.done && this.calls.close()) this.unexecuted = true;
  }

  private appendAll(text: string): void {
    if (text !== '') this.append(text, 0, text.length);
  }

  /** Gives `text[from, to)`, which holds no delimiter, to the current block. */
  private append(text: string, from: number, to: number): void {
    switch (this.kind) {
      case TEXT:
        this.appendText(text, from, to);
        return;
      case CALLS:
        this.calls.append(text, from, to);
        return;
      case SYSTEM:
        this.system.append(text, from, to);
        return;
      case WAITING:
        this.appendWaiting(text, from, to);
        return;
      default:
        return;
    }
  }

  private appendText(text: string, from: number, to: number): void {
    const content = this.held.take(text, from, to);
    if (content === '') return;
    const timestamp = this.sink.time;
    if (!this.implicit) this.sink.emit({ type: this.type, content, timestamp, block: this.block });
    else if (this.strict) this.sink.error('text_before_delimiter', 'text before the first signal');
    else this.sink.emit({ type: 'respond', content, timestamp, block: this.block, implicit: true });
  }

  private appendWaiting(text: string, from: number, to: number): void {
    let at = from;
    if (this.prefix === 0) {
      while (at < to && isWhitespace(text.charCodeAt(at))) at++;
    }
    for (; at < to; at++) {
      if (text.charCodeAt(at) !== SYSTEM_PREFIX.charCodeAt(this.prefix)) {
        this.babble();
        return;
      }
      this.prefix++;
      if (this.prefix === SYSTEM_PREFIX.length) {
        this.kind = SYSTEM;
        this.system.open(++this.block);
        this.system.append(text, at + 1, to);
        return;
      }
    }
  }

  private babble(): void {
    this.kind = BABBLE;
    this.sink.error('text_after_execute', 'text after §EXECUTE: is not a result and was discarded: stop and wait');
  }
}

/** Text without a line feed and without a surrogate to look after. */
function isPlainPiece(text: string): boolean {
  if (text.length > SMALL_CHUNK) return text.indexOf('\n') === -1 && isWellFormed(text);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === LF || (code & 0xf800) === 0xd800) return false;
  }
  return true;
}
