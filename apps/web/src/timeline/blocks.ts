import type { LlmContent, Part } from '@concerto/protocol';
import type { Block } from './timeline-state.ts';

export function blocksOf(content: LlmContent): readonly Block[] {
  return joinBlocks([], content);
}

/** Texts that follow each other are one: an agent that streams sends a sentence in pieces. */
export function joinBlocks(before: readonly Block[], content: LlmContent): readonly Block[] {
  const blocks = [...before];
  for (const part of content.parts) {
    const block = blockOf(part);
    const last = blocks.at(-1);
    if (block.kind === 'text' && last?.kind === 'text' && last.thought === block.thought) {
      blocks[blocks.length - 1] = { ...last, text: last.text + block.text };
    } else blocks.push(block);
  }
  return blocks;
}

export function blocksText(blocks: readonly Block[]): string {
  return blocks.map((block) => (block.kind === 'text' && !block.thought ? block.text : '')).join('');
}

function blockOf(part: Part): Block {
  return 'text' in part && typeof part.text === 'string'
    ? { kind: 'text', text: part.text, thought: part.thought === true }
    : { kind: 'part', part };
}
