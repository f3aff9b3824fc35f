/** A text with `*` for anything; `\` takes its meaning from what follows. Matching takes linear steps, whatever the pattern. */
export type Glob = { readonly pieces: readonly string[]; readonly isExact: boolean };

export function globOf(pattern: string): Glob {
  const pieces: string[] = [];
  let piece = '';
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index] ?? '';
    if (character === '*') {
      pieces.push(piece);
      piece = '';
    } else if (character === '\\' && index + 1 < pattern.length) {
      index += 1;
      piece += pattern[index] ?? '';
    } else {
      piece += character;
    }
  }
  pieces.push(piece);
  return { pieces, isExact: pieces.length === 1 };
}

export function escapeGlob(text: string): string {
  return text.replaceAll(/[\\*]/g, (character) => `\\${character}`);
}

export function globMatches({ pieces, isExact }: Glob, text: string): boolean {
  const first = pieces[0] ?? '';
  if (isExact) return text === first;
  const last = pieces.at(-1) ?? '';
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
