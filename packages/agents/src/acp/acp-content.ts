import type { JsonObject } from '@concerto/base';
import { type AgentEvent, textContent } from '@concerto/protocol';
import type { ContentBlock, ToolCall, ToolContent } from '@concerto/protocol/acp';
import { cut } from '../driver-output.ts';

/** The text of a block, or of what it refers to; undefined when it has none. */
export function blockText({ type, text, name, uri, resource }: ContentBlock): string | undefined {
  if (type === 'text') return text ?? '';
  if (type === 'resource') return resource?.text ?? resource?.uri ?? undefined;
  if (type === 'resource_link') return `[${name ?? uri ?? 'link'}](${uri ?? ''})`;
  return undefined;
}

/** What a session shows of a block without text. */
export function blockEvent({ type, data, mimeType }: ContentBlock): AgentEvent {
  if (data == null) return { type: 'content', content: textContent(`[${type}]`) };
  const inlineData = { mimeType: mimeType ?? 'application/octet-stream', data };
  return { type: 'content', content: { role: 'model', parts: [{ inlineData }] } };
}

/** What a call carries beside its input: words, and changes of files. */
export function contentFields({ content }: Pick<ToolCall, 'content'>): {
  readonly details?: string;
  readonly changes?: readonly JsonObject[];
} {
  const pieces = (content ?? []).map(contentOf).filter((piece) => piece !== undefined);
  const texts = pieces.filter((piece) => typeof piece === 'string');
  const changes = pieces.filter((piece) => typeof piece !== 'string');
  return {
    ...(texts.length === 0 ? {} : { details: cut(texts.join('\n')) }),
    ...(changes.length === 0 ? {} : { changes }),
  };
}

function contentOf({ type, content, path, oldText, newText }: ToolContent): string | JsonObject | undefined {
  if (type === 'content' && content != null) return blockText(content) ?? `[${content.type}]`;
  if (type === 'diff') return { path: path ?? '', old: oldText == null ? null : cut(oldText), new: cut(newText ?? '') };
  return undefined;
}
