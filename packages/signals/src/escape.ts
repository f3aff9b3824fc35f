// `^` with the m flag would also match after CR and U+2028, which end no line here.
const standard = /(^|\n)( {0,3})(?=§+(?:(?:THINK|CALLS|RESPOND|EXECUTE|END):|(?:EXECUTE|END)\r?(?:\n|$)))/g;
// Without the u flag, ignoring case never takes a character from outside ASCII for a letter.
const lenient = /(^|\n)( {0,3})(?=§+(?:(?:THINK|CALLS?|RESPOND|EXECUTE|END):|(?:EXECUTE|END)(?:[ \t\r\n]|$)))/gi;

/**
 * Makes foreign text safe to write into a transcript: a line that a parser would take for a signal gets one more sign,
 * which the parser removes again. Put the result after `[SYSTEM:` and a line feed, and close with a line feed and `]`.
 * With `lenient`, also what only a lenient parser would take for one.
 */
export function escape(text: string, mode: 'standard' | 'lenient' = 'standard'): string {
  return text.replace(mode === 'lenient' ? lenient : standard, '$1$2§');
}
