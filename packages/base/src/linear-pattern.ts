import { err, ok, type Result } from './result.ts';

/**
 * Regular expressions that take time in proportion to the text, whatever they are: all states are followed at once, so
 * `(a+)+b` cannot hold a server for minutes. The syntax is JavaScript's with the flag `u`, without what needs
 * backtracking: back references and lookaround. What a single character fits is asked of the built-in engine.
 */
export interface LinearPattern {
  /** Whether the whole text fits. */
  matches(text: string): boolean;
  /** The first part that fits, and of those that begin there the longest. */
  find(text: string): Found | undefined;
}

/** Of UTF-16 units. */
interface Found {
  readonly start: number;
  readonly end: number;
}

/** Counted repetitions are written out; beyond this many states a pattern is refused. */
const MOST_STATES = 5000;
const DEEPEST_GROUP = 100;

/** An error says what is wrong with the pattern. */
export function compilePattern(source: string): Result<LinearPattern, string> {
  try {
    // The built-in engine knows best what is well formed. It is only asked to read it.
    new RegExp(source, 'u');
  } catch {
    return err('this is not a regular expression');
  }
  const reader = new PatternReader(source);
  const node = reader.alternatives(0);
  if (reader.refusal !== undefined) return err(reader.refusal);
  const program: State[] = [];
  if (!emit(program, node)) return err(`it has more than ${MOST_STATES} states: use smaller repetitions`);
  program.push({ op: 'end' });
  return ok({ matches: (text) => run(program, text), find: (text) => search(program, text) });
}

type Assertion = 'start' | 'end' | 'boundary' | 'no-boundary';

type Node =
  | { readonly kind: 'character'; readonly fits: Fits }
  | { readonly kind: 'assertion'; readonly holds: Assertion }
  | { readonly kind: 'sequence'; readonly parts: readonly Node[] }
  | { readonly kind: 'choice'; readonly options: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly least: number; readonly most: number };

/** Of a code point. */
type Fits = (point: number) => boolean;

const NOTHING: Node = { kind: 'sequence', parts: [] };

class PatternReader {
  readonly #source: string;
  #at = 0;
  /** Why the pattern cannot be used, though it is one. */
  refusal: string | undefined;

  constructor(source: string) {
    this.#source = source;
  }

