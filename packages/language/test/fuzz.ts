import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkProgram, createSourceFile, formatSource, loadProgram, parseSource } from '@concerto/language';
import { lex } from '../src/lexer/lex.ts';

/** Everything a case needs to be run again. */
export interface FuzzFailure {
  readonly seed: number;
  readonly text: string;
  readonly error: string;
}

const CORPUS = join(import.meta.dirname, 'corpus');

export function readCorpus(): { readonly name: string; readonly text: string }[] {
  return readdirSync(CORPUS).map((name) => ({ name, text: readFileSync(join(CORPUS, name), 'utf8') }));
}

const PIECES = [
  ...'let mut const fn model tool pub use mod if else match for while loop break continue return try catch'.split(' '),
  ...'throw emit await async pipeline stage schema hashmap agent listen ledger memory mock self impl trait'.split(' '),
  ...'enum struct as in with true false nil type mcp host connect db test parallel race x y Foo Bar _'.split(' '),
  ...'+ - * / % ** == != < > <= >= && || ! = += -> => :: . .. ..= | |> ? ?? @ ( ) { } [ ] , ; : &'.split(' '),
  ...'0 1 42 1.5 1e3 0x 0xFF 99999999999999999999 \'a\' \'outer \' r#" "# /* */ # \\ é 😀 " "a" } ${'.split(' '),
  '"""',
  '"a ${',
  '// c\n',
  '/// d\n',
  '/* b */',
  '\n',
  '\n\n',
  '\t',
  '\u0000',
];

/** Deterministic for a seed. */
export function fuzzCase(seed: number, corpus: readonly { readonly text: string }[]): string {
  const random = randomNumbers(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T;
  switch (below(10)) {
    case 0:
      return Array.from({ length: below(200) }, () => pick(PIECES)).join(pick(['', ' ', '\n']));
    case 1:
      return nested(
        pick(['(', '[', '{', 'if x {', '|a| ', '!', '-', '"${', '/*', 'fn f() {', 'match x { 1 => ', 'Array<']),
        below(3000),
      );
    case 2:
      return `fn main() { x${pick([' + 1', '.a()', '?', '[0]', ' |> f', ' else if y {}', ' ?? z', ' as Int']).repeat(below(3000))}; }`;
    case 3:
      return Array.from({ length: below(200) }, () => String.fromCharCode(below(128))).join('');
    case 4:
    case 5:
      return respaced(pick(corpus).text, { below, pick });
    default:
      return mutate(pick(corpus).text, { below, pick }, pick(corpus).text);
  }
}

interface Dice {
  readonly below: (limit: number) => number;
  readonly pick: <T>(items: readonly T[]) => T;
}

function mutate(program: string, dice: Dice, other: string): string {
  let text = program;
  for (let count = 1 + dice.below(6); count > 0; count--) {
    const at = dice.below(text.length + 1);
    const length = dice.below(12);
    const from = dice.below(other.length);
    const inserted = dice.pick([
      '',
      dice.pick(PIECES),
      ` ${dice.pick(PIECES)} `,
      other.slice(from, from + dice.below(60)),
    ]);
    text = text.slice(0, at) + inserted + text.slice(at + dice.pick([0, 0, 1, length]));
  }
  return text;
}

const GAPS = [
  ' ',
  ' ',
  ' ',
  '  ',
  '\n',
  '\n\n\n',
  ' /* b */ ',
  '/* two\nlines */',
  '\n// c\n',
  ' // c\n',
  '\n/// d\n',
  '\r\n',
];

/** The same tokens with other white space and comments between them, also where nobody would put them. */
function respaced(program: string, dice: Dice): string {
  const { tokens } = lex(createSourceFile('main.conc', program));
  const gaps = dice.below(3) === 0 ? [' '] : GAPS;
  let text = '';
  let inString = 0;
  for (const [index, kind] of tokens.kinds.entries()) {
    text += program.slice(tokens.starts[index], tokens.ends[index]);
    if (kind === 'InterpolationStart') inString++;
    if (kind === 'InterpolationEnd') inString--;
    const isSimple = inString > 0 || kind === 'Label';
    text += isSimple ? ' ' : dice.pick(gaps);
  }
  return text;
}

function nested(opening: string, depth: number): string {
  return `fn main() { ${opening.repeat(depth)}`;
}

/** What must hold for any text. Throws when it does not. */
export function checkText(text: string): void {
  const file = createSourceFile('main.conc', text);
  const { program, diagnostics } = loadProgram({
    entry: file.path,
    readFile: (path) => (path === file.path ? text : undefined),
    parse: parseSource,
  });
  for (const { span, message } of [...diagnostics, ...checkProgram({ program }).diagnostics]) {
    if (span.start < 0 || span.end < span.start || span.end > text.length) throw new Error(`bad span: ${message}`);
  }
  const formatted = formatSource(text);
  if (!formatted.ok) return;
  const again = formatSource(formatted.value);
  if (!again.ok || again.value !== formatted.value) throw new Error('formatting does not settle');
  const before = commentTexts(text);
  const after = commentTexts(formatted.value).join('\n');
  for (const comment of new Set(before)) {
    const wanted = before.filter((other) => other === comment).length;
    // Two comments may have come to stand on one line, where the first contains the second.
    if (after.split(comment).length - 1 < wanted) throw new Error(`formatting loses ${comment}`);
  }
}

function commentTexts(text: string): string[] {
  const { comments } = lex(createSourceFile('main.conc', text)).tokens;
  return comments.map((comment) => text.slice(comment.start, comment.end).trimEnd());
}

export function fuzz(options: { seed: number; count: number }): FuzzFailure[] {
  const corpus = readCorpus();
  const failures: FuzzFailure[] = [];
  for (let index = 0; index < options.count; index++) {
    const seed = options.seed + index;
    const text = fuzzCase(seed, corpus);
    try {
      checkText(text);
    } catch (error) {
      failures.push({ seed, text, error: error instanceof Error ? error.message : String(error) });
    }
  }
  return failures;
}

/** Mulberry32. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
