/** The kind of a keyword or a punctuation mark is its text. */
export type TokenKind =
  | 'EndOfFile'
  | 'Identifier'
  | 'Int'
  | 'Float'
  | 'String'
  | 'InterpolationStart'
  | 'InterpolationMiddle'
  | 'InterpolationEnd'
  | 'Label'
  | Keyword
  | Punctuation;

const KEYWORD_LIST = [
  'let',
  'mut',
  'const',
  'fn',
  'model',
  'tool',
  'pub',
  'use',
  'mod',
  'if',
  'else',
  'match',
  'for',
  'while',
  'loop',
  'break',
  'continue',
  'return',
  'try',
  'catch',
  'throw',
  'emit',
  'await',
  'async',
  'pipeline',
  'stage',
  'schema',
  'hashmap',
  'agent',
  'listen',
  'ledger',
  'memory',
  'mock',
  'self',
  'impl',
  'trait',
  'enum',
  'struct',
  'as',
  'in',
  'with',
  'true',
  'false',
  'nil',
  'type',
  'mcp',
] as const;

type Keyword = (typeof KEYWORD_LIST)[number];

export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(KEYWORD_LIST.map((word) => [word, word]));

export type Punctuation =
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '**'
  | '=='
  | '!='
  | '<'
  | '>'
  | '<='
  | '>='
  | '&&'
  | '||'
  | '!'
  | '='
  | '+='
  | '-='
  | '*='
  | '/='
  | '%='
  | '->'
  | '=>'
  | '::'
  | '.'
  | '..'
  | '..='
  | '|'
  | '|>'
  | '?'
  | '??'
  | '@'
  | '('
  | ')'
  | '{'
  | '}'
  | '['
  | ']'
  | ','
  | ';'
  | ':';

export function isKeyword(kind: TokenKind): boolean {
  return KEYWORDS.has(kind);
}

export interface Comment {
  readonly kind: 'line' | 'block' | 'doc';
  readonly start: number;
  readonly end: number;
  /** Index of the token that follows. */
  readonly beforeToken: number;
}

/**
 * Parallel arrays, one entry for each token; the last one is always `EndOfFile`. An object for each token would
 * cost the lexer half its speed.
 */
export interface TokenList {
  readonly kinds: TokenKind[];
  readonly starts: number[];
  readonly ends: number[];
  /** Of strings (resolved and dedented), numbers and labels (without the quote). */
  readonly texts: Map<number, string>;
  readonly numbers: Map<number, number>;
  readonly comments: Comment[];
  /** Tokens before which something was reported: that something is missing there needs no second message. */
  readonly damaged: Set<number>;
  /** Doc text by the index of the token it stands before. */
  readonly docs: Map<number, string>;
}

/** How people know the token, for messages. */
export function describeToken(kind: TokenKind, text: string): string {
  switch (kind) {
    case 'EndOfFile':
      return 'the end of the file';
    case 'Identifier':
      return `\`${text}\``;
    case 'Int':
    case 'Float':
      return `the number \`${text}\``;
    case 'String':
    case 'InterpolationStart':
      return 'a string';
    case 'InterpolationMiddle':
    case 'InterpolationEnd':
      return 'the rest of the string';
    case 'Label':
      return `the label \`${text}\``;
    default:
      return isKeyword(kind) ? `the keyword \`${kind}\`` : `\`${kind}\``;
  }
}

/** Makes two tokens of one, such as `>` and `=` of `>=`; what is known by index moves along. */
export function splitToken(tokens: TokenList, index: number, first: Punctuation, second: Punctuation): void {
  const start = tokens.starts[index] ?? 0;
  tokens.kinds.splice(index, 1, first, second);
  tokens.starts.splice(index, 1, start, start + first.length);
  tokens.ends.splice(index, 1, start + first.length, start + first.length + second.length);
  for (const map of [tokens.texts, tokens.docs]) moveKeys(map, index);
  moveKeys(tokens.numbers, index);
  const damaged = [...tokens.damaged];
  tokens.damaged.clear();
  for (const at of damaged) tokens.damaged.add(at > index ? at + 1 : at);
  for (const [position, comment] of tokens.comments.entries()) {
    if (comment.beforeToken > index) {
      tokens.comments[position] = { ...comment, beforeToken: comment.beforeToken + 1 };
    }
  }
}

function moveKeys<T>(map: Map<number, T>, index: number): void {
  const entries = [...map];
  map.clear();
  for (const [key, value] of entries) map.set(key > index ? key + 1 : key, value);
}

/** What may stand at the left of an operator. */
const OPERAND_ENDS: ReadonlySet<TokenKind> = new Set([
  'Identifier',
  'Int',
  'Float',
  'String',
  'InterpolationEnd',
  'true',
  'false',
  'nil',
  'self',
  ')',
  ']',
  '}',
]);

export function endsOperand(last: TokenKind | undefined): boolean {
  return last !== undefined && OPERAND_ENDS.has(last);
}
