import type { Json } from '@concerto/base';
import type { Blobs } from '@concerto/log';
import { fileOf, fileWords, type LlmContent, type Part } from '@concerto/protocol';
import { contentIn } from './session-contents.ts';
import { isTaken } from './take-content.ts';

/** The parts with the bytes of their files. One that is gone, or that cannot be taken after all, is told in words. */
export async function givenParts(
  parts: readonly Part[],
  blobs: Blobs,
  accepts: readonly string[] | undefined,
): Promise<readonly Part[]> {
  return await Promise.all(
    parts.map(async (part): Promise<Part> => {
      const file = fileOf(part);
      if (file === undefined || file.at.kind === 'link') return part;
      if (accepts !== undefined && !isTaken(file.mimeType, accepts))
        return { text: `[${fileWords(file)}: cannot be given to you]` };
      if (file.at.kind === 'inline') return part;
      const blob = await blobs.read(file.at.handle);
      if (blob === undefined) return { text: `[${fileWords(file)}: is no longer kept]` };
      const title = file.title === undefined ? {} : { title: file.title };
      return { inlineData: { mimeType: blob.mimeType, data: blob.content.toString('base64'), ...title } };
    }),
  );
}

/** An answer that is content has its files with it; any other is as it was given, and is there at once. */
export function givenAnswer(response: Json, blobs: Blobs): Json | Promise<Json> {
  const content = contentIn(response);
  return content === undefined ? response : withFiles(content, blobs);
}

async function withFiles(content: LlmContent, blobs: Blobs): Promise<Json> {
  const given = { ...content, parts: await givenParts(content.parts, blobs, undefined) };
  return JSON.parse(JSON.stringify(given));
}
