import * as z from 'zod/mini';
import { JsonRecord, JsonValue } from './json-value.ts';

const thought = { thought: z.optional(z.boolean()) };

const InlineData = z.looseObject({ mimeType: z.string(), data: z.string(), title: z.optional(z.string()) });
/** In the blob store. `title` is what its file is called; the bytes have no name. */
const StoredData = z.looseObject({
  handle: z.string(),
  mimeType: z.string(),
  contentHash: z.optional(z.string()),
  contentLength: z.optional(z.number()),
  title: z.optional(z.string()),
});
const FileData = z.looseObject({ fileUri: z.string(), mimeType: z.string(), title: z.optional(z.string()) });

/** One piece of content; other producers add fields and kinds, which pass through. */
export const Part = z.union([
  z.looseObject({ text: z.string(), ...thought }),
  z.looseObject({ inlineData: InlineData, ...thought }),
  z.looseObject({ storedData: StoredData, ...thought }),
  z.looseObject({ fileData: FileData, ...thought }),
  z.looseObject({
    functionCall: z.looseObject({ name: z.string(), args: JsonRecord }),
    ...thought,
  }),
  z.looseObject({
    functionResponse: z.looseObject({ name: z.string(), response: JsonRecord }),
    ...thought,
  }),
  z.looseObject({ executableCode: z.looseObject({ language: z.string(), code: z.string() }), ...thought }),
  z.looseObject({ codeExecutionResult: z.looseObject({ outcome: z.string(), output: z.string() }), ...thought }),
  z.looseObject({ json: JsonValue, ...thought }),
]);
export type Part = z.infer<typeof Part>;

/** What a part may be: each is the key that it stands under. */
const partKinds = [
  'text',
  'inlineData',
  'storedData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'json',
] as const;

/** Of one that was written as it should be there is exactly one. */
export function kindsOf(part: Part): readonly string[] {
  return partKinds.filter((kind) => kind in part);
}

export const LlmContent = z.looseObject({ role: z.optional(z.string()), parts: z.array(Part) });
export type LlmContent = z.infer<typeof LlmContent>;

export function textContent(text: string, role = 'model'): LlmContent {
  return { role, parts: [{ text }] };
}

/** All text of a content, for a reader that can show nothing else. */
export function textOf(content: LlmContent): string {
  return content.parts
    .map((part) => ('text' in part && typeof part.text === 'string' ? part.text : ''))
    .filter((text) => text !== '')
    .join('\n');
}

/** A part that is a file, wherever its bytes are. */
export type FilePart = {
  readonly mimeType: string;
  readonly title: string | undefined;
  /** How many, where that is known. */
  readonly bytes: number | undefined;
  readonly at:
    | { readonly kind: 'inline'; readonly data: string }
    | { readonly kind: 'stored'; readonly handle: string }
    | { readonly kind: 'link'; readonly uri: string };
};

/** Undefined for a part that is none. */
export function fileOf(part: Part): FilePart | undefined {
  const inline = 'inlineData' in part ? InlineData.safeParse(part.inlineData) : undefined;
  if (inline?.success === true) {
    const { mimeType, title, data } = inline.data;
    return { mimeType, title, bytes: base64Bytes(data), at: { kind: 'inline', data } };
  }
  const stored = 'storedData' in part ? StoredData.safeParse(part.storedData) : undefined;
  if (stored?.success === true) {
    const { mimeType, title, contentLength: bytes, handle } = stored.data;
    return { mimeType, title, bytes, at: { kind: 'stored', handle } };
  }
  const linked = 'fileData' in part ? FileData.safeParse(part.fileData) : undefined;
  if (linked?.success !== true) return undefined;
  const { mimeType, title, fileUri: uri } = linked.data;
  return { mimeType, title, bytes: undefined, at: { kind: 'link', uri } };
}

function base64Bytes(data: string): number {
  return Math.floor((data.replace(/={1,2}$/, '').length * 3) / 4);
}

/** `picture, 12 kB, cat.png`: a file for a reader that can show no more of it. */
export function fileWords({ mimeType, title, bytes, at }: FilePart): string {
  const name = title ?? (at.kind === 'link' ? at.uri : undefined);
  return [
    fileKind(mimeType),
    ...(bytes === undefined ? [] : [bytesWords(bytes)]),
    ...(name === undefined ? [] : [name]),
  ].join(', ');
}

function fileKind(mimeType: string): string {
  if (mimeType.startsWith('image/')) return 'picture';
  if (mimeType.startsWith('audio/')) return 'sound';
  if (mimeType.startsWith('video/')) return 'video';
  return mimeType === 'application/octet-stream' || mimeType === '' ? 'file' : `file (${mimeType})`;
}

function bytesWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** All of a content in words: its text, its data as JSON, and of each file what it is. */
export function wordsOf(content: LlmContent): string {
  return content.parts
    .map((part) => {
      if ('text' in part && typeof part.text === 'string') return part.text;
      const file = fileOf(part);
      if (file !== undefined) return `[${fileWords(file)}]`;
      return 'json' in part ? JSON.stringify(part.json) : '';
    })
    .filter((text) => text !== '')
    .join('\n');
}

/** The content with another text; whatever else stands in it stays, after the text. */
export function withText(content: LlmContent, text: string): LlmContent {
  const others = content.parts.filter((part) => !('text' in part && typeof part.text === 'string'));
  return { ...content, parts: [{ text }, ...others] };
}
