import { fileOf, type Part } from '@concerto/protocol';
import type { AgentPrompt } from './agent-connection.ts';

/** A piece of a prompt for a wire that has text and files, and nothing else. */
export type PromptPiece =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'file';
      readonly mimeType: string;
      /** In base64. */
      readonly data: string;
      readonly name: string | undefined;
    };

/** What is said to an agent: its text, or its parts where it is more than that. */
export type Utterance = Pick<AgentPrompt, 'text' | 'parts' | 'context'>;

/** In order, texts that follow each other as one. */
export function promptPieces({ text, parts, context }: Utterance): readonly PromptPiece[] {
  const pieces: PromptPiece[] = parts === undefined ? [{ kind: 'text', text }] : parts.map(pieceOf);
  if (context !== undefined && context !== null) pieces.push({ kind: 'text', text: contextText(context) });
  return joined(pieces);
}

/** Several things that are said together. */
export function joined(pieces: readonly PromptPiece[]): readonly PromptPiece[] {
  const all: PromptPiece[] = [];
  for (const piece of pieces) {
    const last = all.at(-1);
    if (piece.kind === 'text' && last?.kind === 'text')
      all[all.length - 1] = { kind: 'text', text: `${last.text}\n\n${piece.text}` };
    else all.push(piece);
  }
  return all;
}

function contextText(context: NonNullable<AgentPrompt['context']>): string {
  return `Context:\n${typeof context === 'string' ? context : JSON.stringify(context, undefined, 2)}`;
}

function pieceOf(part: Part): PromptPiece {
  if ('text' in part && typeof part.text === 'string') return { kind: 'text', text: part.text };
  const file = fileOf(part);
  if (file === undefined) return { kind: 'text', text: JSON.stringify('json' in part ? part.json : part) };
  const { mimeType, title: name, at } = file;
  if (at.kind === 'link') return { kind: 'text', text: `[${name ?? at.uri}](${at.uri})` };
  if (at.kind === 'stored') return { kind: 'text', text: `[${name ?? mimeType}]` };
  if (!isText(mimeType)) return { kind: 'file', mimeType, data: at.data, name };
  const content = Buffer.from(at.data, 'base64').toString('utf8');
  return { kind: 'text', text: `${name ?? 'A file'}:\n\n${content}` };
}

/** What every agent can read. */
function isText(mimeType: string): boolean {
  return mimeType.startsWith('text/') || mimeType === 'application/json';
}
