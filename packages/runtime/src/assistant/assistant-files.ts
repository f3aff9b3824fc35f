import type { McpContent, ModelPiece } from '@concerto/models';
import { fileOf, fileWords, type Part } from '@concerto/protocol';
import { type KeepingPlace, keepLargeParts } from '../contents/keep-parts.ts';

/** Of the files that were read for the model, so that each step need not read them all again. */
const rememberedMax = 32 * 1024 * 1024;

/** The files of a conversation: in the log as references, for the model with their bytes. */
export class AssistantFiles {
  readonly #place: KeepingPlace;
  readonly #read = new Map<string, string>();
  #remembered = 0;

  constructor(place: KeepingPlace) {
    this.#place = place;
  }

  /** As they go into an event: what is large is kept beside it. */
  async keep(parts: readonly Part[]): Promise<readonly Part[]> {
    return await keepLargeParts(parts, this.#place);
  }

  /** For the model. A file that is gone is told as such. */
  async pieces(parts: readonly Part[]): Promise<readonly ModelPiece[]> {
    const pieces: ModelPiece[] = [];
    for (const part of parts) pieces.push(await this.#piece(part));
    return pieces;
  }

  async #piece(part: Part): Promise<ModelPiece> {
    if ('text' in part && typeof part.text === 'string') return { type: 'text', text: part.text };
    const file = fileOf(part);
    if (file === undefined) return { type: 'text', text: JSON.stringify('json' in part ? part.json : part) };
    const { mimeType, title: name, at } = file;
    if (at.kind === 'link') return { type: 'text', text: `[${name ?? at.uri}](${at.uri})` };
    const data = at.kind === 'inline' ? at.data : await this.#bytes(at.handle);
    if (data === undefined) return { type: 'text', text: `[${fileWords(file)}: is no longer kept]` };
    if (!mimeType.startsWith('text/') && mimeType !== 'application/json') return { type: 'file', mimeType, data, name };
    return { type: 'text', text: `${name ?? 'A file'}:\n\n${Buffer.from(data, 'base64').toString('utf8')}` };
  }

  async #bytes(handle: string): Promise<string | undefined> {
    const known = this.#read.get(handle);
    if (known !== undefined) return known;
    const data = (await this.#place.blobs.read(handle))?.content.toString('base64');
    if (data === undefined) return undefined;
    for (const [oldest, bytes] of this.#read) {
      if (this.#remembered + data.length <= rememberedMax) break;
      this.#read.delete(oldest);
      this.#remembered -= bytes.length;
    }
    this.#read.set(handle, data);
    this.#remembered += data.length;
    return data;
  }
}

/** What a server's tool gave beside its words. */
export function partsOfFiles(files: McpContent['files']): readonly Part[] {
  return files.map((file): Part => {
    if (file.type === 'link') {
      const { uri: fileUri, name, mimeType = 'application/octet-stream' } = file;
      return { fileData: { fileUri, mimeType, ...(name === undefined ? {} : { title: name }) } };
    }
    const { mimeType, data, name } = file;
    return { inlineData: { mimeType, data, ...(name === undefined ? {} : { title: name }) } };
  });
}
