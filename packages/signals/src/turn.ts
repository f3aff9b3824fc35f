import { CallsBlock } from './calls-block.ts';
import type { DelimiterWord } from './delimiters.ts';
import type { EventSink } from './event-sink.ts';
import { HeldWhitespace, isWhitespace } from './held-whitespace.ts';
import type { ResolvedSignalOptions } from './signal-options.ts';
import { SystemBlock } from './system-block.ts';

const SYSTEM_PREFIX = '[SYSTEM:';

/** What the current text belongs to. */
const TEXT = 0;
const CALLS = 1;
const SYSTEM = 2;
/** After EXECUTE, before anything visible. */
const WAITING = 3;
/** After EXECUTE, in text that is not a result. */
const BABBLE = 4;

/** The blocks of one turn and the rules of their sequence: takes text and delimiters already told apart. */
export class Turn {
  private readonly sink: EventSink;
  private readonly strict: boolean;
  private readonly fences: boolean;
  private readonly stop: boolean;
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

  constructor(sink: EventSink, options: ResolvedSignalOptions) {
    this.sink = sink;
    this.strict = options.mode === 'strict';
    this.fences = options.fences;
    this.stop = options.afterExecute === 'stop';
    this.held = new HeldWhitespace(options.maxHeldWhitespace);
    this.calls = new CallsBlock(sink, options);
    this.system = new SystemBlock(sink, options.maxHeldWhitespace);
  }

  /** Whether code fences count in the current block. */
  get fenced(): boolean {
    return this.fences && this.kind === TEXT;
  }

  /** Whether lenient text may hold a delimiter here, inside a line: not in a result and not in a JSON string. */
  get signMayBegin(): boolean {
    return this.kind === CALLS ? !this.calls.insideString() : this.kind !== SYSTEM;
  }

  /** Gives `text[from, to)`, which holds no delimiter, to the current block. */
  append(text: string, from: number, to: number): void {
    if (from === to) return;
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

  delimiter(word: DelimiterWord): void {
    const afterCalls = this.kind === CALLS;
    this.closeWaiting();
    this.closeBlock();
    if (this.strict && afterCalls && word !== 'EXECUTE') {
      this.sink.error('expected_execute', `§EXECUTE: must follow §CALLS:, not §${word}:`);
    }
    if (this.sink.done) return;
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

  /** The end of the input, after all its text; `hidden` when an open fence holds a delimiter. */
  finish(hidden: boolean): void {
    this.closeWaiting();
    if (hidden) {
      this.sink.error('unclosed_fence', 'the turn ended inside a code fence that held a signal: close the fence');
    }
    this.closeBlock();
    this.reportUnexecuted();
    if (this.kind !== WAITING && this.kind !== BABBLE) this.sink.error('missing_end', 'the turn ended without §END:');
    this.sink.done = true;
  }

  private execute(): void {
    if (!this.batch) this.sink.error('execute_without_calls', '§EXECUTE: without §CALLS: before it');
    if (this.sink.done) return;
    this.batch = false;
    this.unexecuted = false;
    this.kind = WAITING;
    this.prefix = 0;
    this.sink.done = this.stop;
    this.sink.emit({ type: 'execute', content: '', timestamp: this.sink.time });
  }

  private reportUnexecuted(): void {
    if (!this.unexecuted) return;
    this.sink.error('calls_without_execute', 'the calls did not run: §EXECUTE: must follow §CALLS:');
  }

  /** The beginning of `[SYSTEM:` that did not go on is no result either. */
  private closeWaiting(): void {
    if (this.kind === WAITING && this.prefix > 0) this.babble();
  }

  private closeBlock(): void {
    if (this.kind === CALLS && !this.sink.done && this.calls.close()) this.unexecuted = true;
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
        this.append(text, at + 1, to);
        return;
      }
    }
  }

  private babble(): void {
    this.kind = BABBLE;
    this.sink.error('text_after_execute', 'text after §EXECUTE: is not a result and was discarded: stop and wait');
  }
}
