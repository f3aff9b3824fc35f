import type { LlmContent, Part } from '@concerto/protocol';
import * as z from 'zod';
import { AcpError, invalidParams } from './acp-wire.ts';

const Resource = z.object({ uri: z.string(), text: z.string().optional(), blob: z.string().optional() });
const Block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.enum(['image', 'audio']), mimeType: z.string(), data: z.string().min(1) }),
  z.object({ type: z.literal('resource_link'), uri: z.string() }),
  z.object({ type: z.literal('resource'), resource: Resource.extend({ mimeType: z.string().nullish() }) }),
]);
export const PromptBlocks = z.array(Block).min(1);

/** What an editor says: texts stand in it, links are named, files are parts; whether the agent takes those says the server. */
export function contentOf(blocks: z.infer<typeof PromptBlocks>): string | LlmContent {
  const parts = blocks.map(partOf);
  const texts = parts.flatMap((part) => ('text' in part && typeof part.text === 'string' ? [part.text] : []));
  if (texts.length < parts.length) return { role: 'user', parts };
  const text = texts.join('\n');
  if (text.trim() === '') throw new AcpError(invalidParams, 'the prompt is empty');
  return text;
}

function partOf(block: z.infer<typeof Block>): Part {
  switch (block.type) {
    case 'text':
      return { text: block.text };
    case 'resource_link':
      return { text: `@${block.uri}` };
    case 'image':
    case 'audio':
      return { inlineData: { mimeType: block.mimeType, data: block.data } };
    case 'resource': {
      const { uri, text, blob, mimeType } = block.resource;
      if (text !== undefined) return { text: `${uri}:\n${text}` };
      return { inlineData: { mimeType: mimeType ?? 'application/octet-stream', data: blob ?? '', title: uri } };
    }
  }
}
