import type { LlmContent, Part } from '@concerto/protocol';

/** A run of text, or something else that was said between two texts. */
export type Block =
  | { readonly kind: 'text'; readonly text: string; readonly thought: boolean }
  | { readonly kind: 'part'; readonly part: Part };

/** Texts that follow each other are one. */
export function blocksOf(content: LlmContent): readonly Block[] {
  const blocks: Block[] = [];
  for (const part of content.parts) {
    const block = blockOf(part);
    const last = blocks.at(-1);
    if (block.kind === 'text' && last?.kind === 'text' && last.thought === block.thought) {
      blocks[blocks.length - 1] = { ...last, text: last.text + block.text };
    } else blocks.push(block);
  }
  return blocks;
}

function blockOf(part: Part): Block {
  return 'text' in part && typeof part.text === 'string'
    ? { kind: 'text', text: part.text, thought: part.thought === true }
    : { kind: 'part', part };
}
