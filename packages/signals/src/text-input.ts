import { SignalsMisuseError } from './signals-misuse-error.ts';

// The only platform class this room needs; Node and every browser have it, the compiler's ES library does not.
declare const TextDecoder: new (
  label: 'utf-8',
  options: { ignoreBOM: boolean },
) => { decode(bytes?: Uint8Array, options?: { stream: boolean }): string };

type MaybeWellFormed = { readonly length: number; readonly isWellFormed?: () => boolean };

const anySurrogate = /[\ud800-\udfff]/;
const pairOrSurrogate = /[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g;

/** From this length on the two searches below are quicker than the built-in check. */
const LONG_TEXT = 160;

/** After so many stops the text is one of many surrogates, and the built-in check is quicker after all. */
const MOST_STOPS = 8;

/**
 * Up to the first character beyond Latin-1. It fails at once in a string the engine keeps as bytes, which is what most
 * are; four at a time as below, and a rest of fixed length, so that a failure elsewhere stays linear.
 */
const toBeyondLatin = /(?:[\0-\xff][\0-\xff][\0-\xff][\0-\xff])*[\0-\xff]{0,3}[\u0100-\uffff]/y;

/** A run of what stands below the surrogates; sixteen at a time, or each would cost a turn of the matcher's loop. */
const belowSurrogates = new RegExp(`(?:${'[\\0-\\ud7ff]'.repeat(16)})*[\\0-\\ud7ff]*`, 'y');

/** Turns pushed text or bytes into well-formed text that never ends in half a character. */
export class TextInput {
  private kind: 'none' | 'text' | 'bytes' = 'none';
  private started = false;
  /** The high surrogate the last text chunk ended in. */
  private high = '';
  private decoder: InstanceType<typeof TextDecoder> | undefined;

  /** True when the next chunk needs nothing but the check that it is well formed. */
  get plain(): boolean {
    return this.kind === 'text' && this.started && this.high === '';
  }

  accept(input: string | Uint8Array): string {
    if (typeof input === 'string') {
      this.become('text');
      return this.acceptText(input);
    }
    if (!ArrayBuffer.isView(input)) throw new SignalsMisuseError('not_text', 'push takes a string or a Uint8Array');
    this.become('bytes');
    this.decoder ??= new TextDecoder('utf-8', { ignoreBOM: true });
    return this.withoutMark(this.decoder.decode(input, { stream: true }));
  }

  /** What the end of the input makes of an unfinished character. */
  finish(): string {
    if (this.decoder !== undefined) return this.withoutMark(this.decoder.decode());
    const rest = this.high === '' ? '' : '\ufffd';
    this.high = '';
    return rest;
  }

  private become(kind: 'text' | 'bytes'): void {
    if (this.kind === 'none') this.kind = kind;
    else if (this.kind !== kind) {
      throw new SignalsMisuseError('mixed_input', 'one parser takes either text or bytes, not both');
    }
  }

  private acceptText(chunk: string): string {
    if (chunk === '') return '';
    let text = chunk;
    if (this.high !== '') {
      text = this.high + text;
      this.high = '';
    }
    const last = text.length - 1;
    if ((text.charCodeAt(last) & 0xfc00) === 0xd800) {
      this.high = text.slice(last);
      text = text.slice(0, last);
    }
    return this.withoutMark(isWellFormed(text) ? text : replaceLoneSurrogates(text));
  }

  private withoutMark(text: string): string {
    if (this.started || text === '') return text;
    this.started = true;
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }
}

export function isWellFormed(text: string): boolean {
  if (text.length < LONG_TEXT) return isWellFormedThroughout(text);
  toBeyondLatin.lastIndex = 0;
  if (!toBeyondLatin.test(text)) return true;
  let at = toBeyondLatin.lastIndex - 1;
  for (let stops = 0; stops < MOST_STOPS; stops++) {
    belowSurrogates.lastIndex = at;
    belowSurrogates.test(text);
    at = belowSurrogates.lastIndex;
    if (at === text.length) return true;
    if ((text.charCodeAt(at) & 0xf800) === 0xd800) {
      if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) return false;
      if ((text.charCodeAt(++at) & 0xfc00) !== 0xdc00) return false;
    }
    at++;
  }
  return isWellFormedThroughout(text);
}

function isWellFormedThroughout(text: string): boolean {
  const probe: MaybeWellFormed = text;
  // Older browsers lack it; there, text with any surrogate takes the slower way.
  return probe.isWellFormed === undefined ? !anySurrogate.test(text) : probe.isWellFormed();
}

function replaceLoneSurrogates(text: string): string {
  return text.replace(pairOrSurrogate, (found) => (found.length === 2 ? found : '\ufffd'));
}
