import type { SignalErrorCode, SignalOptions } from '../src/index.ts';

type Event = { type: string; [key: string]: unknown };
type Kind = 'text' | 'calls' | 'system' | 'waiting' | 'babble';

const NAMES = 'THINK|CALLS|RESPOND|EXECUTE|END';

/**
 * The rules once more, written for whole texts with unlimited lookahead and no care for cost: what a streaming parser
 * must agree with.
 */
export function parseWhole(input: string, options: SignalOptions): Event[] {
  const text = input
    .replace(/[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g, (found) => (found.length === 2 ? found : '\ufffd'))
    .replace(/^\ufeff/, '');
  return new Oracle(text, options).parse();
}

class Oracle {
  private readonly text: string;
  private readonly options: SignalOptions;
  private readonly strict: boolean;
  private readonly lenient: boolean;
  private readonly delimiter: RegExp;
  private readonly indented: RegExp;
  private readonly events: Event[] = [];
  private done = false;
  private kind: Kind = 'text';
  private type = 'implicit';
  /** Of the block: its text with escapes removed. */
  private content = '';
  private batch = false;
  private unexecuted = false;
  /** The mark of the fence that is open. */
  private fence: string | undefined;
  private suppressed = false;
  private at = 0;
  private lineStart = true;
  /** Where the current line's content begins, for fences. */
  private contentFrom = 0;

  constructor(text: string, options: SignalOptions) {
    this.text = text;
    this.options = options;
    this.strict = options.mode === 'strict';
    this.lenient = options.mode === 'lenient';
    const bare = this.lenient ? '(?:EXECUTE|END)(?=[ \\t\\r\\n]|$)\\n?' : '(?:EXECUTE|END)(?:\\r?\\n|\\r?$)';
    const colon = this.lenient ? `(?:${NAMES}|CALL):` : `(?:${NAMES}):`;
    const flags = this.lenient ? 'iy' : 'y';
    this.delimiter = new RegExp(`()(§+)(${this.strict ? colon : `${colon}|${bare}`})`, flags);
    this.indented = new RegExp(this.delimiter.source.replace('()', `( {0,${this.strict ? 0 : 3}})`), flags);
  }

  parse(): Event[] {
    while (this.at < this.text.length && !this.done) {
      const [found, indent = '', signs = '', word = ''] = this.find() ?? [''];
      const spelled = word.replace(/\r?\n?$/, '');
      if (found === '') this.addCharacter();
      else if (this.fence !== undefined) {
        if (signs === '§') this.suppressed = true;
        this.add(indent + signs + spelled);
        this.at += indent.length + signs.length + spelled.length;
        this.lineStart = false;
      } else if (signs !== '§') {
        this.add(indent + signs.slice(1) + spelled);
        this.at += indent.length + signs.length + spelled.length;
        this.lineStart = false;
      } else {
        this.at += found.length;
        this.open(word.replace(/[:\r\n]+$/, '').toUpperCase());
        this.lineStart = word.endsWith('\n');
        this.contentFrom = this.at;
      }
    }
    if (!this.done) this.finish();
    return this.events;
  }

  private find(): RegExpExecArray | null {
    if (!this.lineStart) {
      const allowed = this.lenient && this.text[this.at - 1] !== '§' && this.kind !== 'system';
      if (!allowed || (this.kind === 'calls' && this.inString())) return null;
    }
    const pattern = this.lineStart ? this.indented : this.delimiter;
    pattern.lastIndex = this.at;
    return pattern.exec(this.text);
  }

  /** The quotes of earlier lines do not matter: a line feed ends a string. */
  private inString(): boolean {
    const line = this.content.slice(this.content.lastIndexOf('\n') + 1);
    return /^(?:[^"]|"(?:[^"\\]|\\[^])*")*"(?:[^"\\]|\\[^])*\\?$/.test(line);
  }

  private addCharacter(): void {
    const character = this.text[this.at] ?? '';
    this.lineStart = character === '\n';
    if (this.lineStart) this.endLine(this.at);
    this.add(character);
    this.at++;
    if (this.lineStart) this.contentFrom = this.at;
  }

  private add(piece: string): void {
    for (const character of piece) {
      this.content += character;
      if (this.kind !== 'waiting') continue;
      const start = this.content.replace(/^[ \t\n\r]+/, '');
      if (start === '[SYSTEM:') {
        this.kind = 'system';
        this.content = '';
      } else if (!'[SYSTEM:'.startsWith(start)) {
        this.kind = 'babble';
        this.error('text_after_execute');
      }
    }
  }

  private endLine(to: number): void {
    if (this.kind !== 'text' || this.options.fences === false) return;
    const line = this.text.slice(this.contentFrom, to);
    if (this.fence === undefined) {
      this.fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1];
      this.suppressed = false;
    } else {
      const mark = /^ {0,3}(`+|~+)[ \t\r]*$/.exec(line)?.[1] ?? '';
      if (mark[0] === this.fence[0] && mark.length >= this.fence.length) this.fence = undefined;
    }
  }

  private open(name: string): void {
    const afterCalls = this.kind === 'calls';
    this.close();
    if (this.strict && afterCalls && name !== 'EXECUTE') this.error('expected_execute');
    this.content = '';
    if (name === 'THINK' || name === 'RESPOND') {
      this.kind = 'text';
      this.type = name.toLowerCase();
    } else if (name === 'EXECUTE') {
      if (!this.batch) this.error('execute_without_calls');
      this.emit({ type: 'execute', content: '' });
      this.batch = false;
      this.unexecuted = false;
      this.kind = 'waiting';
      if (this.options.afterExecute === 'stop') this.done = true;
    } else if (name === 'END') {
      if (this.unexecuted) this.error('calls_without_execute');
      this.emit({ type: 'end', content: '' });
      this.done = true;
    } else {
      this.kind = 'calls';
      this.batch = true;
    }
  }

  private close(): void {
    const trimmed = this.trimEnd(this.content.replace(/^[ \t\n\r]+/, ''));
    if (this.kind === 'text' && trimmed !== '') {
      if (this.type !== 'implicit') this.emit({ type: this.type, content: trimmed });
      else if (this.strict) this.error('text_before_delimiter');
      else this.emit({ type: 'respond', content: trimmed, implicit: true });
    } else if (this.kind === 'system') {
      const content = trimmed.endsWith(']') ? this.trimEnd(trimmed.slice(0, -1)) : trimmed;
      if (content !== '') this.emit({ type: 'system', content });
    } else if (this.kind === 'waiting' && trimmed !== '') {
      this.error('text_after_execute');
      this.kind = 'babble';
    } else if (this.kind === 'calls') {
      const calls = readCalls(trimmed, this.options);
      if (typeof calls === 'string') this.error(calls);
      else {
        this.emit({ type: 'calls', content: trimmed, calls });
        this.unexecuted = true;
      }
    }
  }

  private finish(): void {
    this.endLine(this.text.length);
    this.close();
    if (this.fence !== undefined && this.suppressed) this.error('unclosed_fence');
    if (this.unexecuted) this.error('calls_without_execute');
    if (this.kind !== 'waiting' && this.kind !== 'babble') this.error('missing_end');
  }

  private trimEnd(value: string): string {
    const run = /[ \t\n\r]*$/.exec(value)?.[0] ?? '';
    return run.length > (this.options.maxHeldWhitespace ?? 1024) ? value : value.slice(0, value.length - run.length);
  }

  private emit(event: Event): void {
    if (!this.done) this.events.push(event);
  }

  private error(code: SignalErrorCode): void {
    this.emit({ type: 'error', code });
    if (this.strict) this.done = true;
  }
}

function readCalls(source: string, options: SignalOptions): unknown[] | SignalErrorCode {
  const { maxCalls = 128 } = options;
  const limit = passedLimit(source, options);
  if (limit !== undefined) return limit;
  const lenient = options.mode === 'lenient';
  const wrapped = /^(`{3,})[^`\n]*\n([^]*\n)? {0,3}\1`*$/.exec(source)?.[2];
  let value: unknown;
  try {
    value = JSON.parse(lenient ? (wrapped ?? source) : source);
  } catch {
    return 'invalid_json';
  }
  if (lenient && typeof value === 'object' && value !== null && !Array.isArray(value)) value = [value];
  if (!Array.isArray(value)) return 'calls_not_array';
  if (value.length > maxCalls) return 'limit_calls';
  for (const call of value as unknown[]) {
    if (typeof call !== 'object' || call === null || Array.isArray(call)) return 'invalid_call';
    const { name, args } = call as Record<string, unknown>;
    if (typeof name !== 'string' || name === '') return 'invalid_call';
    if (args === undefined) Object.assign(call, { args: {} });
    else if (typeof args !== 'object' || args === null || Array.isArray(args)) return 'invalid_call';
  }
  return value;
}

/** The limit that a reader of one character after the other meets first. */
function passedLimit(source: string, options: SignalOptions): SignalErrorCode | undefined {
  const { maxCallsLength = 1_048_576, maxDepth = 64, maxCalls = 128 } = options;
  let depth = 0;
  let string = false;
  let count = 0;
  let fresh = true;
  for (let at = 0; at < Math.min(source.length, maxCallsLength); at++) {
    const character = source[at] ?? '';
    if (string) {
      if (character === '\\' && source[at + 1] !== '\n') at++;
      else if (character === '"' || character === '\n') string = false;
      continue;
    }
    if (source.startsWith('[') && depth === 1 && /[^ \t\r\n]/.test(character)) {
      if (character === ',') fresh = true;
      else if (fresh && character !== ']') {
        fresh = false;
        if (++count > maxCalls) return 'limit_calls';
      }
    }
    if (character === '"') string = true;
    if ('[{'.includes(character) && ++depth > maxDepth) return 'limit_depth';
    if (']}'.includes(character) && depth > 0) depth--;
  }
  return source.length > maxCallsLength ? 'limit_length' : undefined;
}
