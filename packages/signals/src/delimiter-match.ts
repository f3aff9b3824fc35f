import { type DelimiterWord, delimiterWord, isWordPrefix, mayBeBare } from './delimiters.ts';
import { isWhitespace } from './held-whitespace.ts';
import type { SignalMode } from './signal-options.ts';

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const SIGN = 0xa7;
const COLON = 0x3a;

/** Not matching: the position is inside a line. */
const NONE = 0;
const INDENT = 1;
const SIGNS = 2;
const WORD = 3;
/** After `§END` and a carriage return, which only a line feed or the end of the turn makes a line's end. */
const RETURN = 4;

export type MatchOutcome = 'pending' | 'text' | 'fence' | 'delimiter';

/**
 * Recognises a delimiter, or its escape, from a line's start (in lenient text: from any sign) one character at a time.
 * What it has read but not decided is at most an indent, two signs, one word and a carriage return.
 */
export class DelimiterMatch {
  private readonly lenient: boolean;
  private readonly maxIndent: number;
  private readonly allowBare: boolean;
  private state = NONE;
  /** False on the line a delimiter's colon stands on: it may open a fence but holds no delimiter. */
  private anchored = false;
  private indent = 0;
  private signs = 0;
  private word = '';
  private upper = '';
  private returned = false;
  /** Signs of a long run that are certain to be text. */
  private surplus = 0;
  /** Where the last step ended. */
  at = 0;
  /** The delimiter has a colon, which is read; a bare word's line end is not. */
  colon = false;

  constructor(mode: SignalMode) {
    this.lenient = mode === 'lenient';
    this.maxIndent = mode === 'strict' ? 0 : 3;
    this.allowBare = mode !== 'strict';
  }

  get active(): boolean {
    return this.state !== NONE;
  }

  get escaped(): boolean {
    return this.signs > 1;
  }

  beginLine(anchored: boolean): void {
    this.begin(INDENT, anchored);
  }

  beginSigns(): void {
    this.begin(SIGNS, true);
  }

  clear(): void {
    this.state = NONE;
  }

  /** The delimiter that was recognised. */
  recognised(): DelimiterWord | undefined {
    return delimiterWord(this.upper, this.lenient);
  }

  /** What was read and turned out to be text. */
  verbatim(): string {
    return this.spelling(this.signs);
  }

  /** What an escaped delimiter means: the same with one sign less. */
  unescaped(): string {
    return this.spelling(this.signs - 1);
  }

  /** Takes the part of the text read so far that no continuation can change. */
  takeCertain(): string {
    if (this.surplus === 0) return '';
    const certain = ' '.repeat(this.indent) + '§'.repeat(this.surplus);
    this.indent = 0;
    this.surplus = 0;
    return certain;
  }

  /** Reads on from `from`; `fence` means that a fence mark stands at `at`. */
  step(text: string, from: number): MatchOutcome {
    this.at = from;
    if (this.state === INDENT) {
      const outcome = this.stepIndent(text);
      if (outcome !== 'delimiter') return outcome;
    }
    if (this.state === SIGNS) {
      let at = this.at;
      while (at < text.length && text.charCodeAt(at) === SIGN) at++;
      const total = this.signs + at - this.at;
      this.surplus = Math.max(0, total - 2);
      this.signs = total - this.surplus;
      this.at = at;
      if (at === text.length) return 'pending';
      this.state = WORD;
    }
    return this.state === WORD ? this.stepWord(text) : this.stepReturn(text);
  }

  /** What the end of the turn makes of the part read so far. */
  finish(): MatchOutcome {
    if (this.state === RETURN) return 'delimiter';
    const bare = this.state === WORD && this.allowBare && mayBeBare(this.upper);
    return bare ? 'delimiter' : 'text';
  }

  private begin(state: number, anchored: boolean): void {
    this.state = state;
    this.anchored = anchored;
    this.indent = 0;
    this.signs = 0;
    this.word = '';
    this.upper = '';
    this.returned = false;
    this.surplus = 0;
    this.colon = false;
  }

  private spelling(signs: number): string {
    const end = this.colon ? ':' : '';
    return `${' '.repeat(this.indent)}${'§'.repeat(signs)}${this.word}${this.returned ? '\r' : end}`;
  }

  /** `delimiter` means: a sign follows, go on. */
  private stepIndent(text: string): MatchOutcome {
    while (this.at < text.length) {
      const code = text.charCodeAt(this.at);
      if (code === SPACE) {
        if (this.indent === 3) return 'text';
        this.indent++;
        this.at++;
        continue;
      }
      if (code === SIGN && this.anchored && this.indent <= this.maxIndent) {
        this.state = SIGNS;
        return 'delimiter';
      }
      return code === 0x60 || code === 0x7e ? 'fence' : 'text';
    }
    return 'pending';
  }

  private stepWord(text: string): MatchOutcome {
    for (; this.at < text.length; this.at++) {
      const code = text.charCodeAt(this.at);
      // Only ASCII letters have case here: folding would take the Kelvin sign for a K.
      const upperCode = this.lenient && code >= 0x61 && code <= 0x7a ? code - 0x20 : code;
      if (upperCode < 0x41 || upperCode > 0x5a) return this.stepAfterWord(text, code);
      const upper = this.upper + String.fromCharCode(upperCode);
      if (!isWordPrefix(upper)) return 'text';
      this.upper = upper;
      this.word += text.charAt(this.at);
    }
    return 'pending';
  }

  private stepAfterWord(text: string, code: number): MatchOutcome {
    if (code === COLON && this.recognised() !== undefined) {
      this.colon = true;
      this.at++;
      return 'delimiter';
    }
    if (!this.allowBare || !mayBeBare(this.upper)) return 'text';
    if (code === LF || (this.lenient && isWhitespace(code))) return 'delimiter';
    if (code !== CR) return 'text';
    this.state = RETURN;
    this.returned = true;
    this.at++;
    return this.stepReturn(text);
  }

  private stepReturn(text: string): MatchOutcome {
    if (this.at === text.length) return 'pending';
    return text.charCodeAt(this.at) === LF ? 'delimiter' : 'text';
  }
}
