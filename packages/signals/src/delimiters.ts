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
