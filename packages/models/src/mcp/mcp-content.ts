import type { Json } from '@concerto/base';
import * as z from 'zod';
import type { ModelFile } from '../model-turn.ts';

export const callResult = z.looseObject({
  isError: z.boolean().default(false),
  structuredContent: z.record(z.string(), z.json()).optional(),
  content: z.array(z.looseObject({ type: z.string() })).default([]),
});
export type CallResult = z.infer<typeof callResult>;

/** Where something is that the server names and does not send. */
type McpLink = {
  readonly type: 'link';
  readonly uri: string;
  readonly mimeType: string | undefined;
  readonly name: string | undefined;
};

/** What a tool gives back: in words or as data, and the files beside it. */
export type McpContent = { readonly value: Json; readonly files: readonly (ModelFile | McpLink)[] };

/** Undefined when it has said nothing in words: then only the data can be shown. */
export function textOf({ structuredContent, content }: CallResult): string | undefined {
  const texts = content.flatMap((part) => (typeof part.text === 'string' ? [part.text] : []));
  if (texts.length > 0) return texts.join('\n');
  if (structuredContent !== undefined) return JSON.stringify(structuredContent);
  return content.length === 0 ? '' : undefined;
}

export function contentOf({ structuredContent, content }: CallResult): Json {
  if (structuredContent !== undefined) return structuredContent;
  const parts = content.map((part) => (typeof part.text === 'string' ? textOrData(part.text) : asJson(part)));
  return parts.length === 1 ? (parts[0] ?? null) : parts;
}

export function valueAndFiles(result: CallResult): McpContent {
  const files: (ModelFile | McpLink)[] = [];
  const content: CallResult['content'] = [];
  for (const part of result.content) {
    const read = readPart(part);
    if (read === undefined) content.push(part);
    else if (read.type === 'text') content.push(read);
    else files.push(read);
  }
  const isOnlyFiles = content.length === 0 && files.length > 0 && result.structuredContent === undefined;
  return { value: isOnlyFiles ? '' : contentOf({ ...result, content }), files };
}

const Media = z.looseObject({ type: z.enum(['image', 'audio']), data: z.base64(), mimeType: z.string() });
const Embedded = z.looseObject({
  type: z.literal('resource'),
  resource: z.looseObject({
    uri: z.string(),
    mimeType: z.string().optional(),
    text: z.string().optional(),
    blob: z.base64().optional(),
  }),
});
const Linked = z.looseObject({
  type: z.literal('resource_link'),
  uri: z.string(),
  name: z.string().optional(),
  mimeType: z.string().optional(),
});
type TextPart = { readonly type: 'text'; readonly text: string };

/** Undefined for what is shown as it is: a kind that is not known, or one that is not what it says. */
function readPart(part: CallResult['content'][number]): ModelFile | McpLink | TextPart | undefined {
  const media = Media.safeParse(part);
  if (media.success) return { type: 'file', mimeType: media.data.mimeType, data: media.data.data };
  const embedded = Embedded.safeParse(part);
  if (embedded.success) {
    const { uri, mimeType = 'application/octet-stream', text, blob } = embedded.data.resource;
    if (blob !== undefined) return { type: 'file', mimeType, data: blob, name: uri };
    return text === undefined ? undefined : { type: 'text', text: `${uri}:\n\n${text}` };
  }
  const linked = Linked.safeParse(part);
  if (!linked.success) return undefined;
  const { uri, name, mimeType } = linked.data;
  return { type: 'link', uri, name, mimeType };
}

function textOrData(text: string): Json {
  try {
    return z.json().parse(JSON.parse(text));
  } catch {
    return text;
  }
}

export function asJson(data: unknown): Json {
  return z.json().parse(JSON.parse(JSON.stringify(data)));
}