  alternatives(depth: number): Node {
    if (depth > DEEPEST_GROUP) this.#refuse(`it has groups more than ${DEEPEST_GROUP} deep`);
    const options: Node[] = [];
    do options.push(this.#sequence(depth));
    while (this.#eat('|'));
    const [only] = options;
    return options.length === 1 && only !== undefined ? only : { kind: 'choice', options };
  }

  #sequence(depth: number): Node {
    const parts: Node[] = [];
    while (this.refusal === undefined && this.#at < this.#source.length && !this.#sees('|') && !this.#sees(')')) {
      parts.push(this.#repeated(this.#part(depth)));
    }
    return { kind: 'sequence', parts };
  }

  #part(depth: number): Node {
    if (this.#eat('(')) return this.#group(depth);
    if (this.#eat('^')) return { kind: 'assertion', holds: 'start' };
    if (this.#eat('$')) return { kind: 'assertion', holds: 'end' };
    if (this.#eat('\\b')) return { kind: 'assertion', holds: 'boundary' };
    if (this.#eat('\\B')) return { kind: 'assertion', holds: 'no-boundary' };
    return { kind: 'character', fits: this.#character() };
  }

  #group(depth: number): Node {
    if (/^\?<?[=!]/.test(this.#source.slice(this.#at, this.#at + 3))) {
      this.#refuse('lookahead and lookbehind cannot be matched in linear time');
      return NOTHING;
    }
    if (this.#eat('?<')) this.#at = this.#source.indexOf('>', this.#at) + 1;
    else this.#eat('?:');
    const inside = this.alternatives(depth + 1);
    this.#eat(')');
    return inside;
  }

  /** A character, an escape or a class, as it is written. */
  #character(): Fits {
    const source = this.#source;
    const start = this.#at;
    if (source[start] === '[') this.#at = classEnd(source, start);
    else if (source[start] === '\\') this.#at = this.#escapeEnd(start);
    else this.#at += (source.codePointAt(start) ?? 0) > 0xffff ? 2 : 1;
    if (this.refusal !== undefined) return () => false;
    const text = source.slice(start, this.#at);
    const isLiteral = text[0] !== '[' && text[0] !== '\\' && text !== '.';
    const literal = text.codePointAt(0);
    return isLiteral ? (point) => point === literal : remembered(new RegExp(`^${text}$`, 'u'));
  }

  #escapeEnd(start: number): number {
    const rest = this.#source.slice(start, start + 40);
    if (/^\\(?:[1-9]|k<)/.test(rest)) {
      this.#refuse('back references cannot be matched in linear time');
      return this.#source.length;
    }
    const escape =
      /^\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|.)/su;
    return start + (escape.exec(rest)?.[0].length ?? 2);
  }

  #repeated(part: Node): Node {
    const counts = this.#counts();
    if (counts === undefined) return part;
    // Whether it takes as little as it can makes no difference to whether the whole fits.
    this.#eat('?');
    return { kind: 'repeat', part, ...counts };
  }

  #counts(): { readonly least: number; readonly most: number } | undefined {
    if (this.#eat('*')) return { least: 0, most: Number.POSITIVE_INFINITY };
    if (this.#eat('+')) return { least: 1, most: Number.POSITIVE_INFINITY };
    if (this.#eat('?')) return { least: 0, most: 1 };
    const counted = /^\{(\d+)(,?)(\d*)\}/.exec(this.#source.slice(this.#at, this.#at + 64));
    if (counted === null) return undefined;
    this.#at += counted[0].length;
    const least = Number(counted[1]);
    if (counted[2] === '') return { least, most: least };
    return { least, most: counted[3] === '' ? Number.POSITIVE_INFINITY : Number(counted[3]) };
  }

  #refuse(why: string): void {
    this.refusal ??= why;
  }

  #sees(text: string): boolean {
    return this.#source.startsWith(text, this.#at);
  }

  #eat(text: string): boolean {
    if (!this.#sees(text)) return false;
    this.#at += text.length;
    return true;
  }
}

function classEnd(source: string, start: number): number {
  let at = start + 1;
  while (at < source.length && source[at] !== ']') at += source[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** One character is one step for the built-in engine, too; most texts have few different ones. */
function remembered(pattern: RegExp): Fits {
  const known = new Map<number, boolean>();
  return (point) => {
    let fits = known.get(point);
    if (fits === undefined) {
      fits = pattern.test(String.fromCodePoint(point));
      known.set(point, fits);
    }
    return fits;
  };
}

type State =
  | { readonly op: 'take'; readonly fits: Fits }
  | { readonly op: 'hold'; readonly holds: Assertion }
  /** Goes on at both. */
  | { readonly op: 'fork'; first: number; second: number }
  | { readonly op: 'end' };

/** False when there would be too many states. */
function emit(program: State[], node: Node): boolean {
  if (program.length > MOST_STATES) return false;
  switch (node.kind) {
    case 'character':
      program.push({ op: 'take', fits: node.fits });
      return true;
    case 'assertion':
      program.push({ op: 'hold', holds: node.holds });
      return true;
    case 'sequence':
      return node.parts.every((part) => emit(program, part));
    case 'choice':
      return emitChoice(program, node.options);
    case 'repeat':
      return emitRepeat(program, node);
  }
}

function fork(program: State[]): Extract<State, { op: 'fork' }> {
  const state = { op: 'fork' as const, first: program.length + 1, second: program.length + 1 };
  program.push(state);
  return state;
}

function emitChoice(program: State[], options: readonly Node[]): boolean {
  const ends: Extract<State, { op: 'fork' }>[] = [];
  for (const [index, option] of options.entries()) {
    const isLast = index === options.length - 1;
    const start = isLast ? undefined : fork(program);
    if (!emit(program, option)) return false;
    if (!isLast) ends.push(fork(program));
    if (start !== undefined) start.second = program.length;
  }
  for (const end of ends) {
    end.first = program.length;
    end.second = program.length;
  }
  return true;
}

function emitRepeat(program: State[], { part, least, most }: Extract<Node, { kind: 'repeat' }>): boolean {
  if (least > MOST_STATES || (most > MOST_STATES && most !== Number.POSITIVE_INFINITY)) return false;
  for (let count = 0; count < least; count++) if (!emit(program, part)) return false;
  if (most === Number.POSITIVE_INFINITY) {
    const at = program.length;
    const loop = fork(program);
    if (!emit(program, part)) return false;
    const back = fork(program);
    back.first = at;
    back.second = at;
    loop.second = program.length;
    return true;
  }
  const skips: Extract<State, { op: 'fork' }>[] = [];
  for (let count = least; count < most; count++) {
    skips.push(fork(program));
    if (!emit(program, part)) return false;
  }
  for (const skip of skips) skip.second = program.length;
  return true;
}

/** Each character moves every state one step: no state is looked at twice for it. */
function run(program: readonly State[], text: string): boolean {
  const seen = new Int32Array(program.length).fill(-1);
  let current = reach(program, [0], { text, at: 0, seen });
  for (let at = 0; at < text.length; ) {
    const point = text.codePointAt(at) ?? 0;
    at += point > 0xffff ? 2 : 1;
    const next: number[] = [];
    for (const index of current) {
      if (takes(program[index], point)) next.push(index + 1);
    }
    if (next.length === 0) return false;
    current = reach(program, next, { text, at, seen });
  }
  return current.includes(program.length - 1);
}

/** A state, and where in the text what led to it began. */
interface Thread {
  readonly index: number;
  readonly start: number;
}

/** As `run`, from every place of the text at once: a state belongs to whoever began first and comes to it. */
function search(program: readonly State[], text: string): Found | undefined {
  const seen = new Int32Array(program.length).fill(-1);
  let best: Found | undefined;
  let arriving: Thread[] = [];
  for (let at = 0; ; ) {
    if (best === undefined) arriving.push({ index: 0, start: at });
    const threads: Thread[] = [];
    for (const { index: from, start } of arriving) {
      for (const index of reach(program, [from], { text, at, seen })) {
        if (index === program.length - 1 && (best === undefined || start <= best.start)) best = { start, end: at };
        else threads.push({ index, start });
      }
    }
    if (at >= text.length) return best;
    const point = text.codePointAt(at) ?? 0;
    at += point > 0xffff ? 2 : 1;
    const latest = best?.start ?? at;
    arriving = threads.filter(({ index, start }) => start <= latest && takes(program[index], point)).map(onwards);
    if (best !== undefined && arriving.length === 0) return best;
  }
}

function takes(state: State | undefined, point: number): boolean {
  return state?.op === 'take' && state.fits(point);
}

function onwards({ index, start }: Thread): Thread {
  return { index: index + 1, start };
}

interface Place {
  readonly text: string;
  readonly at: number;
  /** The place at which each state was last reached. */
  readonly seen: Int32Array;
}

/** The states that take a character, or end, and can be reached without one. */
function reach(program: readonly State[], from: readonly number[], place: Place): number[] {
  const found: number[] = [];
  const open = [...from];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    const state = program[index];
    if (state === undefined || place.seen[index] === place.at) continue;
    place.seen[index] = place.at;
    if (state.op === 'fork') open.push(state.first, state.second);
    else if (state.op !== 'hold') found.push(index);
    else if (holds(state.holds, place)) open.push(index + 1);
  }
  return found;
}

function holds(assertion: Assertion, { text, at }: Place): boolean {
  switch (assertion) {
    case 'start':
      return at === 0;
    case 'end':
      return at === text.length;
    default:
      return (isWord(text, at - 1) !== isWord(text, at)) === (assertion === 'boundary');
  }
}

function isWord(text: string, at: number): boolean {
  return at >= 0 && at < text.length && /\w/.test(text[at] ?? '');
}
