/** Strings are measured in characters (Unicode scalar values), not in UTF-16 units. */

const SURROGATES = /[\ud800-\udfff]/;

/** Whether each UTF-16 unit is a character, so that indices are the same. */
function plain(text: string): boolean {
  return !SURROGATES.test(text);
}

export function length(text: string): number {
  if (plain(text)) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}

export function characters(text: string): string[] {
  return Array.from(text);
}

export function characterAt(text: string, index: number): string | undefined {
  if (index < 0) return undefined;
  return plain(text) ? text[index] : Array.from(text)[index];
}

/** From start to before end; indices outside are moved to the nearest end. */
export function slice(text: string, start: number, end: number): string {
  const from = Math.max(0, start);
  const to = Math.max(from, end);
  return plain(text) ? text.slice(from, to) : Array.from(text).slice(from, to).join('');
}

/** The index of a character out of the index of a UTF-16 unit. */
export function characterIndex(text: string, unit: number): number {
  return length(text.slice(0, unit));
}
