import type { EventSink } from './event-sink.ts';
import type { Json, JsonObject, SignalCall, SignalErrorCode } from './events.ts';
import { HeldWhitespace } from './held-whitespace.ts';
import { jsonFault } from './json-fault.ts';
import { JsonScanner } from './json-scanner.ts';
import type { ResolvedSignalOptions } from './signal-options.ts';

/** How much of a faulty block an error quotes. */
const SOURCE_LIMIT = 200;

type Refusal = { code: SignalErrorCode; content: string; position: number };

/** Collects the content of one CALLS block within its limits and says at its end which calls it holds. */
export class CallsBlock {
  private readonly sink: EventSink;
  private readonly options: ResolvedSignalOptions;
  private readonly lenient: boolean;
  private readonly held: HeldWhitespace;
  private readonly scanner: JsonScanner;
  private block = 0;
  private openedAt = 0;
  private buffer = '';
  /** A limit was passed: the rest of the block is not kept. */
  private dropped = false;
  /** The text so far of the array element in progress, for `call` events. */
  private element = '';
  private elements = 0;

  constructor(sink: EventSink, options: ResolvedSignalOptions) {
    this.sink = sink;
    this.options = options;
    this.lenient = options.mode === 'lenient';
    this.held = new HeldWhitespace(options.maxHeldWhitespace);
    this.scanner = new JsonScanner(options.maxDepth, options.maxCalls);
  }

  open(block: number): void {
    this.block = block;
    this.openedAt = this.sink.time;
    this.release();
    this.dropped = false;
    this.elements = 0;
    this.scanner.reset();
  }

  /** Whether the next character stands inside a JSON string, where a lenient parser takes a sign as data. */
  insideString(): boolean {
    return this.scanner.inString && !this.held.run.includes('\n');
  }

  append(text: string, from: number, to: number): void {
    if (this.dropped) {
      if (this.lenient) this.follow(text, from, to);
      return;
    }
    const content = this.held.take(text, from, to);
    if (content === '') return;
    const room = this.options.maxCallsLength - this.buffer.length;
    if (!this.scan(content, Math.min(content.length, room))) return;
    if (content.length > room) {
      const code = 'limit_length';
      const limit = this.options.maxCallsLength;
      this.drop(content, { code, content: `CALLS is longer than ${limit} characters`, position: limit });
      return;
    }
    this.buffer += content;
  }

  /** Emits what the block amounts to; true when its calls are valid. */
  close(): boolean {
    if (this.dropped) return false;
    const content = this.buffer;
    this.release();
    const calls = this.read(content);
    if (!Array.isArray(calls)) {
      const where = { source: excerpt(content, calls.position), position: calls.position };
      this.sink.error(calls.code, calls.content, where);
      return false;
    }
    this.sink.emit({ type: 'calls', content, calls, timestamp: this.openedAt, block: this.block });
    return true;
  }

  /** Follows `content[0, to)`; false when a limit ended the block. */
  private scan(content: string, to: number): boolean {
    const { scanner } = this;
    let at = 0;
    scanner.at = 0;
    while (at < to) {
      const stop = scanner.scan(content, at, to);
      at = scanner.at;
      if (stop === 'element') {
        if (this.options.incremental) this.takeElement(this.element + content.slice(scanner.elementStart, at));
        this.element = '';
        scanner.elementStart = -1;
      } else if (stop !== 'none') {
        const position = this.buffer.length + at - 1;
        const refusal: Refusal =
          stop === 'depth'
            ? { code: 'limit_depth', content: `CALLS is nested deeper than ${this.options.maxDepth}`, position }
            : { code: 'limit_calls', content: `CALLS holds more than ${this.options.maxCalls} calls`, position };
        this.drop(content, refusal);
        return false;
      }
    }
    if (scanner.elementStart !== -1) {
      if (this.options.incremental) this.element += content.slice(scanner.elementStart, to);
      scanner.elementStart = 0;
    }
    return true;
  }

  private takeElement(source: string): void {
    if (this.scanner.faulty || this.sink.done) return;
    const value = parse(source);
    const call = value === undefined ? undefined : toCall(value);
    if (call === undefined || typeof call === 'string') {
      this.scanner.faulty = true;
      return;
    }
    // The block's time, not the push's: the `calls` event that follows has it, and time does not run backwards.
    this.sink.emit({ type: 'call', index: this.elements++, call, timestamp: this.openedAt, block: this.block });
  }

  private drop(content: string, refusal: Refusal): void {
    const source = excerpt(this.buffer + content, refusal.position);
    if (this.lenient) {
      this.follow(content, this.scanner.at, content.length);
      this.follow(this.held.run, 0, this.held.run.length);
    }
    this.release();
    this.dropped = true;
    this.sink.error(refusal.code, refusal.content, { source, position: refusal.position });
  }

  /** Keeps the string state of a dropped block, on which the recognition of delimiters depends. */
  private follow(text: string, from: number, to: number): void {
    this.scanner.at = from;
    while (this.scanner.at < to) this.scanner.scan(text, this.scanner.at, to);
  }

  private release(): void {
    this.buffer = '';
    this.element = '';
    this.held.reset();
  }

  private read(content: string): SignalCall[] | Refusal {
    const [from, to] = this.lenient ? insideFence(content) : [0, content.length];
    const json = content.slice(from, to);
    const value = parse(json);
    if (value === undefined) {
      const position = from + jsonFault(json);
      const problem = content === '' ? 'CALLS is empty' : `CALLS is not valid JSON (at character ${position + 1})`;
      return { code: 'invalid_json', content: problem, position };
    }
    const list = this.lenient && isObject(value) ? [value] : value;
    if (!Array.isArray(list)) return { code: 'calls_not_array', content: 'CALLS must be a JSON array', position: 0 };
    if (list.length > this.options.maxCalls) {
      return { code: 'limit_calls', content: `CALLS holds more than ${this.options.maxCalls} calls`, position: 0 };
    }
    const calls: SignalCall[] = [];
    for (const [index, element] of list.entries()) {
      const call = toCall(element);
      if (typeof call === 'string') {
        return { code: 'invalid_call', content: `call ${index + 1}: ${call}`, position: 0 };
      }
      calls.push(call);
    }
    return calls;
  }
}

function parse(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** The call in an array element, or what is wrong with it. */
function toCall(value: Json): SignalCall | string {
  if (!isObject(value)) return 'it must be an object';
  const { name, args = {} } = value;
  if (typeof name !== 'string' || name === '') return '"name" must be a non-empty string';
  if (!isObject(args)) return '"args" must be an object';
  return Object.assign(value, { name, args });
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The range inside a backtick fence that wraps the whole content; all of it if there is none. */
function insideFence(content: string): [from: number, to: number] {
  const all: [number, number] = [0, content.length];
  const open = /^(`{3,})[^`\n]*\n/.exec(content);
  if (open === null) return all;
  const close = /\n {0,3}(`{3,})$/.exec(content.slice(-SOURCE_LIMIT));
  if (close === null || (close[1] ?? '').length < (open[1] ?? '').length) return all;
  return [open[0].length, Math.max(open[0].length, content.length - close[0].length)];
}

function excerpt(content: string, position: number): string {
  let from = Math.max(0, Math.min(position - SOURCE_LIMIT / 2, content.length - SOURCE_LIMIT));
  let to = Math.min(content.length, from + SOURCE_LIMIT);
  if ((content.charCodeAt(from) & 0xfc00) === 0xdc00) from++;
  if (to < content.length && (content.charCodeAt(to) & 0xfc00) === 0xdc00) to--;
  return content.slice(from, to);
}
