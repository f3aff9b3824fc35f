export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'hidden'; readonly name: string };

/**
 * Direction overrides and isolates, invisible separators and tags, and control characters: text that carries them can
 * read otherwise than it is. Joiners stay, which emoji and many scripts are written with.
 */
const hidden =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- these are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

export function hiddenPieces(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(hidden)) {
    if (match.index > from) pieces.push({ kind: 'text', text: text.slice(from, match.index) });
    pieces.push({ kind: 'hidden', name: nameOf(match[0]) });
    from = match.index + match[0].length;
  }
  if (from < text.length || pieces.length === 0) pieces.push({ kind: 'text', text: text.slice(from) });
  return pieces;
}

function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
