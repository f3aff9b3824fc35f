import { Fragment, type ReactNode } from 'react';
import { hiddenPieces } from './hidden-characters.ts';

/** Text as it is: what would be invisible, or turn the reading order round, is shown by its number. */
export function Plain({ text }: { readonly text: string }): ReactNode {
  const pieces = hiddenPieces(text);
  if (pieces.length === 1 && pieces[0]?.kind === 'text') return text;
  return pieces.map((piece, index) =>
    piece.kind === 'text' ? (
      <Fragment key={`t${index}`}>{piece.text}</Fragment>
    ) : (
      <span key={`h${index}`} className="hidden-character" title="A character that cannot be seen">
        {piece.name}
      </span>
    ),
  );
}
