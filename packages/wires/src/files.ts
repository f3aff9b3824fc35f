import { type LlmContent, type Part, textOf } from '@concerto/protocol';

export type FileIn = {
  readonly mimeType: string;
  /** In base64, where it stands in the part itself. */
  readonly data: string | undefined;
  /** Where it can be had: of a stored one with the caller's own token. */
  readonly url: string;
};

/** The file that a part is, whichever way it holds it. */
export function fileIn(part: Part): FileIn | undefined {
  const inline: unknown = Reflect.get(part, 'inlineData');
  if (hasText(inline, 'mimeType') && hasText(inline, 'data')) {
    const { mimeType, data } = inline;
    return { mimeType, data, url: `data:${mimeType};base64,${data}` };
  }
  const stored: unknown = Reflect.get(part, 'storedData');
  if (hasText(stored, 'mimeType') && hasText(stored, 'handle')) {
    return { mimeType: stored.mimeType, data: undefined, url: `/api/blobs/${stored.handle}` };
  }
  const file: unknown = Reflect.get(part, 'fileData');
  if (!hasText(file, 'mimeType') || !hasText(file, 'fileUri')) return undefined;
  return { mimeType: file.mimeType, data: undefined, url: file.fileUri };
}

/** A file that stands in its own address; one that is elsewhere nobody would fetch. */
export function filePart(url: string, mimeType: string, title?: string): Part | undefined {
  const data = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1];
  if (data === undefined) return undefined;
  return { inlineData: { mimeType, data, ...(title === undefined ? {} : { title }) } };
}

/** Content that is text alone is a text. */
export function plainOr(content: LlmContent): string | LlmContent {
  return content.parts.every((part) => fileIn(part) === undefined) ? textOf(content) : content;
}

function hasText<Key extends string>(value: unknown, key: Key): value is Record<Key, string> {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, key) === 'string';
}
