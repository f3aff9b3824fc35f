import type { Json } from '@concerto/base';
import type { PromptPiece } from '../prompt-parts.ts';

/** What is said to the program, in its own words. */
export function inputOf(pieces: readonly PromptPiece[]): Json {
  return pieces.map((piece) => {
    if (piece.kind === 'text') return { type: 'text', text: piece.text, text_elements: [] };
    return { type: 'image', url: `data:${piece.mimeType};base64,${piece.data}` };
  });
}
