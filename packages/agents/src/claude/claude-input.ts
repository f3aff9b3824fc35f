import type { JsonObject } from '@concerto/base';
import type { PromptPiece } from '../prompt-parts.ts';

/** What is said to the program, in its own words: a text, or blocks where there are files. */
export function userMessage(pieces: readonly PromptPiece[]): JsonObject {
  const [first] = pieces;
  const content = pieces.length === 1 && first?.kind === 'text' ? first.text : pieces.map(contentBlock);
  return { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '' };
}

function contentBlock(piece: PromptPiece): JsonObject {
  if (piece.kind === 'text') return { type: 'text', text: piece.text };
  const { mimeType, data, name } = piece;
  const source = { type: 'base64', media_type: mimeType, data };
  if (mimeType.startsWith('image/')) return { type: 'image', source };
  return { type: 'document', source, ...(name === undefined ? {} : { title: name }) };
}
