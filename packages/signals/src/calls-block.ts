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
  /**
   * The brackets and strings are followed as they come, because events or the recognition of delimiters depend on it.
   * Otherwise it is enough, and quicker, to look at the whole when it is there.
   */
  private readonly streaming: boolean;
  /** The buffer still holds the text as it came; it is trimmed at the end, or when it gets near the limit. */
  private raw = false;
  /** The text so far of the array element in progress, for `call` events. */
  private element = '';
  private elements = 0;

  constructor(sink: EventSink, options: ResolvedSignalOptions) {
    this.sink = sink;
    this.options = options;
    this.lenient = options.mode === 'lenient';
    this.streaming = this.lenient || options.incremental;
    this.held = new HeldWhitespace(options.maxHeldWhitespace);
    this.scanner = new JsonScanner(options.maxDepth, options.maxCalls);
  }

  open(block: number): void {
    this.block = block;
    this.openedAt = this.sink.time;
    this.release();
    this.dropped = false;
    this.raw = !this.streaming;
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
    if (!this.raw) {
      this.take(text, from, to);
      return;
    }
    this.buffer += from === 0 && to === text.length ? text : text.slice(from, to);
    if (this.buffer.length > this.options.maxCallsLength) this.refine();
  }

  /** Emits what the block amounts to; true when its calls are valid. */
  close(): boolean {
    if (this.raw) this.refine();
    if (this.dropped) return false;
    const content = this.buffer;
    const calls = this.read(content);
    const followed = this.streaming || (Array.isArray(calls) && !this.mayBeTooDeep(content, calls));
    // A limit passed on the way counts before whatever is wrong with the whole.
    if (!followed && !this.scan(content, content.length)) return false;
    this.release();
    if (Array.isArray(calls)) {
      this.sink.emit({ type: 'calls', content, calls, timestamp: this.openedAt, block: this.block });
      return true;
    }
    const where = { source: excerpt(content, calls.position), position: calls.position };
    this.sink.error(calls.code, calls.content, where);
    return false;
  }

  /** Trims what was kept as it came, and goes on trimming. */
  private refine(): void {
    const text = this.buffer;
    this.buffer = '';
    this.raw = false;
    this.take(text, 0, text.length);
  }

  private take(text: string, from: number, to: number): void {
    const content = this.held.take(text, from, to);
    if (content === '') return;
    const limit = this.options.maxCallsLength;
    const room = limit - this.buffer.length;
    if (this.streaming && !this.scan(content, Math.min(content.length, room))) return;
    if (content.length <= room) {
      this.buffer += content;
      return;
    }
    const problem = `CALLS is longer than ${limit} characters`;
    const refusal: Refusal = { code: 'limit_length', content: problem, position: limit };
    if (this.streaming) {
      this.drop(content, refusal);
      return;
    }
    // Of two limits the one that was passed first counts.
    const whole = this.buffer + content;
    if (this.scan(whole, limit)) this.drop(whole, refusal);
  }

  /** Quick, and wrong only to the safe side: text with fewer brackets than levels allowed needs no counting. */
  private mayBeTooDeep(content: string, calls: readonly SignalCall[]): boolean {
    // Most calls are one long string, and what is left round it has no room for that many pairs of brackets.
    if (content.length - textLength(calls) < 2 * this.options.maxDepth) return false;
    let brackets = 0;
    for (const bracket of ['[', '{']) {
      for (let at = content.indexOf(bracket); at !== -1; at = content.indexOf(bracket, at + 1)) {
        if (++brackets > this.options.maxDepth) return true;
      }
    }
    return false;
  }

  /** Follows `content[0, to)`, the piece after the buffer, or the whole; false when a limit ended the block. */
  private scan(content: string, to: number): boolean {
    const { scanner } = this;
    let at = 0;
    scanner.begin(0);
    while (at < to) {
      const stop = scanner.scan(content, at, to);
      at = scanner.at;
      if (stop === 'element') {
        if (this.options.incremental) this.takeElement(this.element + content.slice(scanner.elementStart, at));
        this.element = '';
        scanner.elementStart = -1;
      } else if (stop !== 'none') {
        const position = (this.streaming ? this.buffer.length : 0) + at - 1;
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
    if (value === undefined || !isCall(value)) {
      this.scanner.faulty = true;
      return;
    }
    // The block's time, not the push's: the `calls` event that follows has it, and time does not run backwards.
    this.sink.emit({ type: 'call', index: this.elements++, call: value, timestamp: this.openedAt, block: this.block });
  }

  private drop(content: string, refusal: Refusal): void {
    const source = excerpt(this.streaming ? this.buffer + content : content, refusal.position);
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
    this.scanner.begin(from);
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
    if (list.every(isCall)) return list;
    const index = list.findIndex((element) => !isCall(element));
    const problem = callProblem(list[index] ?? null);
    return { code: 'invalid_call', content: `call ${index + 1}: ${problem}`, position: 0 };
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

/** What is wrong with an element as a call; undefined, and absent arguments filled in, when nothing is. */
function callProblem(value: Json): string | undefined {
  if (!isObject(value)) return 'it must be an object';
  const { name, args } = value;
  if (typeof name !== 'string' || name === '') return '"name" must be a non-empty string';
  if (args === undefined) value['args'] = {};
  else if (!isObject(args)) return '"args" must be an object';
  return undefined;
}

/** How many characters of valid source are, at the least, inside strings. */
function textLength(calls: readonly SignalCall[]): number {
  let length = 0;
  for (const { args } of calls) {
    for (const key in args) {
      const value = args[key];
      if (typeof value === 'string') length += value.length;
    }
  }
  return length;
}

function isCall(value: Json): value is SignalCall {
  return callProblem(value) === undefined;
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
