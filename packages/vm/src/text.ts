/** Strings are measured in characters (Unicode scalar values), not in UTF-16 units. */

const SURROGATES = /[\ud800-\udfff]/;

/** Short strings are looked at faster than they are found in a memory. */
const WORTH_KEEPING = 64;

/**
 * What was found out about the string that was measured last: a loop over the characters of one text by index would
 * otherwise look at all of it in every turn. `characters` is null when each UTF-16 unit is a character.
 */
let last: { readonly text: string; readonly characters: readonly string[] | null } = { text: '', characters: null };

/** The characters of a text, or null when its UTF-16 units are its characters. */
function split(text: string): readonly string[] | null {
  if (text.length < WORTH_KEEPING) return SURROGATES.test(text) ? Array.from(text) : null;
  if (text !== last.text) last = { text, characters: SURROGATES.test(text) ? Array.from(text) : null };
  return last.characters;
}

export function length(text: string): number {
  return split(text)?.length ?? text.length;
}

export function characters(text: string): string[] {
  return Array.from(text);
}

export function characterAt(text: string, index: number): string | undefined {
  return (split(text) ?? text)[index];
}

/** From start to before end; indices outside are moved to the nearest end. */
export function slice(text: string, start: number, end: number): string {
  const from = Math.max(0, start);
  const to = Math.max(from, end);
  return split(text)?.slice(from, to).join('') ?? text.slice(from, to);
}

/** The index of a character out of the index of a UTF-16 unit. */
export function characterIndex(text: string, unit: number): number {
  return length(text.slice(0, unit));
}
