import type { FileChange, Part, WorkEvent } from '@concerto/protocol';
import { textContent } from '@concerto/protocol';
import type { ContentBlock, ToolCall, ToolContent } from '@concerto/protocol/acp';
import { changeOf, changeOfPatch } from '../file-change.ts';
import { memberOf } from '../json-member.ts';

/** The text of a block, or of what it refers to; undefined when it has none. */
export function blockText({ type, text, name, uri, resource }: ContentBlock): string | undefined {
  if (type === 'text') return text ?? '';
  if (type === 'resource') return resource?.text ?? resource?.uri ?? undefined;
  if (type === 'resource_link') return `[${name ?? uri ?? 'link'}](${uri ?? ''})`;
  return undefined;
}

/** What a session shows of a block without text. */
export function blockEvent(block: ContentBlock, messageId: string): WorkEvent {
  const part = blockPart(block);
  if (part === undefined) return { type: 'content', content: textContent(`[${block.type}]`), messageId };
  return { type: 'content', content: { role: 'model', parts: [part] }, messageId };
}

function blockPart({ data, mimeType }: ContentBlock): Part | undefined {
  return data == null ? undefined : { inlineData: { mimeType: mimeType ?? 'application/octet-stream', data } };
}

/** What a call carries beside its input: words, pictures and changes of files. */
export function contentOf({ content, rawInput, rawOutput }: Pick<ToolCall, 'content' | 'rawInput' | 'rawOutput'>): {
  readonly text: string | undefined;
  readonly parts: readonly Part[];
  readonly changes: readonly FileChange[];
} {
  const pieces = content ?? [];
  const blocks = pieces.flatMap((piece) => (piece.type === 'content' && piece.content != null ? [piece.content] : []));
  const texts = blocks.map((block) => blockText(block) ?? `[${block.type}]`);
  const hasPicture = blocks.some((block) => blockPart(block) !== undefined);
  const diffs = pieces.filter(({ type }) => type === 'diff');
  // A patch that the agent has made itself knows the lines; the texts may be no more than what is replaced.
  const patch = memberOf(memberOf(rawOutput, 'metadata'), 'diff') ?? memberOf(rawInput, 'diff');
  const [only] = diffs;
  const changes =
    diffs.length === 1 && only !== undefined && typeof patch === 'string'
      ? [changeOfPatch(only.path ?? '', only.oldText == null ? 'create' : 'edit', patch)]
      : diffs.map(changeOfDiff);
  return {
    text: texts.length === 0 ? undefined : texts.join('\n'),
    // Nothing beside the text where all of it is text.
    parts: hasPicture ? blocks.map((block) => blockPart(block) ?? { text: blockText(block) ?? `[${block.type}]` }) : [],
    changes,
  };
}

function changeOfDiff({ path, oldText, newText }: ToolContent): FileChange {
  return changeOf(path ?? '', oldText ?? undefined, newText ?? '');
}
