export type DelimiterWord = 'THINK' | 'CALLS' | 'RESPOND' | 'EXECUTE' | 'END';

const words: readonly DelimiterWord[] = ['THINK', 'CALLS', 'RESPOND', 'EXECUTE', 'END'];

const byName: ReadonlyMap<string, DelimiterWord> = new Map(words.map((word) => [word, word]));
const prefixes: ReadonlySet<string> = new Set(
  words.flatMap((word) => Array.from(word, (_, index) => word.slice(0, index + 1))),
);

/** Whether some delimiter's word begins like this. */
export function isWordPrefix(upper: string): boolean {
  return prefixes.has(upper);
}

/** The word a complete spelling names; lenient text may also say CALL. */
export function delimiterWord(upper: string, lenient: boolean): DelimiterWord | undefined {
  return lenient && upper === 'CALL' ? 'CALLS' : byName.get(upper);
}

/** Whether the word may stand alone on its line, without a colon. */
export function mayBeBare(upper: string): boolean {
  return upper === 'EXECUTE' || upper === 'END';
}

/** The delimiter that stands at `at`, complete with its colon; undefined also when the text ends too early to know. */
export function delimiterAt(text: string, at: number): DelimiterWord | undefined {
  const word = candidate(text.charCodeAt(at + 1), text.charCodeAt(at + 2));
  if (word === undefined) return undefined;
  const end = at + 1 + word.length;
  if (text.charCodeAt(end) !== 0x3a) return undefined;
  // A loop, because a call of startsWith costs more than the few comparisons.
  for (let index = 2; index < word.length; index++) {
    if (text.charCodeAt(at + 1 + index) !== word.charCodeAt(index)) return undefined;
  }
  return word;
}

function candidate(first: number, second: number): DelimiterWord | undefined {
  if (first === 0x54 && second === 0x48) return 'THINK';
  if (first === 0x43 && second === 0x41) return 'CALLS';
  if (first === 0x52 && second === 0x45) return 'RESPOND';
  if (first !== 0x45) return undefined;
  if (second === 0x58) return 'EXECUTE';
  return second === 0x4e ? 'END' : undefined;
}
